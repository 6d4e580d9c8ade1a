"""What models are asked about a memory, and what is made of their answers. Pure rules."""
