"""Several statements in one round trip."""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import psycopg
from psycopg import adapt
from psycopg.abc import Transformer
from psycopg.errors import error_from_result
from psycopg.generators import execute
from psycopg.pq import ExecStatus
from sqlalchemy import TextClause
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

Asked = tuple[TextClause, Mapping[str, object]]
"""A statement and its values."""

_VALUE: Final = re.compile(r"%%|%\((\w+)\)s")
"""Where a value stands in a statement as psycopg has it, or a sign that is written twice."""


def answers(
    driver: psycopg.Connection[Any], asked: Sequence[Asked], meanwhile: Callable[[], object] | None = None
) -> list[list[Any]]:
    """The rows of each statement, as named tuples; none may need what another one finds.

    What they do is not begun by the driver: where no transaction is open yet, the first statement opens it. If anything
    is asked, `meanwhile` is done while the server works. Raises psycopg's errors; of what follows the statement that
    failed, nothing was done.
    """
    if not asked:
        return []
    adapting: Transformer = adapt.Transformer(driver)
    # The server takes several statements at once only with their values written into them, as libpq quotes them.
    driver.pgconn.send_query(b";".join(_written(adapting, *one) for one in asked))
    try:
        if meanwhile is not None:
            driver.pgconn.flush()
            meanwhile()
    finally:
        results = driver.wait(execute(driver.pgconn))
    for result in results:
        if result.status == ExecStatus.FATAL_ERROR:
            raise error_from_result(result, encoding=driver.info.encoding)
    return [_rows(adapting, result) for result in results]


def _written(adapting: Transformer, statement: TextClause, values: Mapping[str, object]) -> bytes:
    parts, names = _parts(statement)
    literals = {name: adapting.as_literal(values[name]) for name in set(names)}
    written = [parts[0]]
    for name, part in zip(names, parts[1:], strict=True):
        # A number below nought would stand as a comment behind a minus, and a word be joined with what is before it.
        written += (b" ", literals[name], b" ", part)
    return b"".join(written)


@lru_cache(maxsize=256)
def _parts(statement: TextClause) -> tuple[Sequence[bytes], Sequence[str]]:
    """What stands between the values of a statement, and the names of the values."""
    sql = str(statement.compile(dialect=PGDialect_psycopg()))  # type: ignore[no-untyped-call]
    parts, names, begin = [""], [], 0
    for found in _VALUE.finditer(sql):
        parts[-1] += sql[begin : found.start()]
        begin = found.end()
        if found[1] is None:
            parts[-1] += "%"
        else:
            names.append(found[1])
            parts.append("")
    parts[-1] += sql[begin:]
    return [part.encode() for part in parts], names


def _rows(adapting: Transformer, result: Any) -> list[Any]:
    adapting.set_pgresult(result)
    named = _named(tuple(result.fname(at) for at in range(result.nfields)))
    rows: list[Any] = adapting.load_rows(0, result.ntuples, named)
    return rows


@lru_cache(maxsize=256)
def _named(columns: tuple[bytes, ...]) -> Callable[[Sequence[Any]], Any]:
    """What makes a row of those columns."""
    row = namedtuple("Row", [column.decode() for column in columns], rename=True)  # type: ignore[misc]  # noqa: PYI024
    return row._make  # noqa: SLF001  (public, in spite of its name)
