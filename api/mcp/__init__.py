"""MCP server: the tools of the Model Context Protocol, each of which is one request of the HTTP API."""
