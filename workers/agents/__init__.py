"""Agents: one function for each unit of work that actions target."""
