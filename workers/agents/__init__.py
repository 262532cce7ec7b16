"""Agents: the units of work that actions target."""
