"""A tenant: its settings, prompts and keys."""
