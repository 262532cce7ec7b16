"""Deciding what an event sets off: conditions, index, lookups, cost."""
