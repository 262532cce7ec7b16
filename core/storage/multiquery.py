"""Runs several statements in one round trip; docs/decisions/0016 has the figures of the alternative."""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, Final
from uuid import UUID

import psycopg
from psycopg import adapt
from psycopg.abc import Transformer
from psycopg.errors import error_from_result
from psycopg.generators import execute
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from core.storage import kept_plans
from core.storage.kept_plans import BoundStatement

__all__ = ["BoundStatement", "run_statements"]


def run_statements(
    driver: psycopg.Connection[Any], statements: Sequence[BoundStatement], meanwhile: Callable[[], object] | None = None
) -> list[list[Any]]:
    """Run independent statements; return the rows of each as named tuples.

    The driver does not begin a transaction: if none is open yet, the first statement must. `meanwhile` runs while the
    server works, unless `statements` is empty. Raises psycopg's errors; nothing after the failing statement is done.
    """
    if not statements:
        return []
    adapting: Transformer = adapt.Transformer(driver)
    plans = kept_plans.of(driver)
    try:
        batch = plans.write(statements, partial(_literal, adapting))
        if batch.ahead:
            plans.note(_send(driver, batch.ahead))
        # The simple protocol takes several statements at once, without parameters; libpq quotes the values.
        results = _send(driver, batch.sql, meanwhile)
    except psycopg.Error as error:
        raise plans.fail(error) from None
    except BaseException:
        plans.discard()
        raise
    return [_rows(adapting, result) for result in results]


def _send(
    driver: psycopg.Connection[Any], sql: Sequence[bytes], meanwhile: Callable[[], object] | None = None
) -> list[PGresult]:
    driver.pgconn.send_query(b";".join(sql))
    try:
        if meanwhile is not None:
            driver.pgconn.flush()
            meanwhile()
    finally:
        results: list[PGresult] = driver.wait(execute(driver.pgconn))
    for result in results:
        if result.status == ExecStatus.FATAL_ERROR:
            raise error_from_result(result, encoding=driver.info.encoding)
    return results


def _literal(adapting: Transformer, value: object) -> bytes:
    """Return a value as the driver writes it; the usual ones at a fraction of its time."""
    if value is None:
        return b"NULL"
    usual: bytes | None = None
    if type(value) is str and _UNQUOTED.fullmatch(value):
        usual = b"'%b'" % value.encode()
    elif type(value) is list and value:
        usual = _array(value)
    return adapting.as_literal(value) if usual is None else usual


def _array(values: list[Any]) -> bytes | None:
    """Return a list as the driver writes it; None: its elements are not of one usual kind, or need quotes."""
    (kind, *others) = {*map(type, values)}
    if others:
        return None
    if kind is UUID:
        return b"'{%b}'::uuid[]" % ",".join([value.hex for value in values]).encode()
    if kind is int and min(values) >= -_INT4 and max(values) < _INT4:
        return b"'{%b}'::int4[]" % ",".join(map(str, values)).encode()
    if kind is str:
        joined = ",".join(values)
        if _ELEMENTS.fullmatch(joined) and joined.count(",") == len(values) - 1:
            return b"'{%b}'" % joined.encode()
    return None


_INT4: Final = 2**31

_UNQUOTED: Final = re.compile(r"[\w:.*/ -]*", re.ASCII)
"""Texts without anything that quoting changes."""

_ELEMENTS: Final = re.compile(r"(?:(?!null(?:,|$))[\w:./-]+(?:,|$))+(?<!,)", re.ASCII | re.IGNORECASE)
"""Likewise the elements of an array, none of them empty or read as NULL; an element with a comma counts as two."""


def _rows(adapting: Transformer, result: Any) -> list[Any]:
    adapting.set_pgresult(result)
    named = _row_factory(tuple(map(result.fname, range(result.nfields))))
    rows: list[Any] = adapting.load_rows(0, result.ntuples, named)
    return rows


@lru_cache(maxsize=256)
def _row_factory(columns: tuple[bytes, ...]) -> Callable[[Sequence[Any]], Any]:
    """Return the constructor of a named tuple with these columns."""
    row = namedtuple("Row", [column.decode() for column in columns], rename=True)  # type: ignore[misc]  # noqa: PYI024
    return row._make  # noqa: SLF001  (public, in spite of its name)
