"""MCP: the tools of agents, each of which is an operation that another function answers."""

from provenloop.entry.mcp.endpoint import answer

lambda_handler = answer
