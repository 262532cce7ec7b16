"""Reads fields whose type nobody has promised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

YEARS: Final = range(1970, 3000)

MILLISECONDS: Final = 1e11
"""Numbers above are milliseconds: as seconds they would be in the year 5138."""

Object = Mapping[str, Any]


def text(value: object) -> str:
    """Return a string without the character that PostgreSQL cannot store; "" for anything else."""
    return value.replace("\x00", "") if isinstance(value, str) else ""


def items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def objects(value: object) -> list[Object]:
    """Return the objects in a list; whatever else it holds is left out."""
    return [one for one in items(value) if isinstance(one, Mapping)]


def mapping(value: object) -> Object:
    return value if isinstance(value, Mapping) else {}


def moment(value: object) -> datetime | None:
    """Parse a time: seconds or milliseconds since 1970, or ISO 8601; None: it is none, or out of range."""
    try:
        if isinstance(value, bool):
            return None
        if isinstance(value, int | float):
            found = datetime.fromtimestamp(value / 1000 if value > MILLISECONDS else value, UTC)
        elif isinstance(value, str):
            found = datetime.fromisoformat(value)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    return found if found.year in YEARS else None


def paragraphs(parts: Iterator[str] | list[str]) -> str:
    """Join the texts that are not empty."""
    return "\n\n".join(part.strip() for part in parts if part.strip())
