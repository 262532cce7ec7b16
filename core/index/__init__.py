"""Writes of the search index, and the cache of an owner's rows (`resident/`)."""
