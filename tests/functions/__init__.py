"""Each function through its handler, as Lambda calls it."""
