from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core import sessions
from core.db import Database
from core.errors import NotFound
from tests.samples import TENANT, accept, accept_all, ended, event, said


def test_a_session_spans_from_its_earliest_to_its_latest_event_in_any_order(app: Database) -> None:
    accept(app, said("noon", time="2026-11-21T12:00:00Z"), said("morning", time="2026-11-21T08:00:00Z"))
    accept(app, said("before", time="2026-11-20T08:00:00Z"))
    with app.tenant(TENANT) as tx:
        session = sessions.get(tx, "s1")
    assert session.started_at == datetime(2026, 11, 20, 8, tzinfo=UTC)
    assert session.last_at == datetime(2026, 11, 21, 12, tzinfo=UTC)
    assert session.ended_at is None


def test_a_session_that_ends_stays_ended_when_someone_speaks_on(app: Database) -> None:
    accept(app, said("hello"), ended())
    accept(app, said("one more thing", time="2026-11-22T12:00:00Z"))
    with app.tenant(TENANT) as tx:
        session = sessions.get(tx, "s1")
    assert session.ended_at == datetime(2026, 11, 21, 12, tzinfo=UTC)
    assert session.message_count == 2


def test_a_session_counts_messages_and_tokens_and_not_other_events(app: Database) -> None:
    accept(app, event("session.started", {"session_id": "s1", "user_id": "ada"}), said("four words are here"), ended())
    with app.tenant(TENANT) as tx:
        session = sessions.get(tx, "s1")
    assert session.message_count == 1
    assert session.token_count >= 4


def test_other_events_open_no_session(app: Database) -> None:
    accept(app, event("tool.result.added", {"session_id": "s9", "user_id": "ada", "content": "42"}))
    with app.tenant(TENANT) as tx, pytest.raises(NotFound):
        sessions.get(tx, "s9")


def test_a_message_keeps_what_was_said_about_it(app: Database) -> None:
    accept(app, said("hi", id="e1", message_id="m1", speaker="Ada L.", group_id="g", importance=0.9, tags=["x"]))
    with app.tenant(TENANT) as tx:
        (message,) = sessions.transcript(tx, "s1")
    assert (message.id, message.event_id, message.position) == ("m1", "e1", 1)
    assert (message.speaker, message.group_id, message.importance) == ("Ada L.", "g", 0.9)


def test_a_transcript_is_read_from_a_position_on(app: Database) -> None:
    accept_all(app, [said(f"line {n}") for n in range(1, 8)])
    with app.tenant(TENANT) as tx:
        assert [m.content for m in sessions.transcript(tx, "s1", after=2, limit=3)] == ["line 3", "line 4", "line 5"]
        assert sessions.transcript(tx, "s1", after=7) == []


def test_a_cursor_moves_only_from_where_it_was_seen(app: Database) -> None:
    accept_all(app, [said(f"line {n}") for n in range(4)])
    with app.tenant(TENANT) as tx:
        assert sessions.extracted(tx, "s1", old=0, new=3)
        assert not sessions.extracted(tx, "s1", old=0, new=4)
        assert sessions.indexed(tx, "s1", old=0, new=4)
        assert not sessions.indexed(tx, "s1", old=3, new=4)
        session = sessions.get(tx, "s1")
    assert (session.extracted_to, session.indexed_to) == (3, 4)


def test_what_is_not_indexed_is_told_for_the_sessions_asked(app: Database) -> None:
    accept(app, said("a"), said("b", session="s2"), said("c", session="s3"))
    with app.tenant(TENANT) as tx:
        sessions.indexed(tx, "s2", old=0, new=1)
        assert [s.id for s in sessions.unindexed(tx, ["s2", "s1", "nothing"])] == ["s1"]


def test_ids_in_any_script_with_slashes_and_quotes_are_kept(app: Database) -> None:
    name = "组/一'; --\"€"
    accept(app, said("hello", session=name, user="Zoë"))
    with app.tenant(TENANT) as tx:
        assert sessions.get(tx, name).user_id == "Zoë"
