"""A group that is erased is in no table any more; what its members have elsewhere stays."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from uuid import uuid4

from sqlalchemy import text

from core.config import Settings
from core.memory.changes import Derive, Owner, Part
from core.storage import tables
from core.storage.db import Database
from core.transfer.restoring.restorer import Restorer
from core.types import Category, DispatchStatus, Evidence, Json
from rules.registry import store
from tests.core.changing import Bench, an_add
from tests.core.documents.samples import kept as put
from tests.core.erasing import ECHOES, group_erased, holding, names_forgotten, rows, told
from tests.core.transfer.restoring import contexts
from tests.core.transfer.rich import archive_of
from tests.doors import OTHER
from tests.factories import a_candidate, carry_out
from tests.rules.samples import a_document
from tests.samples import NOON, TENANT, accept, accept_all, ended, event, said
from tests.works import Works
from workers.dispatch import insertion, model

GROUP = "crew-7f3a9c"


def _spoken(word: str, group: str = GROUP) -> list[Json]:
    """What two members said to the group, one of them also to a part of it, and in a session of another."""
    place = word.capitalize()
    return [
        said(f"I live in {place}.", session="s-crew", user="ada", id="a1", message_id="a1", group_id=group),
        said(f"I work at {place}.", session="s-crew", user="bob", id="b1", message_id="b1", group_id=group),
        said(
            f"My phone number is at {place}, I keep bees.",
            session="s-crew",
            user="ada",
            id="a2",
            message_id="a2",
            group_id=group,
            audience=["ada", "bob"],
        ),
        ended("s-crew", "ada", message_count=3, id="crew-end", group_id=group),
        said("I play chess.", session="s-mixed", user="bob", id="b2", message_id="b2"),
        said(f"I moved to {place}.", session="s-mixed", user="bob", id="b3", message_id="b3", group_id=group),
        said("I drink tea.", session="s-mixed", user="bob", id="b4", message_id="b4"),
        ended("s-mixed", "bob", message_count=3, id="mixed-end"),
    ]


def _elsewhere() -> list[Json]:
    """What members said outside of the group, and another group."""
    return [
        said("I collect stamps.", session="s-own", user="ada", id="o1", message_id="o1"),
        said("I play the cello.", session="s-own", user="ada", id="o2", message_id="o2"),
        ended("s-own", "ada", message_count=3, id="own-end"),
        said("I like sailing.", session="s-club", user="bob", id="o3", message_id="o3", group_id="club"),
        ended("s-club", "bob", message_count=3, id="club-end", group_id="club"),
    ]


def _lived(app: Database, works: Works, settings: Settings, word: str, group: str = GROUP) -> None:
    """A group that has left a word in every table that can hold it."""
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, a_document(**ECHOES), author="test")
    accept_all(app, _spoken(word, group))
    works.settle()
    carry_out(app, an_add(f"Something of {word}.", importance=0.9), owner=Owner("ada", group))
    for owner in ({"group_id": group}, {"group_id": group, "user_id": "bob"}):
        put(app, settings, f"# Plan\n\nAll about {word}.", uri=f"file:{word}-{len(owner)}", **owner)
    accept_all(app, [event("order.placed", {"user_id": "ada", "group_id": group, "word": word})])
    works.settle()
    with app.tenant(TENANT) as tx:
        values = {"t": TENANT, "g": group, "w": word, "id": uuid4(), "at": NOON}
        for statement in BY_HAND.split(";\n"):
            tx.execute(text(statement), values)
        letter = {"user_id": "ada", "group_id": group, "content": word}
        insertion.insert(tx, [_letter(json.dumps(letter, separators=(",", ":"))[:-1])], resend_s=0)


def _letter(body: str) -> model.NewDispatch:
    """What came over the bus and is no JSON."""
    return model.NewDispatch(
        tenant_id=TENANT,
        action_type="accept",
        target="bus",
        queue="io",
        params={"body": body},
        event_seq=None,
        root_seq=0,
        correlation_id="",
        hop=0,
        status=DispatchStatus.DEAD,
        error="It is no JSON.",
    )


BY_HAND = """
    INSERT INTO profiles VALUES (:t, 'group:' || :g, 1, jsonb_build_object('city', cast(:w AS text)))
        ON CONFLICT DO NOTHING;
    INSERT INTO profiles VALUES (:t, 'user:ada', 1, jsonb_build_object('city', cast(:w AS text)))
        ON CONFLICT DO NOTHING;
    INSERT INTO notices (tenant_id, id, channel, digest, text, user_id, event_id, due_at)
        SELECT :t, :id, 'log', 'd', :w, 'ada', id, :at FROM events WHERE id = 'a1';
    INSERT INTO bulk_jobs (tenant_id, id, asked, action, status, params, chosen)
        VALUES (:t, :id, 'd', 'archive', 'done', jsonb_build_object('reason', cast(:w AS text)),
                jsonb_build_object('group_id', cast(:g AS text)));
    INSERT INTO imports (tenant_id, id, user_id, group_id, status, size, report)
        VALUES (:t, :id, 'ada', :g, 'done', 1, jsonb_build_object('file', cast(:w AS text)));
    INSERT INTO import_parts (tenant_id, import_id, number, data) VALUES (:t, :id, 0, convert_to(:w, 'UTF8'));
    INSERT INTO import_places (tenant_id, import_id, file, session_id, ordinal, ref)
        VALUES (:t, :id, 'messages', 's-crew', 1, 'a1');
    INSERT INTO replay_decisions (tenant_id, replay_id, event_seq, rule, version, verdict)
        SELECT :t, :id, seq, 'r', 1, 'fired' FROM events WHERE session_id = 's-crew';
    INSERT INTO verdicts (tenant_id, id, user_id, group_id, kind, reason, candidate)
        VALUES (:t, :id, 'ada', :g, 'ignore', :w, jsonb_build_object('content', cast(:w AS text)));
    INSERT INTO working (tenant_id, session_id, key, value) VALUES (:t, 's-crew', 'k', to_jsonb(cast(:w AS text)));
    INSERT INTO plans (tenant_id, session_id, id, user_id, group_id, goal, status, event_id, event_seq)
        VALUES (:t, 's-crew', 'p', 'ada', :g, :w, 'open', 'a1', 1);
    UPDATE sessions SET state = jsonb_build_object('word', cast(:w AS text)) WHERE id IN ('s-crew', 's-mixed');
    UPDATE dispatches SET error = :w WHERE event_seq IN (SELECT seq FROM events WHERE session_id = 's-crew');
    INSERT INTO model_calls (tenant_id, dispatch_id, model, prompt, outcome, answer)
        SELECT :t, id, 'm', 'p', 'unusable', :w FROM dispatches
        WHERE event_seq IN (SELECT seq FROM events WHERE session_id = 's-crew') LIMIT 1
