"""Moving a tenant from one cell to another: freezing it, copying its rows, deleting the old ones."""
