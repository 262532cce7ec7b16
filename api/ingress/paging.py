"""Pages of lists that are read whole because something bounds them: a limit of the tenant, the service's own files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    shown = items[begin : begin + limit]
    more = len(items) > begin + limit
    return {"items": [show(item) for item in shown], "next": str(name(shown[-1])) if more else None}


def _place_of(items: Sequence[Item], name: Callable[[Item], object], after: str) -> int:
    for place, item in enumerate(items):
        if str(name(item)) == after:
            return place
    raise Invalid([Problem("/after", "is not in this list, or no more; begin anew without it")])
