# Generated from _async by sdk/python/generate.py; change it there.
"""The synchronous client."""
