"""Chat and embedding clients, quota, tokens, costs, prompts."""
