"""The rule document: schema, fields, actions, formatting."""
