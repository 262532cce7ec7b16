"""The JSON rule engine: schema, conditions, flow, decisions, versions; `defaults/*.json` are a new tenant's rules."""
