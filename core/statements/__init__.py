"""Relations between two statements: same, richer, denied, superseded. Pure."""
