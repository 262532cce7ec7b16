"""Hybrid search: a lexical and a vector arm over messages and memories, fused into one ranking."""
