"""Undo of a change to a memory."""
