"""Restored memories are found at once, stand with their versions, and are recognised when they come again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

from sqlalchemy import text

from core.memory import memories, restoration, writer
from core.memory.restoration import COLUMNS, RestoredEvidence, RestoredMemory, RestoredVersion
from core.storage.db import Database
from core.types import Relation
from tests.factories import EMBEDDER, NOON, PERSON
from tests.samples import TENANT


def a_restored(content: str, **more: Any) -> RestoredMemory:
    fields: dict[str, Any] = {
        **dict.fromkeys(COLUMNS),
        "subject": "ada", "kind": "semantic", "category": "fact", "topic": "other", "content": content,
        "structured": {}, "importance": 0.5, "confidence": 0.7, "trust": "candidate", "status": "active",
        "occurred_at": NOON, "recorded_at": NOON, "updated_at": NOON, "uses": 0, "pinned": False, "tags": [],
        "version": 1, "level": 0, "audience_labels": [], **more,
    }  # fmt: skip
    first = RestoredVersion(1, "add", NOON, "memory_extractor", "r", "new", {"subject": "ada", "content": content})
    quote = RestoredEvidence(content, NOON, "s1", "m1", "e1")
    return RestoredMemory(uuid4(), fields, [first], [quote], EMBEDDER.embed([content])[0])


def restored(app: Database, *asked: RestoredMemory) -> None:
    with app.tenant(TENANT) as tx:
        writer.lock(tx, TENANT, "ada")
        restoration.restore(tx, TENANT, "ada", asked, {"import": "i1"}, PERSON)


def test_a_memory_stands_with_its_versions_its_evidence_and_its_place_in_the_index(app: Database) -> None:
    one = a_restored("Ada has a boat.")
    restored(app, one)
    with app.tenant(TENANT) as tx:
        row = memories.get(tx, one.id)
        (version,) = memories.history(tx, one.id)
        (cited,) = memories.evidence(tx, [one.id])[one.id]
        indexed = tx.execute(text("SELECT FROM search_index WHERE ref = :id"), {"id": str(one.id)}).all()
    assert (row.content, row.recorded_at, row.fade_at > NOON) == ("Ada has a boat.", NOON, True)
    assert (version.change, version.at, version.author["import"]) == ("add", NOON, "i1")
    assert (cited.session_id, cited.message_id, cited.quote) == ("s1", "m1", "Ada has a boat.")
    assert len(indexed) == 1


def test_one_that_is_archived_does_not_fade(app: Database) -> None:
    one = a_restored("Ada had a boat.", status="archived")
    restored(app, one)
    with app.tenant(TENANT) as tx:
        assert memories.get(tx, one.id).fade_at is None


def test_it_is_known_by_its_moment_and_by_what_it_says_or_said_first(app: Database) -> None:
    one = a_restored("Ada has a boat.", attribute="has.boat")
    restored(app, one)
    same, edited = a_restored("Ada has a boat."), a_restored("Ada has a boat.")
    edited = replace(edited, fields=edited.fields | {"content": "Ada has two boats."})
    later = a_restored("Ada has a boat.", recorded_at=NOON + timedelta(days=1))
    rival = a_restored("Ada sold it.", attribute="has.boat", recorded_at=NOON + timedelta(days=1))
    asked = [same, edited, later, rival]
    with app.tenant(TENANT) as tx:
        found = restoration.find(tx, "ada", asked)
        others = restoration.find(tx, "bob", asked)
    assert [list(found.same.get(memory.id, ())) for memory in asked] == [[one.id], [one.id], [], []]
    assert [list(found.stated.get(memory.id, ())) for memory in asked] == [[one.id], [], [one.id], []]
    assert [list(found.slot.get(memory.id, ())) for memory in asked] == [[], [], [], [one.id]]
    assert [dict(found) for found in (others.same, others.stated, others.slot)] == [{}, {}, {}]


def test_evidence_is_stored_once_also_that_of_a_request_which_has_another_id_each_time(app: Database) -> None:
    one = a_restored("Ada has a boat.")
    restored(app, one)
    asked = [RestoredEvidence("boat", NOON, message_id=name, event_id=name) for name in ("i1/0", "i2/0")]
    with app.tenant(TENANT) as tx:
        stored = [restoration.cite(tx, TENANT, {one.id: [*one.evidence, quote]}) for quote in asked]
    assert stored == [1, 0]


def test_a_relation_is_stored_once(app: Database) -> None:
    one, other = a_restored("Ada has a boat."), a_restored("The boat is red.")
    restored(app, one, other)
    with app.tenant(TENANT) as tx:
        asked = [(one.id, Relation.ABOUT, other.id, 0.5, NOON)]
        assert [restoration.relate(tx, TENANT, asked) for _ in range(2)] == [1, 0]
