"""Times and durations in rules."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)
_SHORTEST = len("2026-11-21T10:00:00Z")
_DURATION = re.compile(r"(?:\d{1,9}(?:\.\d{1,6})?[smhdw])+", re.ASCII)
_PART = re.compile(r"([\d.]+)([smhdw])", re.ASCII)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def parse_time(text: str) -> datetime | None:
    """Parse an RFC 3339 date-time with an offset; None for any other text."""
    if len(text) < _SHORTEST or text[4] != "-" or _RFC3339.fullmatch(text) is None:
        return None
    try:
        return datetime.fromisoformat(text.upper())
    except ValueError:
        return None


def as_time(value: object) -> datetime | None:
    """Return a time from a time or an RFC 3339 string; None for everything else.

    A time is converted to UTC, since Python calls no two times equal if one is in the repeated hour of a zone.
    """
    if isinstance(value, str):
        return parse_time(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    return None


def parse_duration(text: str) -> float | None:
    """Return the seconds of a duration such as `90s`, `7d` or `1h30m` (units s, m, h, d, w); None for other text."""
    if _DURATION.fullmatch(text) is None:
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
