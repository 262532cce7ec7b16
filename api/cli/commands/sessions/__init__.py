"""Commands about sessions and their users and groups."""
