"""Commands that import what other services exported."""
