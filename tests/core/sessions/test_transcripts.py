from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import text

from core.config import Settings
from core.sessions import sessions, transcripts
from core.sessions.transcripts import SessionFilter
from core.storage.db import Database
from core.types import Json
from tests.core.sessions.spoken import resulted, spoken, stands
from tests.databases import analyzed, carried_out, looked_at
from tests.samples import TENANT, accept, ended, said


def test_the_same_message_in_two_batches_is_one_and_the_first_counts_and_the_other_is_told(app: Database) -> None:
    accept(app, said("first", id="e1", message_id="m1"))
    tokens = stands(app).token_count
    accept(app, said("changed since", id="e2", message_id="m1"), said("first", id="e3", message_id="m1"))
    assert [m.content for m in spoken(app)] == ["first"]
    assert (stands(app).message_count, stands(app).token_count) == (1, tokens)
    with app.tenant(TENANT) as tx:
        told = transcripts.repeats(tx, sessions.message(tx, "s1", "m1"))
    assert [(one.event_id, one.differs) for one in told] == [("e2", True), ("e3", False)]


def test_what_a_tool_answers_is_a_message_of_the_session(app: Database) -> None:
    call: Json = {"tool_name": "weather", "tool_call_id": "c1", "tags": ["x"], "metadata": {"ms": 12}}
    accept(app, said("How is it outside?"), resulted("12 °C, rain", message_id="t1", id="e9", **call))
    message = spoken(app)[1]
    assert (message.role, message.content, message.id, message.event_id) == ("tool", "12 °C, rain", "t1", "e9")
    assert (message.speaker, message.position) == ("weather", 2)
    with app.tenant(TENANT) as tx:
        assert transcripts.extras(tx, "s1", "t1") == call
    assert stands(app).message_count == 2
    accept(app, resulted("another answer", message_id="t1"))
    assert [m.content for m in spoken(app)] == ["How is it outside?", "12 °C, rain"]


def test_sessions_are_listed_latest_first_whether_they_are_open_or_not(app: Database) -> None:
    for name in ("a", "b", "c"):
        accept(app, said("Hello.", session=name, time=f"2026-11-2{'abc'.index(name)}T12:00:00+00:00"))
    accept(app, ended("b", time="2026-11-21T12:00:00+00:00"))
    with app.tenant(TENANT) as tx:
        whole = transcripts.find(tx, SessionFilter())
        first = transcripts.find(tx, SessionFilter(limit=2))
        last = first[-1].last_at, first[-1].id
        second = transcripts.find(tx, SessionFilter(after=last))
        closed, open_ = (
            [one.id for one in transcripts.find(tx, SessionFilter(is_open=is_open))] for is_open in (False, True)
        )
    assert [one.id for one in whole] == ["c", "b", "a"]
    assert [one.id for one in (*first, *second)] == ["c", "b", "a"]
    assert (closed, open_) == (["b"], ["c", "a"])


def test_a_list_of_sessions_reads_those_it_shows(app: Database, settings: Settings) -> None:
    fill = """
        INSERT INTO sessions (tenant_id, id, user_id, group_id, started_at, last_at, ended_at)
        SELECT :tenant, 's' || n, 'u' || n % 500, 'g' || n % 500, now(), now() - n * interval '1 s',
               CASE WHEN n % 10 > 0 THEN now() END
        FROM generate_series(1, 20000) AS n
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(fill), {"tenant": TENANT})
    analyzed(settings, "sessions")
    nothing = {"user": None, "group": None, "at": None, "name": None, "limit": 50}
    asked: list[Json] = [
        {},
        {"at": datetime.now(UTC) - timedelta(hours=3), "name": "s"},
        {"user": "u1"},
        {"group": "g1"},
    ]
    with app.tenant(TENANT) as tx:
        for one in asked:
            for statement in (transcripts._FIND, *transcripts._ONE_STATE.values()):
                nodes = carried_out(tx, statement.text, nothing | one)
                assert sum(looked_at(nodes, "sessions")) <= 200, (one, nodes)
