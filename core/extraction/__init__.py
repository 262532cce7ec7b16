"""From messages and requests to candidates."""
