"""Reads fields whose type nobody has promised."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Final

from core.transfer.records import FileEntry, Record, SpokenLine

YEARS: Final = range(1970, 3000)

MILLISECONDS: Final = 1e11
"""Numbers above are milliseconds: as seconds they would be in the year 5138."""

MICROSECONDS: Final = 1e14
"""Numbers above are microseconds, likewise."""

NANOSECONDS: Final = 1e17
"""Numbers above are nanoseconds, likewise."""

LEVELS: Final = 50
"""Levels of free JSON that are kept; what lies deeper becomes text."""

Object = Mapping[str, Any]

Read = Callable[[Iterable[FileEntry]], Iterator[Record | SpokenLine]]
"""Reads the entries of a file."""

_NUMBER: Final = re.compile(r"\d{9,19}(?:\.\d+)?")


def each(read: Callable[[FileEntry], Iterable[Record | SpokenLine]]) -> Read:
    """Return a reader of entries that do not depend on one another."""
    return lambda entries: chain.from_iterable(map(read, entries))


def text(value: object) -> str:
    """Return a string without characters that PostgreSQL cannot store; "" for anything else."""
    if not isinstance(value, str):
        return ""
    plain = value if value.isascii() else value.encode("utf-8", "replace").decode()  # Halves of surrogate pairs.
    return plain.replace("\x00", "")


def first_text(of: Object, *names: str) -> str:
    """Return the first of these fields that has words."""
    return next((value for name in names if (value := text(of.get(name)).strip())), "")


def items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def objects(value: object) -> list[Object]:
    """Return the objects in a list; whatever else it holds is left out."""
    return [item for item in items(value) if isinstance(item, Mapping)]


def mapping(value: object) -> Object:
    return value if isinstance(value, Mapping) else {}


def storable(value: object, levels: int = LEVELS) -> Any:
    """Return free JSON as PostgreSQL can store it."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping | list) and levels == 0:
        return text(str(value))
    if isinstance(value, Mapping):
        return {text(key): storable(inner, levels - 1) for key, inner in value.items()}
    return [storable(inner, levels - 1) for inner in value] if isinstance(value, list) else value


def moment(value: object) -> datetime | None:
    """Parse a time: a number of seconds to nanoseconds since 1970, ISO 8601, or MongoDB's `$date`; None: it is none."""
    if isinstance(value, Mapping):
        return moment(value.get("$date", value.get("$numberLong")))
    try:
        parsed = _parsed(value)
    except (ValueError, OverflowError, OSError):
        return None
    if parsed is None:
        return None
    parsed = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return parsed if parsed.year in YEARS else None


def _parsed(value: object) -> datetime | None:
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value / _unit(value), UTC)
    return datetime.fromisoformat(value.strip()) if isinstance(value, str) else None


def _unit(number: float) -> float:
    """Return how many of the number are a second."""
    bounds = ((NANOSECONDS, 1e9), (MICROSECONDS, 1e6), (MILLISECONDS, 1e3))
    return next((unit for bound, unit in bounds if number > bound), 1)


def first_moment(of: Object, *names: str) -> datetime | None:
    """Return the first of these fields that is a time."""
    return next((at for name in names if (at := moment(of.get(name))) is not None), None)


def paragraphs(parts: Iterable[str]) -> str:
    """Join the texts that are not empty."""
    return "\n\n".join(part.strip() for part in parts if part.strip())


def digest(*parts: object, length: int = 32) -> str:
    """Return an id that follows from the content, for what has none of its own."""
    return hashlib.sha256("\n".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()[:length]
