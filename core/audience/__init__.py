"""Audience labels that come after a message: what was drawn from it gets them, too."""
