"""Patterns of event types, in which `*` matches any run of characters, dots too. Matching takes linear time."""

from __future__ import annotations

import re
from typing import Final

MOST_STARS: Final = 5
"""Wildcards of a pattern that a caller may send; a stored one with more is still matched."""


def matches(pattern: str, event_type: str) -> bool:
    """Return whether an event type fits a pattern as a whole.

    The first occurrence of each piece leaves the most text to the next, so nothing is ever tried twice.
    """
    head, *pieces = pattern.split("*")
    if not pieces:
        return event_type == head
    *middle, tail = pieces
    position, end = len(head), len(event_type) - len(tail)
    if position > end or not event_type.startswith(head) or not event_type.endswith(tail):
        return False
    for piece in middle:
        position = event_type.find(piece, position, end)
        if position < 0:
            return False
        position += len(piece)
    return True


def like(pattern: str) -> str:
    """Return a pattern as the right side of SQL's LIKE."""
    return re.sub(r"([\\%_])", r"\\\1", pattern).replace("*", "%")


def fault(pattern: str) -> str | None:
    """Return why a caller's pattern is refused, or None."""
    stars = pattern.count("*")
    if stars <= MOST_STARS:
        return None
    return f"has {stars} `*`, {MOST_STARS} are allowed; name the types, or use a wider pattern such as `memory.*`"
