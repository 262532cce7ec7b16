"""Dispatches, their approvals and dead letters, and webhooks."""
