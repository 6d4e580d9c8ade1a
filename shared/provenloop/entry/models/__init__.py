"""Wire shapes: pydantic models of what comes in and goes out, and their conversion to values of the domain."""
