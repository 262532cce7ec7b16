"""Secrets and prompt injection in a text. Pure."""
