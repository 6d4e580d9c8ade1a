"""The rules of the recipe ladder: normalising, scopes, and whether a stored answer may be served. Pure."""
