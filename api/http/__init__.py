"""The HTTP door: one module a part of the contract, all plain functions over `core` and `rules`."""
