"""The context of an agent: what it should see now, within a token budget."""
