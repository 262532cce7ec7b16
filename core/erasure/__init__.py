"""Erasure of a memory, a session, a user or a group, and scrubbing."""
