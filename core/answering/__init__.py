"""Answers to questions, from what is remembered."""
