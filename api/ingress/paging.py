"""Pages of lists: those read whole because something bounds them, and cursors of those ordered by time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final, TypeVar

from fastapi import Query

from core.errors import Invalid, Problem
from core.types import Json

MOST: Final = 1_000
"""Items of one page: as many as a tenant has rules, so that whoever does not page sees all."""

After = Annotated[str | None, Query(max_length=4_000, description="`next` of the previous page")]
WholeLimit = Annotated[int, Query(ge=1, le=MOST)]

Item = TypeVar("Item")


def cut(
    items: Sequence[Item], show: Callable[[Item], Any], name: Callable[[Item], object], after: str | None, limit: int
) -> Json:
    """Return the page behind the item named `after`; items are in a stable order, and have a name of their own each.

    Invalid: no item has that name, because it was removed since the page before.
    """
    begin = 0 if after is None else _place_of(items, name, after) + 1
    page = items[begin : begin + limit]
    more = len(items) > begin + limit
    return {"items": [show(item) for item in page], "next": str(name(page[-1])) if more else None}


def _place_of(items: Sequence[Item], name: Callable[[Item], object], after: str) -> int:
    for position, item in enumerate(items):
        if str(name(item)) == after:
            return position
    raise Invalid([Problem("/after", "is not in this list, or no more; begin anew without it")])


def moment_cursor(at: datetime, name: str) -> str:
    """Return the cursor behind a row of a list that is ordered by time and id."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ},{name}"


def after_moment(cursor: str) -> tuple[datetime, str]:
    """Return the time and the id of such a cursor. Invalid: it is none."""
    time, _, name = cursor.partition(",")
    try:
        at = datetime.fromisoformat(time)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None or not name:
        raise Invalid([Problem("/after", "send the `next` of the previous page")])
    return at, name
