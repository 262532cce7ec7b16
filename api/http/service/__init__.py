"""The service: its state, counts and costs, and ids by their end."""
