"""Hours of the day named in a text, in whatever language. Pure."""

from __future__ import annotations

from typing import Final

from core.language import languages

_DAY: Final = 24


def hours(text: str) -> frozenset[int]:
    """Return the hours (0 to 23) that a text names."""
    named = (hour for language in languages.ALL if language.hours for hour in language.hours(text))
    return frozenset(hour for hour in named if 0 <= hour < _DAY)
