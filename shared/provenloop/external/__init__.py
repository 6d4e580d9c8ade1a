"""The protocol of external analyzers: what they are sent, and what is made of their answers. Pure rules."""
