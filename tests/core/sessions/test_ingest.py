from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from core.config import Settings
from core.errors import Invalid
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


def test_events_of_a_session_take_its_user_and_group_where_they_name_none(app: Database) -> None:
    accept(app, said("hello", session="s1", user="ada", group_id="team"))
    end = event("session.ended", {"message_count": 4}, subject="session:s1", id="end")
    result = event("tool.result.added", {"session_id": "s2", "content": "12"}, id="result")
    accept(app, end, result, said("hello", session="s2", user="bob"))
    payloads = {stored.id: stored.payload for stored in log_of(app)}
    assert payloads["end"] == {"message_count": 4, "session_id": "s1", "user_id": "ada", "group_id": "team"}
    assert payloads["result"] == {"session_id": "s2", "content": "12", "user_id": "bob"}
    assert positions(app, "s2") == [1, 2]


def test_an_event_of_a_session_that_names_nobody_is_refused_with_its_place(app: Database) -> None:
    with pytest.raises(Invalid) as refused:
        accept(app, event(), event("session.ended", {}, subject="session:s1"))
    assert [problem.pointer for problem in refused.value.problems] == ["/1"]
    assert "user_id" in refused.value.detail
    assert log_of(app) == []
