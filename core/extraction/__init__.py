"""Extraction of candidates from messages and requests."""
