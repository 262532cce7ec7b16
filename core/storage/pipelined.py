"""Reads several statements that were sent at once, while the server works on (docs/decisions/performance.md, 0067)."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import Any, Final, Self

import psycopg
from psycopg import adapt
from psycopg.errors import error_from_result
from psycopg.generators import fetch, send
from psycopg.pq import ConnStatus, ExecStatus, Format
from psycopg.pq.abc import PGresult

from core.storage.db import Tx, driver_of, load_raw, translate_errors

CHUNK_ROWS: Final = 256
"""Rows that become arrays while the server sends the next."""

Chunk = list[tuple[Any, ...]]


def fetch_in_turn(tx: Tx, *statements: tuple[str, Mapping[str, object]]) -> Generator[Iterator[Chunk]]:
    """Yield the rows of each statement, in chunks and in the form of raw `db.stream_chunks`. For few rows.

    All statements are sent at once, and rows are given out as they come; the driver's own pipeline gives out none
    before all are there. Rows that are not read are skipped. Close the generator if it is not read to its end.
    """
    driver = driver_of(tx)
    with translate_errors(tx), driver.cursor() as cursor:
        load_raw(cursor.adapters)
        written = [psycopg.ClientCursor(driver).mogrify(*query).encode() for query in statements]
        driver.pgconn.enter_pipeline_mode()
        try:
            for statement in written:
                driver.pgconn.send_query_params(statement, None, result_format=Format.BINARY)
                driver.pgconn.send_flush_request()
            driver.pgconn.pipeline_sync()
            driver.wait(send(driver.pgconn))
            for _ in written:
                rows = _Rows(tx, driver, cursor)
                yield rows
                rows.skip()
        finally:
            _leave(driver)


class _Rows:
    """The rows of the statement whose answer comes next."""

    def __init__(self, tx: Tx, driver: psycopg.Connection[Any], cursor: psycopg.Cursor[Any]) -> None:
        self._tx, self._driver = tx, driver
        self._adapting: Any = adapt.Transformer(cursor)
        self._is_over = False
        driver.pgconn.set_chunked_rows_mode(CHUNK_ROWS)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Chunk:
        while (result := self._result()) is not None:
            if result.ntuples:
                self._adapting.set_pgresult(result)
                chunk: Chunk = self._adapting.load_rows(0, result.ntuples, tuple)
                return chunk
        raise StopIteration

    def skip(self) -> None:
        """Read to the end, for the next statement."""
        while self._result() is not None:
            pass

    def _result(self) -> PGresult | None:
        if self._is_over:
            return None
        with translate_errors(self._tx):
            result = _next(self._driver)
            if result is not None and result.status not in _ROWS:
                raise error_from_result(result, encoding=self._driver.info.encoding)
        self._is_over = result is None
        return result


def _next(driver: psycopg.Connection[Any]) -> PGresult | None:
    """Return the next part of the answers; None: a statement's answer ends here."""
    part: PGresult | None = driver.wait(fetch(driver.pgconn))
    return part


def _leave(driver: psycopg.Connection[Any]) -> None:
    """Skip the rest of the answers, and leave pipeline mode; a connection that is lost stays as it is."""
    while driver.pgconn.status == ConnStatus.OK:
        part = _next(driver)
        if part is not None and part.status == ExecStatus.PIPELINE_SYNC:
            driver.pgconn.exit_pipeline_mode()
            return


_ROWS: Final = {ExecStatus.TUPLES_OK, ExecStatus.TUPLES_CHUNK}
