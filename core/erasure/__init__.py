"""Erasure of a memory, a session or a user, and scrubbing."""
