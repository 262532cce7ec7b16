"""Writes of the search index."""
