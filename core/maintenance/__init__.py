"""Sweeps, statistics, heartbeats and cache eviction."""
