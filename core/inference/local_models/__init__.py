"""Embedding models that run in this process: their weights, their tokenizers, one encoder for all of them."""
