"""Extraction by rules from Chinese text."""
