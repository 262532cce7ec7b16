"""The JSON rule engine: schema, conditions, flow, decisions, versions; `defaults/*.json` are the rules of a new tenant."""
