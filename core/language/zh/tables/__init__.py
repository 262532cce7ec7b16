"""Slot patterns and cues of Chinese. Data."""
