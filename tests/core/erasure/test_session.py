"""Of a session that was erased no word is left, but for what was learnt from it."""

from __future__ import annotations

import json
from collections import Counter
from uuid import uuid4

import pytest
from sqlalchemy import text

from core.config import Settings
from core.erasure import session as erasure_session
from core.errors import NotFound
from core.events import log
from core.events.publishing import Author
from core.memory.changes import Confirm
from core.sessions import hidden_messages, sessions, working_memory
from core.storage.db import Database
from core.types import Category, Evidence
from rules.registry import store
from tests.core.changing import Bench, an_add
from tests.core.erasing import ECHOES, a_word, holding, rows, told
from tests.doors import OTHER, key_of
from tests.factories import a_candidate
from tests.rules.samples import a_document
from tests.samples import TENANT, accept, accept_all, ended, event, said
from tests.works import Works

AUTHOR = Author("key:test")


def erased(app: Database, session: str = "s1") -> Counter[str]:
    with app.tenant(TENANT) as tx:
        return erasure_session.erase(tx, TENANT, session, AUTHOR)


def lived(app: Database, works: Works, word: str, session: str = "s1") -> None:
    """A session that has left a word in every table that can hold it, and from which nothing was learnt."""
    with app.tenant(TENANT) as tx:
        if all(one.document["name"] != "echoes" for one in store.in_force(tx)):
            store.save(tx, TENANT, a_document(**ECHOES), author="test")
    owned = {"session_id": session, "user_id": "ada"}
    talk = [
        event("session.started", owned | {"state": {"topic": word}}),
        said(f"what about the {word}?", session=session, message_id="m1", tags=[word], metadata={"x": word}),
        said(word, session=session, message_id="m2", role="assistant"),
        said(word, session=session, message_id="m1"),
        event("tool.result.added", owned | {"content": f"{word} {word}", "tool_name": "web", "message_id": "t1"}),
        event("order.placed", owned | {"what": word}),
    ]
    accept_all(app, talk)
    with app.tenant(TENANT) as tx:
        working_memory.put(tx, TENANT, session, "k", {"note": word})
        hidden_messages.hide(tx, TENANT, session, "m1", AUTHOR, reason=f"too much {word}")
    works.settle()


def by_hand(app: Database, word: str) -> None:
    """What other parts of the service write down of a session."""
    shadow = f"rebuild-{uuid4().hex}"
    cited = [{"session_id": "s1", "message_id": "m1", "event_id": "e1", "quote": word}]
    said_of = {"content": word, "evidence": cited}
    values = {"t": TENANT, "w": word, "id": uuid4(), "shadow": shadow, "said": json.dumps(said_of)}
    home = an_add("Ada lives in a house.", evidence=(Evidence("s1", "m1", "e1", word),))
    Bench(app, "ada").apply(home)
    values |= {"memory": home.id, "cited": json.dumps({"withdrawn": {"evidence": cited}})}
    with app.tenant(TENANT) as tx:
        for statement in BY_HAND.split(";\n"):
            tx.execute(text(statement), values)
    with app.tenant(shadow) as tx:
        tx.execute(text("INSERT INTO tenants (id) VALUES (:shadow)"), values)
        tx.execute(text("INSERT INTO profiles (tenant_id, owner, version) VALUES (:shadow, :w, 1)"), values)


