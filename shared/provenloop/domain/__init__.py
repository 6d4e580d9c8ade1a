"""Domain: the words of the product as frozen values and pure functions. Standard library only; no clock, ids or I/O."""
