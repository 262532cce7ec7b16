"""Tenants: API keys, limits, secrets and the destinations their rules may send to."""
