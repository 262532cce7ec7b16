"""What an agent should see now, within a budget of tokens."""
