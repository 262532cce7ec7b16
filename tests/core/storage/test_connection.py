"""A thread of a request that waits for the database lets another compute."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from sqlalchemy import text

from core.baton import REQUESTS
from core.storage import db
from core.storage.db import Database, Tx
from tests.production import wait_for
from tests.samples import TENANT

KEY = 64_064
LOCK = f"SELECT pg_advisory_xact_lock({KEY})"


def by_statement(tx: Tx) -> None:
    tx.execute(text(LOCK))


def by_round_trip(tx: Tx) -> None:
    db.run_together(tx, (text(LOCK), {}))


def by_rows(tx: Tx) -> None:
    assert len(list(db.stream_rows(tx, LOCK, {}, 1))) == 1


@pytest.mark.parametrize("wait", [by_statement, by_round_trip, by_rows])
def test_who_waits_for_the_database_lets_others_compute(app: Database, wait: Callable[[Tx], None]) -> None:
    said: list[str] = []

    def ask() -> None:
        with REQUESTS.carried(), app.tenant(TENANT) as tx:
            wait(tx)
            said.append("answered" if REQUESTS._mine.is_carried else "answered without its turn")

    with app.tenant(TENANT) as held:
        by_statement(held)
        asking = threading.Thread(target=ask)
        asking.start()
        wait_for(lambda: _waits(held), every=0.01)
        with REQUESTS.carried():
            assert REQUESTS._mine.is_carried
            assert said == []
    asking.join(10.0)
    assert said == ["answered"]
    assert not REQUESTS._taken


def _waits(tx: Tx) -> bool:
    found = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = :key AND NOT granted")
    return bool(tx.execute(found, {"key": KEY}).scalar_one())
