"""What becomes of two memories that deny each other, by the rules or by a person's decision."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.consolidation import dispute_resolution
from core.errors import Conflict
from core.events.publishing import Author
from core.memory import memories
from core.memory.changes import Add, Confirm, Dispute, Edit
from core.memory.identity import KnownMemory
from core.storage.db import Database
from core.types import Evidence, Json
from core.undo import undo
from tests.factories import EMBEDDER, a_memory, carry_out, event_types, events_since, memory_row
from tests.samples import TENANT

NOW = datetime.now(UTC)


def known(app: Database, memory_id: UUID) -> KnownMemory:
    with app.tenant(TENANT) as tx:
        return memories.known_of(memories.get(tx, memory_id))


def dog(**fields: Any) -> Add:
    return a_memory("Ada has a dog.", **fields)


def no_dog(**fields: Any) -> Add:
    return a_memory("Ada has no dog.", **{"occurred_at": NOW + timedelta(hours=1), **fields})


def dispute(app: Database, one: Add, other: Add) -> None:
    carry_out(app, one, other)
    carry_out(app, Dispute(known(app, one.id), known(app, other.id), "one denies the other"))


def settle(app: Database, one: Add, other: Add, keep: Add | None = None) -> Json:
    with app.tenant(TENANT) as tx:
        case = dispute_resolution.find(tx, one.id, other.id, keep.id if keep else None)
        assert case is not None
        return case.write(tx, Author("conflict_resolver"))


def test_what_was_said_later_holds_and_the_other_gives_way(app: Database) -> None:
    one, other = dog(), no_dog()
    dispute(app, one, other)
    result = settle(app, one, other)
    assert (result["resolved"], result["kept"], result["gave_way"]) == (True, str(other.id), str(one.id))
    assert "said later" in result["reason"]
    winner, loser = memory_row(app, other.id), memory_row(app, one.id)
    assert (winner.status, winner.trust) == ("active", "confirmed")
    assert (loser.status, loser.valid_to) == ("superseded", winner.occurred_at)
    with app.tenant(TENANT) as tx:
        (told,) = [e.payload for e in events_since(tx, 0, 100) if e.event_type == "memory.superseded"]
        related = tx.execute(text("SELECT from_id, to_id FROM relations WHERE relation = 'supersedes'")).all()
        steps = [memories.history(tx, i)[-1] for i in (one.id, other.id)]
    assert told["by"] == str(other.id)
    assert [tuple(r) for r in related] == [(other.id, one.id)]
    assert {str(step.change_id) for step in steps} == {result["change_id"]}


def test_it_can_be_undone_at_once(app: Database) -> None:
    one, other = dog(), no_dog()
    dispute(app, one, other)
    result = settle(app, one, other)
    undo.carry_out(app, EMBEDDER, TENANT, UUID(result["change_id"]), Author("key:1"))
    assert [(memory_row(app, i).status, memory_row(app, i).trust) for i in (one.id, other.id)] == [
        ("active", "disputed")
    ] * 2
    assert memory_row(app, one.id).valid_to is None
    with app.tenant(TENANT) as tx:
        assert tx.execute(text("SELECT count(*) FROM relations WHERE relation = 'supersedes'")).scalar_one() == 0


def test_what_gives_way_to_an_earlier_word_was_never_true(app: Database) -> None:
    one, other = dog(), no_dog()
    dispute(app, one, other)
    settle(app, one, other, keep=one)
    loser = memory_row(app, other.id)
    assert loser.valid_to == loser.occurred_at


@pytest.mark.parametrize("how", ["asked for", "edited"])
def test_a_persons_word_holds_against_later_ones(app: Database, how: str) -> None:
    one, other = dog(trust="confirmed" if how == "asked for" else "candidate"), no_dog()
    dispute(app, one, other)
    if how == "edited":
        with app.tenant(TENANT) as tx:
            tx.execute(text('UPDATE memory_versions SET author = \'{"name": "memory_extractor"}\''))
        carry_out(app, Edit(one.id, memory_row(app, one.id).version, {"importance": 0.9}, "sure"))
    else:
        with app.tenant(TENANT) as tx:
            tx.execute(text('UPDATE memory_versions SET author = \'{"name": "memory_keeper"}\''))
    result = settle(app, one, other)
    assert result["kept"] == str(one.id)
    assert "person" in result["reason"]


def extracted(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        tx.execute(text('UPDATE memory_versions SET author = \'{"name": "memory_extractor"}\''))


def test_independent_evidence_holds_against_a_later_word(app: Database) -> None:
    one, other = dog(), no_dog()
    carry_out(app, one)
    again = dog(evidence=(Evidence("s2", "m9", "e9", "my dog"),)).candidate
    carry_out(app, Confirm(known(app, one.id), again, "again"))
    carry_out(app, other)
    carry_out(app, Dispute(known(app, other.id), known(app, one.id), "denied"))
    extracted(app)
    result = settle(app, one, other)
    assert (result["kept"], result["reason"]) == (
        str(one.id), "It rests on 2 independent sources, the other on 1.",
    )  # fmt: skip


def test_where_nothing_tells_it_does_nothing_and_says_so(app: Database) -> None:
    one, other = dog(), no_dog(occurred_at=dog().candidate.occurred_at)
    dispute(app, one, other)
    extracted(app)
    before = event_types(app)
    result = settle(app, one, other)
    assert result["resolved"] is False
    assert result["reason"].startswith("Undecided")
    assert [memory_row(app, i).trust for i in (one.id, other.id)] == ["disputed"] * 2
    assert event_types(app) == before


def test_what_a_third_memory_denies_is_not_confirmed_yet(app: Database) -> None:
    one, other = dog(), no_dog()
    third = a_memory("Ada never had a dog.")
    dispute(app, one, other)
    carry_out(app, third)
    carry_out(app, Dispute(known(app, third.id), known(app, other.id), "denied"))
    assert settle(app, one, other)["kept"] == str(other.id)
    assert (memory_row(app, other.id).trust, memory_row(app, one.id).status) == ("disputed", "superseded")


def test_a_side_that_was_changed_meanwhile_is_a_conflict(app: Database) -> None:
    one, other = dog(), no_dog()
    dispute(app, one, other)
    with app.tenant(TENANT) as tx:
        case = dispute_resolution.find(tx, one.id, other.id)
    assert case is not None
    carry_out(app, Edit(one.id, memory_row(app, one.id).version, {"importance": 0.9}, "sure"))
    with pytest.raises(Conflict), app.tenant(TENANT) as tx:
        case.write(tx, Author("conflict_resolver"))
    assert memory_row(app, other.id).trust == "disputed"


def test_only_two_memories_that_are_both_in_dispute_have_one_to_settle(app: Database) -> None:
    one, other, calm = dog(), no_dog(), a_memory("Ada has a cat.")
    dispute(app, one, other)
    carry_out(app, calm)
    with app.tenant(TENANT) as tx:
        assert dispute_resolution.find(tx, one.id, other.id) is not None
        assert dispute_resolution.find(tx, one.id, calm.id) is None
        assert dispute_resolution.find(tx, one.id, one.id) is None
        assert dispute_resolution.find(tx, one.id, UUID(int=7)) is None
