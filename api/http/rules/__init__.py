"""The rules: reading, editing, testing and running them."""
