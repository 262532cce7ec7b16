"""Extraction by rules from English text."""
