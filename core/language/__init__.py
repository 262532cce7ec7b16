"""Tokens, sentences, dates and spelling in English and Chinese. Pure."""
