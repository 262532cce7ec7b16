"""Undoing a change."""
