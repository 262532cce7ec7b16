"""Slot patterns and cues of English. Data."""
