"""Explicit requests to remember, feedback, and dry runs of extraction."""
