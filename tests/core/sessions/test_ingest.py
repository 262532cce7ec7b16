from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from core.config import Settings
from core.events import parsing
from core.sessions import ingest, sessions
from core.storage import db
from core.storage.db import Database
from tests.core.events.reading import log_of, positions
from tests.samples import TENANT, accept, event, said

TURNS = 8


def test_the_same_message_under_another_event_is_on_the_log_but_not_twice_in_the_transcript(app: Database) -> None:
    accept(app, said("hello", message_id="m1"))
    accept(app, said("hello", message_id="m1"), said("hello", message_id="m2"), said("hello", message_id="m2"))
    assert len(log_of(app)) == 4
    assert positions(app, "s1") == [1, 2]
    with app.tenant(TENANT) as tx:
        session = sessions.get(tx, "s1")
    assert session.message_count == 2


def test_a_batch_of_messages_takes_two_round_trips(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = parsing.check([said(f"message {n}", session=f"s{n % 3}") for n in range(20)])
    trips, wait = [0], psycopg.Connection.wait

    def counted(connection: psycopg.Connection[object], *given: Any, **named: Any) -> Any:
        trips[0] += 1
        return wait(connection, *given, **named)

    for before in "abc":  # The connection is open, and has its statements.
        ingest.accept(app, TENANT, parsing.check([said(before, session=f"{before}{n}") for n in range(3)]))
    monkeypatch.setattr(psycopg.Connection, "wait", counted)
    assert ingest.accept(app, TENANT, batch).duplicates == 0
    assert trips == [2]
    assert [positions(app, f"s{n}")[-1] for n in range(3)] == [7, 7, 6]


def test_batches_that_name_the_same_sessions_in_opposite_order_do_not_deadlock(settings: Settings) -> None:
    app = db.connect(db.app_url(settings), 2)
    together = threading.Barrier(2, timeout=20)

    def write(step: int) -> None:
        for turn in range(TURNS):
            names = [f"{turn}-{n:03}" for n in range(300)][::step]
            batch = parsing.check([said(name, session=name, id=name) for name in names])
            together.wait()
            ingest.accept(app, TENANT, batch)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, [1, -1]))
    assert len(log_of(app)) == TURNS * 300
    app.close()


def test_what_names_no_session_that_could_be_one_is_accepted_without(app: Database) -> None:
    accept(app, event(payload={"session_id": "x" * 100_000, "user_id": {"id": 1}}), event(payload={"session_id": 5}))
    assert [(e.session_id, e.user_id) for e in log_of(app)] == [(None, None), (None, None)]
    accept(app, event(payload={"session_id": "é" * 200, "user_id": "ada"}))
    assert log_of(app)[-1].session_id == "é" * 200
