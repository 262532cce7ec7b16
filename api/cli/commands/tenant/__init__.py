"""Commands about a tenant: its settings, secrets, prompts and limits."""