"""


def _standing(app: Database, query: str = "t.tenant_id IS NOT NULL", tenant: str = TENANT) -> dict[str, list[str]]:
    """The rows of all tables."""
    with app.tenant(tenant) as tx:
        return {
            table.name: list(tx.execute(text(f"SELECT t::text FROM {table.name} t WHERE {query} ORDER BY 1")).scalars())
            for table in tables.TENANT_TABLES
        }


def test_a_group_is_in_no_table_any_more(app: Database, works: Works, settings: Settings, unique: str) -> None:
    _lived(app, works, settings, unique)
    found = holding(app, unique)
    assert {"messages", "memories", "documents", "passages", "events", "flows", "units", "imports"} <= set(found)
    done = group_erased(app, GROUP)
    assert holding(app, unique) == []
    assert set(holding(app, GROUP)) == {"events"}, "group.erased says whose agents have to follow"
    assert (done.tombstones, done.group_id, set(done.owners)) == (1, GROUP, {"ada", "bob"})
    works.settle()
    assert told(app, "group.erased") == [{"group_id": GROUP}]
    assert names_forgotten(app) == 1
    assert holding(app, GROUP) == []
    assert holding(app, unique) == []


def test_what_members_have_elsewhere_stays(app: Database, works: Works, settings: Settings, unique: str) -> None:
    accept_all(app, _elsewhere())
    works.settle()
    before = {name: set(found) for name, found in _standing(app).items()}
    _lived(app, works, settings, unique)
    group_erased(app, GROUP)
    after = {name: set(found) for name, found in _standing(app).items()}
    for name in "messages sessions memories memory_versions evidence units events dispatches search_index".split():
        assert before[name] <= after[name], name
    spoken = {row.content for row in rows(app, "SELECT content FROM messages WHERE content <> ''")}
    assert spoken == {"I collect stamps.", "I play the cello.", "I like sailing.", "I play chess.", "I drink tea."}
    assert [row.id for row in rows(app, "SELECT id FROM owners ORDER BY kind, id")] == ["club", "ada", "bob"]


def test_in_a_session_with_others_only_what_was_said_to_the_group_goes(
    app: Database, works: Works, settings: Settings, unique: str
) -> None:
    accept_all(app, _spoken(unique))
    works.settle()
    group_erased(app, GROUP)
    stands = rows(app, "SELECT position, user_id, group_id, content FROM messages ORDER BY position")
    assert [tuple(row) for row in stands] == [
        (1, "bob", None, "I play chess."),
        (2, "", None, ""),
        (3, "bob", None, "I drink tea."),
    ]
    assert [row.id for row in rows(app, "SELECT id FROM sessions")] == ["s-mixed"]
    indexed = rows(app, "SELECT ref FROM search_index WHERE type = 'message' ORDER BY position")
    assert [row.ref for row in indexed] == ["b2", "b4"]


def test_the_members_counts_of_terms_stand_as_if_nothing_had_been_said(
    app: Database, works: Works, settings: Settings, unique: str
) -> None:
    counts = "SELECT owner, term, documents FROM term_counts ORDER BY owner, term"
    accept_all(app, _elsewhere())
    works.settle()
    before = rows(app, counts)
    accept_all(app, [one for one in _spoken(unique) if one["payload"]["session_id"] == "s-crew"])
    put(app, settings, f"All about {unique}.", group_id=GROUP, user_id="bob")
    works.settle()
    assert rows(app, counts) != before
    group_erased(app, GROUP)
    assert rows(app, counts) == before


def test_a_members_memory_loses_its_quotes_of_the_group_and_goes_if_it_rests_on_them(
    app: Database, unique: str
) -> None:
    accept_all(app, _spoken(unique))
    here, there = Evidence("s-crew", "b1", "b1", f"Chess? {unique}!"), Evidence("s-mixed", "b2", "b2", "I play chess.")
    both = an_add("Bob plays chess.", subject="bob", evidence=(here, there))
    alone = an_add(f"Bob knows {unique}.", 1, subject="bob", evidence=(here,))
    bench = Bench(app, "bob")
    bench.apply(both, alone)
    group_erased(app, GROUP)
    assert holding(app, unique) == []
    assert [row.id for row in bench.rows("active")] == [both.id]
    assert bench.quotes(both.id) == ["b2"]
    assert str(alone.id) in {one for payload in told(app, "memory.erased") for one in payload["memory_ids"]}


def test_what_was_derived_from_memories_of_the_group_goes(app: Database, unique: str) -> None:
    part = an_add(f"Ada keeps {unique}.")
    carry_out(app, part, owner=Owner("ada", GROUP))
    drawn = Derive(a_candidate(f"They keep {unique}.", category=Category.PATTERN), [Part(part.id, 1)], "drawn")
    Bench(app, "bob").apply(drawn)
    group_erased(app, GROUP)
    assert holding(app, unique) == []


def test_feedback_on_a_memory_of_the_group_that_does_not_name_it_loses_its_words(
    app: Database, works: Works, unique: str
) -> None:
    add = an_add("Ada keeps bees.")
    carry_out(app, add, owner=Owner("ada", GROUP))
    feedback = {"user_id": "ada", "memory_id": str(add.id), "verdict": "confirm", "comment": unique}
    accept(app, event("feedback.given", feedback, time=datetime.now(UTC).isoformat()))
    works.settle()
    group_erased(app, GROUP)
    assert holding(app, unique) == []


def test_a_user_and_a_group_of_another_tenant_with_the_same_name_stay(
    app: Database, works: Works, settings: Settings, unique: str
) -> None:
    accept_all(app, _spoken("elsewhere"), tenant=OTHER)
    accept(app, said("I play chess.", session="s-named", user=GROUP))
    works.settle()
    others, named = _standing(app, tenant=OTHER), _standing(app, "strpos(t::text, 's-named') > 0")
    _lived(app, works, settings, unique)
    group_erased(app, GROUP)
    assert _standing(app, tenant=OTHER) == others
    after = _standing(app, "strpos(t::text, 's-named') > 0")
    assert after["messages"] == named["messages"]
    assert after["sessions"] == named["sessions"]
    assert [row.id for row in rows(app, "SELECT id FROM owners WHERE kind = 'user' ORDER BY id")] == [
        "ada",
        "bob",
        GROUP,
    ]


def test_erasing_again_finds_nothing_and_says_nothing(app: Database, works: Works, unique: str) -> None:
    accept_all(app, _spoken(unique))
    works.settle()
    assert group_erased(app, GROUP).counts["messages"] == 4
    works.settle()
    assert not group_erased(app, GROUP).counts
    assert len(told(app, "group.erased")) == 1


def test_what_was_said_before_teaches_nothing_when_it_is_delivered_again(app: Database, works: Works) -> None:
    accept_all(app, [one for one in _spoken("Porto") if one["payload"]["session_id"] == "s-crew"])
    group_erased(app, GROUP)
    accept_all(app, [one for one in _spoken("Porto") if one["payload"]["session_id"] == "s-crew"])
    works.settle()
    assert rows(app, "SELECT FROM memories WHERE category <> 'episode'") == []


def test_a_group_that_was_erased_begins_anew(app: Database, works: Works, unique: str) -> None:
    accept_all(app, _spoken(unique))
    group_erased(app, GROUP)
    later = {"time": "2999-01-01T00:00:00+00:00", "session": "s9", "group_id": GROUP}
    accept(app, said("I live in Porto.", **later), ended("s9", message_count=3, group_id=GROUP))
    works.settle()
    assert [row.value for row in rows(app, "SELECT value FROM memories WHERE status = 'active' AND value <> ''")] == [
        "Porto"
    ]


def test_an_archive_of_a_member_restores_nothing_of_an_erased_group(
    app: Database, works: Works, settings: Settings, unique: str
) -> None:
    accept_all(app, [*_spoken(unique), *_elsewhere()])
    works.settle()
    archive = archive_of(app)
    group_erased(app, GROUP)
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM messages WHERE session_id = 's-own'"))
    Restorer(*contexts.begun(app, settings, archive)).run(lambda: True)
    assert rows(app, "SELECT FROM messages WHERE group_id = :g", g=GROUP) == []
    assert rows(app, "SELECT FROM memories WHERE group_id = :g", g=GROUP) == []
    found = rows(app, "SELECT content FROM messages WHERE session_id = 's-own' ORDER BY position")
    assert [row.content for row in found] == ["I collect stamps.", "I play the cello."]


def test_who_said_nothing_else_in_a_session_takes_part_no_longer(app: Database, unique: str) -> None:
    accept_all(
        app,
        [
            said("I play chess.", session="s-mixed", user="bob"),
            said(f"I moved to {unique}.", session="s-mixed", user="bob", group_id=GROUP),
            said(f"I keep {unique}.", session="s-mixed", user="ada", group_id=GROUP),
        ],
    )
    group_erased(app, GROUP)
    assert [row.user_id for row in rows(app, "SELECT user_id FROM participants")] == ["bob"]


def test_a_group_whose_id_is_longer_than_what_is_indexed_is_told_from_others(app: Database, unique: str) -> None:
    """The log of events that nobody checks may name any group."""
    ids = [f"{'g' * 200}{end}" for end in ("one", "two")]
    accept_all(app, [event("order.placed", {"group_id": name, "word": unique}) for name in ids])
    assert group_erased(app, ids[0]).counts["events"] == 1
    assert [
        row.payload["group_id"] for row in rows(app, "SELECT payload FROM events WHERE event_type = 'order.placed'")
    ] == [ids[1]]
