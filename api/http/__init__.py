"""HTTP endpoints, one module per part of the contract; plain functions over `core` and `rules`."""
