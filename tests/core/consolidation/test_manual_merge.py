"""A merge that a person requests: what it refuses, and the versions that the person has seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.consolidation import manual_merge
from core.consolidation.manual_merge import ManualMerge
from core.errors import Conflict, Invalid, NotFound
from core.memory import memories
from core.memory.changes import Add, Archive, Owner, Pin
from core.storage.db import Database
from tests.factories import EMBEDDER, PERSON, a_memory, carry_out, memory_row
from tests.samples import TENANT


@pytest.fixture
def pair(app: Database) -> list[Add]:
    made = [a_memory("Ada has a cat."), a_memory("Ada has a cat, Tom.")]
    carry_out(app, *made)
    return made


def merge(app: Database, ids: Sequence[UUID], **how: Any) -> ManualMerge:
    return manual_merge.merge(app, EMBEDDER, TENANT, ids, PERSON, **how)


def refused(app: Database, ids: Sequence[UUID], **how: Any) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as error:
        merge(app, ids, **how)
    return [(problem.pointer, problem.detail) for problem in error.value.problems]


def test_the_first_keeps_its_words_and_gets_the_evidence_of_all(app: Database, pair: list[Add]) -> None:
    first, second = pair
    done = merge(app, [first.id, second.id])
    assert (done.memory_id, done.absorbed) == (first.id, [second.id])
    kept, gone = (memory_row(app, add.id) for add in pair)
    assert (kept.content, kept.status, gone.status) == ("Ada has a cat.", "active", "archived")
    with app.tenant(TENANT) as tx:
        assert len(memories.evidence(tx, [first.id])[first.id]) == 2
        assert memories.history(tx, first.id)[-1].reason == manual_merge.REASON


def test_the_words_and_the_reason_are_those_of_the_person(app: Database, pair: list[Add]) -> None:
    merge(app, [add.id for add in pair], content="Ada has a cat called Tom.", reason="They are one.")
    assert memory_row(app, pair[0].id).content == "Ada has a cat called Tom."
    with app.tenant(TENANT) as tx:
        assert memories.history(tx, pair[0].id)[-1].reason == "They are one."


@pytest.mark.parametrize("seen", [{0: 2}, {1: 7}, {0: 1, 1: 2}])
def test_a_memory_at_another_version_than_was_seen_is_not_merged(
    app: Database, pair: list[Add], seen: dict[int, int]
) -> None:
    versions = {pair[place].id: version for place, version in seen.items()}
    with pytest.raises(Conflict, match="Read it again"):
        merge(app, [add.id for add in pair], versions=versions)
    with app.tenant(TENANT) as tx, pytest.raises(Conflict):
        manual_merge.objections(tx, [add.id for add in pair], versions)
    assert [memory_row(app, add.id).status for add in pair] == ["active", "active"]


def test_a_memory_that_changed_since_the_merge_was_prepared_is_not_merged(app: Database, pair: list[Add]) -> None:
    prepared = manual_merge.prepare(app, EMBEDDER, TENANT, [add.id for add in pair])
    carry_out(app, Pin(pair[1].id, 1, True, "dear"))
    with app.tenant(TENANT) as tx, pytest.raises(Conflict):
        manual_merge.write(tx, TENANT, prepared, PERSON)
    assert memory_row(app, pair[1].id).status == "active"


def test_what_cannot_be_merged_is_named_with_its_place(app: Database, pair: list[Add]) -> None:
    first, second = (add.id for add in pair)
    bobs, labelled, grouped, archived = (a_memory(f"A dog, {n}.") for n in range(4))
    carry_out(app, bobs, owner=Owner("bob"))
    carry_out(app, grouped, owner=Owner("ada", "team"))
    carry_out(app, labelled, archived)
    carry_out(app, Archive(archived.id, 1, "old"))
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET audience_labels = '{hr}' WHERE id = :id"), {"id": labelled.id})
    found = refused(app, [first, second, bobs.id, grouped.id, labelled.id, archived.id])
    assert [pointer for pointer, _ in found] == ["/ids/2", "/ids/3", "/ids/4", "/ids/5"]
    for (_, detail), word in zip(found, ("user", "group", "labels", "archived"), strict=True):
        assert word in detail
    assert refused(app, [first, second, first]) == [("/ids/2", "Occurs earlier in the list.")]
    with pytest.raises(NotFound, match="There is no memory"):
        merge(app, [first, UUID(int=7)])


def test_a_secret_in_the_words_is_masked_or_refused(app: Database, pair: list[Add]) -> None:
    ids, words = [add.id for add in pair], "Ada pays with 4111 1111 1111 1111."
    [(pointer, detail)] = refused(app, ids, content=words, secrets="refuse")
    assert (pointer, "may not be kept" in detail) == ("/content", True)
    merge(app, ids, content=words)
    assert "4111" not in memory_row(app, ids[0]).content


def test_what_the_judge_objects_to_is_said_and_does_not_hinder(app: Database) -> None:
    lisbon = a_memory("Ada lives in Lisbon.", attribute="home.city", value="Lisbon")
    porto = a_memory("Ada has never lived in Porto.", attribute="past.city", value="Porto", subject="eve")
    carry_out(app, lisbon, porto)
    done = merge(app, [lisbon.id, porto.id])
    assert any("past.city = Porto" in warning for warning in done.warnings)
    assert memory_row(app, porto.id).status == "archived"
