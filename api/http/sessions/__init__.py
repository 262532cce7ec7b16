"""The sessions, and of the users and groups that they belong to."""
