"""Rows of a page, bounded by bytes as well as by number: each may hold a quarter of a megabyte that a caller wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from pydantic_core import to_json
from sqlalchemy import Row, TextClause

from core.storage.db import Tx

PAGE_BYTES: Final = 2 * 1024 * 1024
"""Bytes after which a page ends."""

FETCHED: Final = 8
"""Rows fetched at a time: as many are in memory beyond the end of a page."""


class BoundedRows(NamedTuple):
    """Rows in the order of the statement; `is_cut`: others follow that the page has no room for."""

    rows: list[Row[Any]]
    is_cut: bool


def read(tx: Tx, statement: TextClause, values: Mapping[str, object], most: int = PAGE_BYTES) -> BoundedRows:
    """Return the rows of a statement up to the one that exceeds `most` bytes, so at least one."""
    rows, size = list[Row[Any]](), 0
    options = {"stream_results": True, "yield_per": FETCHED}
    with tx.execute(statement, values, execution_options=options) as result:
        for row in result:
            if size > most:
                return BoundedRows(rows, is_cut=True)
            rows.append(row)
            size += _size(row)
    return BoundedRows(rows, is_cut=False)


def _size(values: Iterable[object]) -> int:
    return sum(_SIZES.get(type(value), _nothing)(value) for value in values)


def _of_json(value: object) -> int:
    return len(to_json(value))


def _of_text(value: Any) -> int:
    return len(value)


def _nothing(_value: object) -> int:
    return 8


_SIZES: Final = {dict: _of_json, list: _of_json, str: _of_text, bytes: _of_text}
