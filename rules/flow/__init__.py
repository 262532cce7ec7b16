"""Cooldown, debounce, batching, rate limits and schedules."""
