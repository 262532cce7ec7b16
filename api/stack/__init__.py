"""The whole service on one machine: PostgreSQL, broker and every process, started, watched and ended together."""
