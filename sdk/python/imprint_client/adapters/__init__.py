"""Adapters between Imprint and agent frameworks; each needs the framework that it names."""
