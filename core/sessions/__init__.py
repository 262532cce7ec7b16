"""Short-term memory: sessions, messages, state; accepting a batch of events."""
