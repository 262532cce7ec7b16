"""Plans of a session."""
