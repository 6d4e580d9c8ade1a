"""One module a function: each handler turns a checked request into one call of a use case and its answer."""
