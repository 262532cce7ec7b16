"""How two statements relate: same, richer, denied, superseded. Pure."""
