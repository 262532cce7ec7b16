"""The log: events in, their stream, replays, and hooks of coding agents."""
