"""Extraction of candidates from messages, by rules or a model."""
