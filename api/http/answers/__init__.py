"""Answers of the operations below `/v1`: one module for each router."""
