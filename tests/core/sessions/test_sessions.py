from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as settings_of_hypothesis
from hypothesis import strategies as st
from sqlalchemy import text

from core.errors import NotFound
from core.events import log
from core.extraction import rule_extractor
from core.sessions import sessions
from core.storage.db import Database
from core.types import Json
from tests.core.sessions.spoken import resulted, spoken, stands, started
from tests.samples import TENANT, accept, accept_all, ended, event, said


def test_a_session_spans_from_its_earliest_to_its_latest_event_in_any_order(app: Database) -> None:
    accept(app, said("noon", time="2026-11-21T12:00:00Z"), said("morning", time="2026-11-21T08:00:00Z"))
    accept(app, said("before", time="2026-11-20T08:00:00Z"))
    with app.tenant(TENANT) as tx:
        session = sessions.get(tx, "s1")
    assert session.started_at == datetime(2026, 11, 20, 8, tzinfo=UTC)
    assert session.last_at == datetime(2026, 11, 21, 12, tzinfo=UTC)
    assert session.ended_at is None


def test_whoever_speaks_on_after_the_end_opens_the_session_again(app: Database) -> None:
    accept(app, said("hello"), ended())
    assert stands(app).ended_at == datetime(2026, 11, 21, 12, tzinfo=UTC)
    accept(app, said("one more thing", time="2026-11-22T12:00:00Z"))
    assert (stands(app).ended_at, stands(app).message_count) == (None, 2)
    accept(app, ended(time="2026-11-23T12:00:00Z"))
    assert stands(app).ended_at == datetime(2026, 11, 23, 12, tzinfo=UTC)
    accept(app, started(time="2026-11-24T12:00:00Z"))
    assert stands(app).ended_at is None


def test_what_was_said_before_the_end_and_comes_late_does_not_open_it(app: Database) -> None:
    accept(app, said("hello"), ended(time="2026-11-22T12:00:00Z"))
    accept(app, said("late", time="2026-11-22T11:59:59Z"))
    assert stands(app).ended_at == datetime(2026, 11, 22, 12, tzinfo=UTC)
    assert [m.content for m in spoken(app)] == ["hello", "late"]


def test_a_repeated_message_or_end_changes_nothing(app: Database) -> None:
    first = [said("hello", id="e1", message_id="m1"), ended(id="e2", time="2026-11-21T13:00:00Z")]
    accept_all(app, first)
    closed = stands(app)
    accept(app, said("hello", id="e3", message_id="m1", time="2026-11-21T13:00:00Z"))
    accept_all(app, first)
    assert stands(app) == closed
    accept(app, said("more", id="e4", time="2026-11-21T14:00:00Z"))
    open_again = stands(app)
    accept_all(app, first)
    assert stands(app) == open_again
    assert open_again.ended_at is None


@pytest.mark.parametrize(("order", "is_open"), [("said ended", False), ("ended said", True), ("ended started", True)])
def test_in_one_batch_the_last_word_decides(app: Database, order: str, is_open: bool) -> None:
    made = {"said": said("hi"), "ended": ended(), "started": started()}
    accept_all(app, [made[name] for name in order.split()])
    assert (stands(app).ended_at is None) is is_open


def test_the_same_message_twice_in_one_batch_is_one_and_the_first_counts(app: Database) -> None:
    accept(app, said("first", id="e1", message_id="m1"), said("second", id="e2", message_id="m1"), said("third"))
    assert [(m.content, m.position) for m in spoken(app)] == [("first", 1), ("third", 2)]
    assert stands(app).message_count == 2


def test_one_id_names_another_message_in_another_session(app: Database) -> None:
    accept(app, said("here", message_id="m1"), said("there", session="s2", message_id="m1"))
    assert [m.content for m in spoken(app) + spoken(app, "s2")] == ["here", "there"]


