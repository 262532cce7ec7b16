"""Statements that other services keep about "User" name the person, as their own memories do. Pure."""

from __future__ import annotations

from core.language import languages


def about(content: str, name: str) -> str:
    """Return a statement with the name of the person instead of "User"."""
    for language in languages.ALL:
        if language.names_user:
            content = language.names_user(content, name)
    return content
