"""The MCP endpoint: streamable HTTP without sessions, thin, and without any rights to memories of its own.

A tool is an operation of the operation table. What a call asks for is handed to the function that serves the operation
over HTTP, as the request that the gateway would have made of it, with the caller's own token: one entry step, one
use case, one set of codes for both surfaces.
"""
