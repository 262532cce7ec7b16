"""Short ids: the end of an id stands for the whole, found by an index within the tenant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, get_args
from uuid import UUID

from sqlalchemy import ColumnElement, Table, select, true

from core.storage import tables
from core.storage.db import Tx

Kind = Literal["memory", "change", "document", "dispatch", "forgetting", "rebuild", "receipt"]
"""Kinds of things that an id can name. A change is what `memory decisions` lists; dispatches only if held or dead."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

SHORTEST: Final = 4
"""Fewer characters would name several ids in all but the smallest installations."""

MOST: Final = 5
"""Ids returned where several end alike: enough to tell them apart."""

FORM: Final = re.compile(f"[0-9a-f]{{{SHORTEST},{tables.TAIL}}}")
"""A short id."""

_TABLES: Final[Mapping[Kind, Table]] = {
    "memory": tables.memories,
    "change": tables.verdicts,
    "document": tables.documents,
    "dispatch": tables.dispatches,
    "forgetting": tables.forgettings,
    "rebuild": tables.rebuilds,
    "receipt": tables.receipts,
}

_INDEXED: Final[Mapping[Kind, ColumnElement[bool]]] = {"dispatch": tables.dispatches.c.status.in_(("held", "dead"))}
"""Rows of a kind that the index holds, where it does not hold all."""

_AFTER_HEX: Final = "g"
"""Sorts behind every hexadecimal digit: `[end, end + _AFTER_HEX)` holds what begins with `end`."""


def find(tx: Tx, kind: Kind, end: str) -> list[UUID]:
    """Return the tenant's ids of a kind that end with these characters, newest first, at most MOST."""
    table, turned = _TABLES[kind], end[::-1]
    # Compared as a range and not with LIKE, which row-level security would keep from the index.
    statement = (
        select(table.c.id)
        .where(_INDEXED.get(kind, true()), table.c.id_tail >= turned, table.c.id_tail < turned + _AFTER_HEX)
        .order_by(table.c.id_tail, table.c.id.desc())
        .limit(MOST)
    )
    return sorted(tx.execute(statement).scalars(), reverse=True)