BY_HAND = """
    INSERT INTO units (tenant_id, id, session_id, from_position, to_position, boundary, subject, summary, narrative,
                       started_at, ended_at) VALUES (:t, :id, 's1', 901, 902, 'start', :w, :w, :w, now(), now());
    INSERT INTO summaries (tenant_id, session_id, to_position, content) VALUES (:t, 's1', 2, :w);
    INSERT INTO plans (tenant_id, session_id, id, user_id, goal, status, event_id, event_seq)
        VALUES (:t, 's1', 'p', 'ada', :w, 'open', 'e', 1);
    INSERT INTO rebuilds (tenant_id, id, user_id, shadow_id, status, difference)
        VALUES (:t, :id, 'ada', :shadow, 'ready', jsonb_build_object('added', cast(:w AS text)));
    INSERT INTO verdicts (tenant_id, id, user_id, kind, reason, candidate)
        VALUES (:t, :id, 'ada', 'ignore', :w, cast(:said AS jsonb));
    INSERT INTO verdicts (tenant_id, id, user_id, kind, reason, memory_id, candidate)
        VALUES (:t, gen_random_uuid(), 'ada', 'confirm', 'same', :memory, cast(:said AS jsonb) - 'content');
    UPDATE memory_versions SET snapshot = snapshot || cast(:cited AS jsonb) WHERE memory_id = :memory;
    INSERT INTO notices (tenant_id, id, channel, digest, text, event_id, due_at)
        SELECT :t, :id, 'log', 'd', :w, id, now() FROM events WHERE event_type = 'order.placed' LIMIT 1;
    UPDATE dispatches SET error = :w WHERE event_seq IN (SELECT seq FROM events WHERE session_id = 's1');
    INSERT INTO model_calls (tenant_id, dispatch_id, model, prompt, outcome, answer)
        SELECT :t, id, 'm', 'p', 'unusable', :w FROM dispatches
        WHERE event_seq IN (SELECT seq FROM events WHERE event_type = 'message.added') LIMIT 1
"""


def test_no_word_of_it_is_in_any_table_any_more(app: Database, works: Works, unique: str) -> None:
    lived(app, works, unique)
    by_hand(app, unique)
    before = set(holding(app, unique))
    assert before >= {"sessions", "messages", "working", "hidden_messages", "events", "dispatches", "flows"}
    assert before >= {
        "units",
        "summaries",
        "plans",
        "rebuilds",
        "verdicts",
        "memory_versions",
        "notices",
        "model_calls",
    }
    counts = erased(app)
    assert holding(app, unique) == []
    assert counts >= Counter(sessions=1, messages=3, working=1, hidden_messages=1, search_index=3)
    works.settle()
    assert holding(app, unique) == []
    assert rows(app, "SELECT FROM memories WHERE content = 'Ada lives in a house.' AND status = 'active'")
    (said_so,) = told(app, "session.erased")
    assert said_so == {"session_id": "s1", "user_id": "ada", "by": "key:test"}


def test_other_sessions_are_untouched(app: Database, works: Works, unique: str) -> None:
    other = a_word()
    lived(app, works, unique)
    lived(app, works, other, session="s2")
    tables = holding(app, other)
    counts = {table: rows(app, f"SELECT count(*) AS n FROM {table}")[0].n for table in ("messages", "search_index")}
    gone = erased(app)
    assert holding(app, other) == tables
    for table, count in counts.items():
        assert rows(app, f"SELECT count(*) AS n FROM {table}")[0].n == count - gone[table]


def test_what_was_learnt_stays_without_the_quotes(app: Database, works: Works, unique: str) -> None:
    accept(app, said(f"What of {unique}, that {unique}?", message_id="m1", id="e1"), said("Me too.", session="s2"))
    works.settle()
    quote = Evidence("s1", "m1", "e1", f"that {unique}")
    other = Evidence("s2", "m9", "e9", "a house")
    bench = Bench(app, "ada")
    home = an_add("Ada lives in a house.", evidence=(quote, other))
    bench.apply(home)
    known = bench.known(home.id)
    bench.apply(Confirm(known, a_candidate("Ada has a house.", evidence=(quote,)), "again"))
    erased(app)
    assert holding(app, unique) == []
    (memory,) = rows(app, "SELECT status, content FROM memories WHERE id = :id", id=home.id)
    assert (memory.status, memory.content) == ("active", "Ada lives in a house.")
    cited = rows(app, "SELECT session_id, quote FROM evidence WHERE memory_id = :id ORDER BY 1", id=home.id)
    assert [tuple(row) for row in cited] == [("s1", ""), ("s2", "a house")]
    asked = "SELECT candidate -> 'evidence' AS e FROM verdicts WHERE kind = 'confirm'"
    assert [one["quote"] for row in rows(app, asked) for one in row.e] == [""]


