"""Operators, paths, facts, templates and time expressions of conditions."""
