"""The dispatches, their approvals and dead letters, and of webhooks."""
