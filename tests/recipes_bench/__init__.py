"""How well the recipe ladder tells the same request from look-alikes, on labelled pairs."""
