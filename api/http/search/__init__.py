"""Searches, contexts, and the knowledge base."""
