"""Instructions for a model on how to use the memory in its context. Pure."""

from __future__ import annotations

from typing import Final

from core.language import languages

LEAST: Final = 512
"""Smallest limit, in tokens, of a context with guidance: in a smaller one it would take the memories' room."""


def guidance(question: str, limit: int) -> str:
    """Return the guidance in the language of the question; empty if the limit has no room for it."""
    if limit < LEAST:
        return ""
    return languages.phrases(languages.of(question)).guidance
