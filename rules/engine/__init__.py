"""Evaluation of rules on an event: conditions, index, lookups, cost."""
