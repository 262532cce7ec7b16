"""Rows of a page, bounded by bytes as well as by number: each may hold a quarter of a megabyte that a caller wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pydantic_core import to_json
from sqlalchemy import TextClause

from core.storage.db import Tx

PAGE_BYTES: Final = 2 * 1024 * 1024
"""Bytes after which a page ends."""

FETCHED: Final = 8
"""Rows fetched at a time: as many are in memory beyond the end of a page."""


class BoundedRows(NamedTuple):
    """Rows in the order of the statement; `is_cut`: others follow that the page has no room for."""

    rows: list[Any]
    is_cut: bool


def read(tx: Tx, statement: TextClause, values: Mapping[str, object], most: int = PAGE_BYTES) -> BoundedRows:
    """Return the rows of a statement up to the one that exceeds `most` bytes, so at least one."""
    rows, size = list[Any](), 0
    options = {"stream_results": True, "yield_per": FETCHED}
    with tx.execute(statement, values, execution_options=options) as result:
        for row in result:
            if size > most:
                return BoundedRows(rows, is_cut=True)
            rows.append(row)
            size += sum(map(_size_of, row))
    return BoundedRows(rows, is_cut=False)


def _size_of(value: object) -> int:
    if isinstance(value, str | bytes):
        return len(value)
    return len(to_json(value)) if isinstance(value, dict | list) else 0
