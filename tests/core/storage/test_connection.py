"""A thread of a request that waits for the database lets another compute."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import text

from core.baton import REQUESTS
from core.config import Settings
from core.storage import db
from core.storage.connection import Connection
from core.storage.db import Database, Tx
from tests.patience import wait_until
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
        wait_until(lambda: _waits(held), every=0.01)
        with REQUESTS.carried():
            assert REQUESTS._mine.is_carried
            assert said == []
    asking.join(10.0)
    assert said == ["answered"]
    assert not REQUESTS._taken


def _waits(tx: Tx) -> bool:
    found = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = :key AND NOT granted")
    return bool(tx.execute(found, {"key": KEY}).scalar_one())


def test_a_free_connection_is_taken_without_a_turn_lost(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with app.tenant(TENANT):
        pass
    passed = []
    monkeypatch.setattr(REQUESTS, "_pass_on", lambda: passed.append("passed on"))
    app.engine.connect().close()
    assert passed == []


def test_who_waits_for_a_free_connection_lets_its_holder_end(upgraded: Settings) -> None:
    said: list[str] = []
    with closing(db.connect(db.app_url(upgraded), 1)) as one:

        def ask() -> None:
            with REQUESTS.carried(), one.tenant(TENANT):
                said.append("answered" if REQUESTS._mine.is_carried else "answered without its turn")

        with one.tenant(TENANT):
            asking = threading.Thread(target=ask)
            asking.start()
            wait_until(lambda: asking.is_alive() and not REQUESTS._taken, every=0.01)
            with REQUESTS.carried():
                assert REQUESTS._mine.is_carried
                assert said == []
        asking.join(10.0)
    assert said == ["answered"]


def test_the_end_of_a_transaction_that_has_ended_is_not_sent(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[str] = []
    one, other = text("SELECT 1"), text("SELECT 2")
    for _ in range(3):
        with app.asking(TENANT, (one, {})) as (tx, _):
            monkeypatch.setattr(Connection, "wait", _counting(tx.connection.driver_connection.wait, waited))
            db.run_together(tx, (other, {}), last=True)
        monkeypatch.undo()
    assert len(waited) == 3 + 1, "one each, and one to prepare the statements, with their second use"
    waited.clear()
    with app.asking(TENANT, (one, {})) as (tx, _):
        monkeypatch.setattr(Connection, "wait", _counting(tx.connection.driver_connection.wait, waited))
    assert len(waited) == 1, "what is open is committed"


def _counting(wait: Callable[..., Any], waited: list[str]) -> Callable[..., Any]:
    def count(_self: Connection, *args: Any, **kwargs: Any) -> Any:
        waited.append("waited")
        return wait(*args, **kwargs)

    return count
