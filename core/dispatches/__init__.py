"""Dispatches as rows: storing, reading, deciding, editing, retrying, replaying."""