def test_episodes_of_it_go_with_it_and_those_of_others_stay(app: Database, works: Works, unique: str) -> None:
    accept(app, said("hello", message_id="m1"), said("hello", session="s2", message_id="m1"))
    works.settle()
    bench = Bench(app, "ada")
    mine = an_add(f"Ada told of {unique}.", category=Category.EPISODE, evidence=(Evidence("s1", "m1", "e1", "x"),))
    theirs = an_add("Ada told of a cat.", category=Category.EPISODE, evidence=(Evidence("s2", "m1", "e1", "x"),))
    bench.apply(mine, theirs)
    works.settle()
    erased(app)
    assert [row.id for row in rows(app, "SELECT id FROM memories WHERE category = 'episode'")] == [theirs.id]
    assert holding(app, unique) == []
    assert [one["memory_ids"] for one in told(app, "memory.erased")] == [[str(mine.id)]]


def test_extracted_facts_survive_and_episodes_do_not(app: Database, works: Works) -> None:
    """The whole way: what the rules make of a conversation, and what is left of it."""
    accept_all(
        app,
        [*(said(line) for line in ("I live in Lisbon.", "I work at Nokia.", "I play chess.")), ended(message_count=3)],
    )
    works.settle()
    facts = "SELECT content FROM memories WHERE status = 'active' AND category <> 'episode' ORDER BY id"
    before = [row.content for row in rows(app, facts)]
    assert before
    assert rows(app, "SELECT FROM memories WHERE category = 'episode'")
    erased(app)
    works.settle()
    assert [row.content for row in rows(app, facts)] == before
    assert rows(app, "SELECT FROM memories WHERE category = 'episode'") == []
    assert {row.quote for row in rows(app, "SELECT quote FROM evidence")} == {""}


def test_it_is_not_there_and_not_found_any_more(app: Database, works: Works, settings: Settings, unique: str) -> None:
    lived(app, works, unique)
    erased(app)
    with app.tenant(TENANT) as tx, pytest.raises(NotFound):
        sessions.get(tx, "s1")
    with pytest.raises(NotFound, match="There is no session"):
        erased(app)
    assert rows(app, "SELECT FROM search_index WHERE session_id = 's1'") == []
    assert rows(app, "SELECT FROM term_counts WHERE documents <= 0") == []


def test_the_words_of_the_other_sessions_count_as_if_it_had_never_been(app: Database, works: Works) -> None:
    accept(app, said("a red bicycle", session="s2"))
    works.settle()
    counted = "SELECT owner, term, documents FROM term_counts ORDER BY owner, term"
    before = rows(app, counted)
    accept(app, said("another red bicycle and a boat"), said("hello"))
    works.settle()
    assert rows(app, counted) != before
    erased(app)
    assert rows(app, counted) == before


def test_what_is_said_under_its_name_again_is_a_new_session(app: Database, works: Works, unique: str) -> None:
    lived(app, works, unique)
    erased(app)
    accept(app, said("hello again", message_id="m1"))
    works.settle()
    with app.tenant(TENANT) as tx:
        assert [(m.position, m.content) for m in sessions.transcript(tx, "s1")] == [(1, "hello again")]
        assert hidden_messages.hidden_ids(tx, "s1") == frozenset()
        assert sessions.get(tx, "s1").state == {}


def test_events_keep_their_place_so_that_a_repeat_is_one(app: Database, works: Works, unique: str) -> None:
    batch = [said(unique, id="e1"), said("more", id="e2")]
    accept_all(app, batch)
    erased(app)
    assert accept_all(app, batch).duplicates == 2
    assert holding(app, unique) == []
    with app.tenant(TENANT) as tx:
        assert log.get(tx, "e1").payload == {"session_id": "s1", "user_id": "ada", "erased": True}
        with pytest.raises(NotFound):
            sessions.get(tx, "s1")


def test_what_was_about_to_be_learnt_is_called_off(app: Database, works: Works, unique: str) -> None:
    accept_all(app, [said(f"I live in {unique.capitalize()}."), said("a"), said("b"), ended(message_count=3)])
    erased(app)
    works.settle()
    assert holding(app, unique) == []
    assert rows(app, "SELECT FROM memories") == []


def test_another_tenant_keeps_its_session_of_that_name(app: Database, settings: Settings, unique: str) -> None:
    key_of(settings, OTHER)
    accept(app, said(unique))
    accept(app, said(unique), tenant=OTHER)
    erased(app)
    with app.tenant(OTHER) as tx:
        assert [m.content for m in sessions.transcript(tx, "s1")] == [unique]
    assert holding(app, unique) == []
