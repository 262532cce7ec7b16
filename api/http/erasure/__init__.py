"""Erasing and forgetting."""
