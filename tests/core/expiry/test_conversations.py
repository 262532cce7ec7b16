"""A conversation leaves when its time is over and its work is done; what was learnt from it stays."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from core.config import Settings
from core.erasure import session as erasure_session
from core.erasure import user as erasure_user
from core.events.publishing import Author
from core.expiry import conversations
from core.sessions import sessions
from core.storage.db import Database
from rules.registry import store
from tests.core.erasing import ECHOES, a_word, holding, rows
from tests.core.expiry.sweeping import choose, swept
from tests.rules.samples import a_document
from tests.samples import TENANT, accept, accept_all, ended, event, said
from tests.works import Works

AUTHOR = Author("key:test")


@pytest.fixture(autouse=True)
def plain(settings: Settings, app: Database) -> None:
    """No episodes, which retell a conversation as a memory; an event of the service repeats each message."""
    with app.tenant(TENANT) as tx:
        store.delete(tx, TENANT, "write_episodes", author="test")
        store.save(tx, TENANT, a_document(**ECHOES), author="test")


def ago(days: float) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).isoformat()


def talked(app: Database, word: str, session: str = "s1", *, days: float = 5, **started: Any) -> None:
    """A conversation of which the first message is worth a memory, and all of them hold the word."""
    owned, at = {"session_id": session, "user_id": "ada"}, ago(days)
    found = owned | {"content": f"{word} {word}", "tool_name": "web", "message_id": "t1"}
    accept_all(
        app,
        [
            event("session.started", owned | {"state": {"topic": word}} | started, time=at),
            said("I live in Lisbon.", session=session, message_id="m1", metadata={"x": word}, time=at),
            said(f"hm, and {word}?", session=session, message_id="m2", time=at),
            said(f"{word}, as you say", session=session, message_id="m3", role="assistant", time=at),
            said(f"again {word}", session=session, message_id="m3", role="assistant", time=at),
            event("tool.result.added", found, time=at),
            event("plan.updated", owned | {"plan": [f"find {word}"]}, time=at),
        ],
    )


def finished(app: Database, works: Works, word: str, session: str = "s1", *, days: float = 5, **started: Any) -> None:
    talked(app, word, session, days=days, **started)
    accept(app, ended(session, time=ago(days)))
    works.settle()


def lisbon(app: Database) -> list[Any]:
    """The active memory that was learnt, with its quotes."""
    return rows(
        app,
        "SELECT m.content, e.quote FROM memories m JOIN evidence e ON e.memory_id = m.id "
        "WHERE m.status = 'active' AND m.content LIKE '%Lisbon%'",
    )


def test_without_a_choice_nothing_leaves(app: Database, works: Works) -> None:
    word = a_word()
    finished(app, works, word)
    before = holding(app, word)
    assert swept(app) == {}
    assert holding(app, word) == before


@pytest.mark.parametrize("chosen", [{}, {"sessions_days": 0}, {"messages_days": 1}])
@pytest.mark.parametrize("quotes", ["keep", "drop"])
def test_a_conversation_leaves_no_word_behind_and_its_memories_stay(
    app: Database, works: Works, chosen: dict[str, int], quotes: str
) -> None:
    word = a_word()
    finished(app, works, word, **({} if chosen else {"keep_days": 0}))
    assert {"messages", "events", "units", "plans", "sessions", "dispatches"} <= set(holding(app, word))
    choose(app, **chosen, quotes=quotes)
    assert swept(app) == Counter(messages=3, tool_results=1, sessions=1)
    ((_, quote),) = lisbon(app)
    assert bool(quote) is (quotes == "keep")
    assert not holding(app, word)
    assert swept(app) == {}
    assert not rows(app, "SELECT FROM tombstones") + rows(app, "SELECT FROM receipts")


def test_the_row_of_a_session_leaves_by_the_time_for_sessions_alone(app: Database, works: Works) -> None:
    finished(app, works, a_word(), keep_days=0)
    swept(app)
    ((row,),) = rows(app, "SELECT (message_count, extracted_to, indexed_to, keep_days)::text FROM sessions")
    assert row == "(4,4,4,0)"
    choose(app, sessions_days=1)
    assert swept(app)["sessions"] == 1
    assert not rows(app, "SELECT FROM sessions")


def test_a_session_keeps_what_is_young(app: Database, works: Works) -> None:
    word = a_word()
    finished(app, works, word, days=0.01, keep_days=1)
    choose(app, messages_days=1, sessions_days=1)
    before = holding(app, word)
    assert swept(app) == {}
    assert holding(app, word) == before


def test_an_own_time_shortens_that_of_the_tenant_and_never_lengthens_it(app: Database, works: Works) -> None:
    finished(app, works, a_word(), "short", keep_days=2)
    finished(app, works, a_word(), "long", keep_days=300)
    choose(app, messages_days=30)
    swept(app)
    assert {row.session_id for row in rows(app, "SELECT session_id FROM messages")} == {"long"}
    choose(app, messages_days=3)
    swept(app)
    assert not rows(app, "SELECT FROM messages")


def test_of_a_session_that_goes_on_the_old_messages_lose_their_words_and_keep_their_places(
    app: Database, works: Works
) -> None:
    word = a_word()
    talked(app, word)
    works.settle()
    accept(app, said("and what about Ulm?", message_id="m9", time=ago(0.01)))
    works.settle()
    choose(app, messages_days=2)
    assert swept(app) == Counter(messages=3, tool_results=1)
    with app.tenant(TENANT) as tx:
        left = [(m.position, m.id, m.content) for m in sessions.transcript(tx, "s1")]
    assert left == [(1, "m1", ""), (2, "m2", ""), (3, "m3", ""), (4, "t1", ""), (5, "m9", "and what about Ulm?")]
    assert set(holding(app, word)) == {"sessions", "events", "plans"}
    assert not rows(app, "SELECT FROM units WHERE narrative LIKE :w", w=f"%{word}%")
    assert rows(app, "SELECT FROM units WHERE narrative LIKE '%Ulm%'")
    assert [row.ref for row in rows(app, "SELECT ref FROM search_index WHERE type = 'message'")] == ["m9"]
    assert swept(app) == {}


def test_results_of_tools_may_leave_before_the_rest(app: Database, works: Works) -> None:
    finished(app, works, a_word())
    choose(app, messages_days=30, tool_results_days=2)
    assert swept(app) == Counter(tool_results=1)
    left = rows(app, "SELECT id FROM messages WHERE content <> '' ORDER BY position")
    assert [row.id for row in left] == ["m1", "m2", "m3"]
    assert swept(app) == {}


def test_nothing_leaves_while_there_is_work_on_it(app: Database, works: Works) -> None:
    word = a_word()
    talked(app, word, keep_days=0)
    accept(app, ended(time=ago(5)))
    before = holding(app, word)
    assert swept(app) == {}
    assert holding(app, word) == before
    works.settle(flush=False)
    early = swept(app)  # On a slow machine a debounce may have ended by itself, and then the work is done.
    assert early == {} or lisbon(app)
    works.settle()
    assert (early + swept(app))["messages"] == 3
    assert lisbon(app)


@pytest.mark.parametrize("status", ["dead", "held", "retrying"])
def test_a_dispatch_that_has_not_succeeded_holds_its_conversation(app: Database, works: Works, status: str) -> None:
    finished(app, works, a_word(), keep_days=0)
    hinder = """
        UPDATE dispatches SET status = :status, ended_at = CASE WHEN :status = 'dead' THEN now() END
        WHERE target = 'memory_consolidator'
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(hinder), {"status": status})
    assert swept(app) == {}
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET status = 'done', ended_at = now() WHERE status = :s"), {"s": status})
    assert swept(app)["messages"] == 3


