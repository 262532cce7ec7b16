"""Stored rules: versions, defaults, limits, lint, statistics."""
