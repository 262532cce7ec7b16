"""Threads of requests wait for the database together, though they compute one at a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from core.baton import REQUESTS
from core.storage import db
from core.storage.db import Database, Tx
from tests.samples import TENANT

SLEEP = text("SELECT pg_sleep(0.4)")


def by_statement(tx: Tx) -> None:
    tx.execute(SLEEP)


def by_round_trip(tx: Tx) -> None:
    db.run_together(tx, (SLEEP, {}))


def by_rows(tx: Tx) -> None:
    assert len(list(db.stream_rows(tx, "SELECT pg_sleep(0.4)", {}, 1))) == 1


@pytest.mark.parametrize("wait", [by_statement, by_round_trip, by_rows])
def test_who_waits_for_the_database_lets_others_compute(app: Database, wait: Callable[[Tx], None]) -> None:
    def ask(_: int) -> None:
        with REQUESTS.carried(), app.tenant(TENANT) as tx:
            wait(tx)

    with ThreadPoolExecutor(3) as pool:
        for _ in range(2):  # The first time they connect.
            began = time.monotonic()
            list(pool.map(ask, range(3)))
    assert time.monotonic() - began < 1.0
    assert not REQUESTS._taken
