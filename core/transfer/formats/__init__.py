"""Formats that can be imported: each reads files and yields records; none knows the database."""