@given(
    batches=st.lists(
        st.lists(
            st.tuples(st.sampled_from(["said", "tool"]), st.sampled_from(["a", "b"]), st.sampled_from([None, *"123"])),
            max_size=6,
        ),
        max_size=5,
    )
)
@settings_of_hypothesis(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_positions_have_no_gaps_and_lengths_are_true_whatever_repeats(app: Database, batches: list[list[Any]]) -> None:
    one, other = uuid4().hex, uuid4().hex
    for batch in batches:
        makes = {"said": said, "tool": resulted}
        given_ = [
            makes[kind]("x y", session=one if where == "a" else other, **({"message_id": name} if name else {}))
            for kind, where, name in batch
        ]
        accept_all(app, given_)
        accept_all(app, given_)
    for place, session in (("a", one), ("b", other)):
        wanted = [name for batch in batches for _, where, name in batch if where == place]
        unnamed, named = wanted.count(None) * 2, len({name for name in wanted if name})
        with app.tenant(TENANT) as tx:
            found = sessions.transcript(tx, session, limit=1000)
            count = sessions.get(tx, session).message_count if wanted else 0
        assert [m.position for m in found] == list(range(1, unnamed + named + 1))
        assert count == len(found)


def test_from_what_a_tool_answers_nothing_is_learnt(app: Database) -> None:
    learnt = "I live in Lisbon. I am allergic to peanuts."
    accept(app, resulted(learnt, tool_name="web"), said(learnt, session="s2"))
    assert rule_extractor.extract(spoken(app)) == []
    assert rule_extractor.extract(spoken(app, "s2")) != []


def test_a_session_that_was_deleted_is_not_made_anew_by_a_repeat(app: Database) -> None:
    batch = [started(id="e0"), said("hello", id="e1"), ended(id="e2")]
    accept_all(app, batch)
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM messages"))
        tx.execute(text("DELETE FROM sessions"))
    accept_all(app, batch)
    with app.tenant(TENANT) as tx, pytest.raises(NotFound):
        sessions.get(tx, "s1")
    accept_all(app, [*batch, said("new", id="e3")])
    assert [m.content for m in spoken(app)] == ["new"]


def test_a_session_without_messages_outlives_a_repeat_of_its_start(app: Database) -> None:
    accept(app, started(id="e0"))
    before = stands(app)
    accept(app, started(id="e0"))
    assert stands(app) == before


def test_a_session_counts_messages_and_tokens_and_not_other_events(app: Database) -> None:
    accept(app, event("session.started", {"session_id": "s1", "user_id": "ada"}), said("four words are here"), ended())
    with app.tenant(TENANT) as tx:
        session = sessions.get(tx, "s1")
    assert session.message_count == 1
    assert session.token_count >= 4


def test_other_events_open_no_session(app: Database) -> None:
    accept(app, event("task.completed", {"session_id": "s9", "user_id": "ada"}))
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
        assert sessions.move_extraction_cursor(tx, "s1", old=0, new=3)
        assert not sessions.move_extraction_cursor(tx, "s1", old=0, new=4)
        assert sessions.move_index_cursors(tx, [("s1", 0, 4), ("nothing", 0, 1)]) == {"s1"}
        assert not sessions.move_index_cursors(tx, [("s1", 3, 4)])
        assert not sessions.move_index_cursors(tx, [])
        session = sessions.get(tx, "s1")
    assert (session.extracted_to, session.indexed_to) == (3, 4)


def test_what_is_not_indexed_is_told_for_the_sessions_asked(app: Database) -> None:
    accept(app, said("a"), said("b", session="s2"), said("c", session="s3"))
    with app.tenant(TENANT) as tx:
        sessions.move_index_cursors(tx, [("s2", 0, 1)])
        assert [s.id for s in sessions.find_unindexed(tx, ["s2", "s1", "nothing"])] == ["s1"]


def test_ids_in_any_script_with_slashes_and_quotes_are_kept(app: Database) -> None:
    name = "组/一'; --\"€"
    accept(app, said("hello", session=name, user="Zoë"))
    with app.tenant(TENANT) as tx:
        assert sessions.get(tx, name).user_id == "Zoë"


def ends(app: Database, session: str = "s1") -> list[Json]:
    with app.tenant(TENANT) as tx:
        found = log.find(tx, event_type="session.ended", session_id=session)
    return [event.payload for event in reversed(found)]


def test_an_end_without_a_count_is_given_the_sessions_own(app: Database) -> None:
    accept(app, said("One."))
    accept(app, said("Two."), said("Two.", id="m"), ended(id="e1"), said("Four."), ended(id="e2"))
    accept(app, said("Two.", id="m"), ended(id="e3"), ended(id="e4", message_count=None))
    assert [(end["message_count"], end["filled_in"]) for end in ends(app)] == [
        (3, ["message_count"]),
        (4, ["message_count"]),
        (4, ["message_count"]),
        (4, ["message_count"]),
    ]


def test_a_count_that_the_publisher_gave_stays(app: Database) -> None:
    accept(app, said("One."), ended(message_count=7), ended("empty", message_count=0), ended("silent"))
    assert ends(app) == [{"session_id": "s1", "user_id": "ada", "message_count": 7}]
    assert ends(app, "empty")[0]["message_count"] == 0
    assert ends(app, "silent")[0]["message_count"] == 0


def test_a_repeated_end_changes_nothing(app: Database) -> None:
    accept(app, said("One."), ended(id="e"))
    accept(app, said("Two."), ended(id="e"))
    assert [end["message_count"] for end in ends(app)] == [1]


def test_who_spoke_in_a_session_is_written_down_once(app: Database) -> None:
    accept(app, said("Hi."), said("Hello.", user="bob"), said("Psst.", user="eve", audience_labels=["secret"]))
    accept(app, said("Well?"), said("Bye.", session="s2", user="bob"), ended(user="mallory"))
    with app.tenant(TENANT) as tx:
        found = tx.execute(text("SELECT session_id, user_id FROM participants ORDER BY 1, 2")).all()
    assert [tuple(row) for row in found] == [("s1", "ada"), ("s1", "bob"), ("s1", "eve"), ("s2", "bob")]
