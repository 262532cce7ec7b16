"""The whole service on one machine: PostgreSQL, broker and all processes, started, supervised and stopped together."""
