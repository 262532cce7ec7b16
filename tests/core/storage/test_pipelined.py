"""Statements sent at once are read in their order, in chunks; a connection is usable afterwards, whatever happened."""

from __future__ import annotations

import struct
from contextlib import closing
from typing import Any

import pytest
from psycopg.pq import PipelineStatus
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from core.storage.db import Database, Tx
from core.storage.pipelined import CHUNK_ROWS, Chunk, fetch_in_turn
from tests.samples import TENANT

SERIES = "SELECT n::int4, 'x' || n FROM generate_series(1, %(most)s) AS n"
FAILS = "SELECT 1 / (n - %(at)s) FROM generate_series(1, 1000) AS n"
ENDS = "SELECT pg_terminate_backend(pg_backend_pid()), n FROM generate_series(1, 3) AS n"


def series(most: int) -> tuple[str, dict[str, object]]:
    return SERIES, {"most": most}


def read_all(tx: Tx, *asked: tuple[str, Any]) -> list[list[Chunk]]:
    with closing(fetch_in_turn(tx, *asked)) as read:
        return [list(rows) for rows in read]


def is_usable(tx: Tx) -> bool:
    driver = tx.connection.driver_connection
    assert driver is not None
    return driver.pgconn.pipeline_status == PipelineStatus.OFF and tx.execute(text("SELECT 1")).scalar_one() == 1


def test_rows_come_statement_by_statement_in_chunks(app: Database) -> None:
    most = 2 * CHUNK_ROWS + 1
    with app.tenant(TENANT) as tx:
        several, none, one = read_all(tx, series(most), series(0), series(1))
        assert is_usable(tx)
    assert [len(chunk) for chunk in several] == [CHUNK_ROWS, CHUNK_ROWS, 1]
    assert several[-1] == [(struct.pack(">i", most), f"x{most}")]
    assert (none, one) == ([], [[(struct.pack(">i", 1), "x1")]])


def test_rows_that_are_not_read_are_skipped(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        with closing(fetch_in_turn(tx, series(5_000), series(3), series(5_000))) as read:
            assert len(next(next(read))) == CHUNK_ROWS
            (second,) = next(read)
            assert len(second) == 3
        assert is_usable(tx)


def test_values_are_quoted(app: Database) -> None:
    words = "o'clock \\ 100% :name €"
    with app.tenant(TENANT) as tx:
        assert read_all(tx, ("SELECT %(words)s::text", {"words": words})) == [[[(words,)]]]


@pytest.mark.parametrize("at", [1, 900])
def test_an_error_ends_the_reading_and_leaves_the_connection(app: Database, at: int) -> None:
    with app.tenant(TENANT) as tx, pytest.raises(DBAPIError, match="division by zero"):
        read_all(tx, series(3), (FAILS, {"at": at}), series(3))
    with app.tenant(TENANT) as tx:
        assert is_usable(tx)


def test_a_lost_connection_is_an_error_and_replaced(app: Database) -> None:
    with pytest.raises(DBAPIError), app.tenant(TENANT) as tx:
        read_all(tx, series(3), (ENDS, {}), series(3))
    with app.tenant(TENANT) as tx:
        assert is_usable(tx)
