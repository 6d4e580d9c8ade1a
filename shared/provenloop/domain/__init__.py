"""Domain: the words of the product as frozen values and pure functions. Standard library only; no clock, no ids, no I/O."""
