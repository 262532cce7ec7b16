"""HTTP endpoints, a package for each subject; plain functions over `core` and `rules`."""
