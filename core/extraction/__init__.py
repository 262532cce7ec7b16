"""Extraction of candidates from messages."""
