"""The knowledge base: documents and their passages."""
