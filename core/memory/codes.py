"""Numeric codes that rows of memories hold in place of texts, times and categories. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from core.covering import number
from core.memoize import memoized_in_scope
from core.types import Category

CATEGORIES: Final = (None, *Category)
"""Categories in the order of their numbers."""

LONGEST: Final = 500
"""Maximum characters of a statement; longer texts are documents, of which no single sentence can end."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


@memoized_in_scope
def code_of(text: str | None) -> int:
    """Return a digest of a text that this process computes alone; 0 for None."""
    return 0 if text is None else number(text)


def microseconds(time: datetime) -> int:
    """Return a time in microseconds since 1970."""
    return (time - _EPOCH) // _MICROSECOND