def test_a_wait_of_a_rule_holds_its_conversation(app: Database, works: Works) -> None:
    finished(app, works, a_word(), keep_days=0)
    wait = """
        INSERT INTO flows (tenant_id, rule, kind, key, version, gathered, event_seqs, root_seq, opened_at, due_at)
        SELECT tenant_id, 'r', 'debounce', 'k', 1, 1, ARRAY[event_seq], event_seq, now(), now() + interval '1 hour'
        FROM messages WHERE id = 'm2'
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(wait))
    assert swept(app) == {}
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM flows"))
    assert swept(app)["messages"] == 3


def test_what_nothing_has_read_yet_stays_while_its_session_is_open(app: Database) -> None:
    talked(app, a_word())
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE events SET routed_at = now()"))
    choose(app, messages_days=1)
    assert swept(app) == {}
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE sessions SET extracted_to = 2, indexed_to = 4"))
    assert swept(app) == Counter(messages=2)


def test_a_message_that_comes_after_the_end_leaves_as_well(app: Database, works: Works) -> None:
    finished(app, works, a_word(), keep_days=0)
    swept(app)
    word = a_word()
    accept(app, said(f"late {word}", message_id="late", time=ago(6)))
    works.settle()
    assert "messages" in holding(app, word)
    assert swept(app) == Counter(messages=1, sessions=1)
    assert not holding(app, word)


def test_a_repeat_of_what_has_left_is_still_a_repeat(app: Database, works: Works) -> None:
    repeated = said("I live in Lisbon.", id="e1", message_id="m1", time=ago(5))
    accept_all(app, [repeated, ended(time=ago(5))])
    works.settle()
    choose(app, messages_days=1)
    swept(app)
    with app.tenant(TENANT) as tx:
        assert sessions.get(tx, "s1").message_count == 1
    assert accept(app, repeated).duplicates == 1
    works.settle()
    assert not rows(app, "SELECT FROM messages")


def test_a_long_conversation_leaves_page_by_page(app: Database, works: Works, monkeypatch: pytest.MonkeyPatch) -> None:
    word = a_word()
    accept_all(app, [said(f"{word} {n}", message_id=f"m{n}", time=ago(5)) for n in range(25)])
    accept(app, ended(time=ago(5)))
    works.settle()
    monkeypatch.setattr(conversations, "MESSAGES", 10)
    monkeypatch.setattr(conversations, "EVENTS", 7)
    choose(app, sessions_days=1)
    assert swept(app) == Counter(messages=25, sessions=1)
    assert not holding(app, word)


def test_more_sessions_than_a_page_leave_and_one_that_is_held_hinders_none(app: Database, works: Works) -> None:
    words = [a_word() for _ in range(45)]
    for place, word in enumerate(words):
        accept_all(app, [said(word, session=f"s{place}", time=ago(5)), ended(f"s{place}", time=ago(5 + place / 100))])
    works.settle()
    with app.tenant(TENANT) as tx:
        held = """
            UPDATE dispatches SET status = 'dead' WHERE target = 'memory_extractor' AND event_seq IN (
                SELECT seq FROM events WHERE session_id = 's44')
        """
        tx.execute(text(held))
    choose(app, sessions_days=1)
    assert swept(app)["sessions"] == 44
    assert [row.id for row in rows(app, "SELECT id FROM sessions")] == ["s44"]


def test_the_other_tenant_keeps_everything(app: Database, works: Works) -> None:
    finished(app, works, a_word(), keep_days=0)
    accept_all(app, [said("hello", time=ago(5)), ended(time=ago(5))], tenant="other")
    with app.tenant("other") as tx:
        tx.execute(text("UPDATE events SET routed_at = now()"))
        tx.execute(text("UPDATE sessions SET extracted_to = 1, indexed_to = 1"))
    choose(app, sessions_days=0, messages_days=1)
    assert swept(app)["messages"] == 3
    assert swept(app, "other") == {}
    with app.tenant("other") as tx:
        assert tx.execute(text("SELECT content FROM messages")).scalar_one() == "hello"
    choose(app, "other", messages_days=1)
    assert swept(app, "other")["messages"] == 1


def test_words_that_anothers_memory_cites_can_still_be_erased_with_their_speaker(
    app: Database, works: Works, settings: Settings
) -> None:
    word = a_word()
    accept_all(app, [said(f"Bo lives in {word}.", user="ada", time=ago(5)), ended(time=ago(5))])
    works.settle()
    memory = uuid4()
    cite = """
        INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, trust,
                              status, occurred_at)
        VALUES (:t, :id, 'bo', 'bo', 'semantic', 'fact', 'personal', :c, 'k', 'confirmed', 'active', now());
        INSERT INTO evidence (tenant_id, memory_id, session_id, message_id, event_id, quote)
        SELECT :t, :id, session_id, id, event_id, content FROM messages
    """
    with app.tenant(TENANT) as tx:
        for statement in cite.split(";\n"):
            tx.execute(text(statement), {"t": TENANT, "id": memory, "c": f"Bo lives in {word}."})
    choose(app, sessions_days=1)
    assert swept(app)["messages"] == 1
    assert swept(app) == {}
    assert [row.content for row in rows(app, "SELECT content FROM messages")] == [""]
    with app.tenant(TENANT) as tx:
        erasure_user.erase(tx, TENANT, "ada", AUTHOR, settings)
    works.settle()
    assert not holding(app, word)


def test_what_has_left_can_still_be_erased_as_a_session(app: Database, works: Works) -> None:
    word = a_word()
    finished(app, works, word, keep_days=0)
    swept(app)
    with app.tenant(TENANT) as tx:
        erasure_session.erase(tx, TENANT, "s1", AUTHOR)
    works.settle()
    assert not holding(app, word)
    assert lisbon(app)
