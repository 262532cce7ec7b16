"""Sessions, and the users and groups that they belong to."""
