from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from core.errors import Invalid, NotFound
from core.inference.embedders import HashEmbedder
from core.memory import memories, relations
from core.memory.changes import Add, Archive, Link, Owner, Unlink
from core.memory.relations import StoredRelation
from core.storage.db import Database
from core.types import Relation, Trust
from core.undo import undo
from tests.factories import PERSON, a_memory, carry_out, changes_of, memory_row
from tests.samples import TENANT


@pytest.fixture
def pair(app: Database) -> tuple[Add, Add]:
    one, other = a_memory("Ada has a cat."), a_memory("Ada buys cat food.")
    carry_out(app, one, other)
    return one, other


def related(app: Database, link: Link, reason: str = "") -> StoredRelation:
    with app.tenant(TENANT) as tx:
        return relations.write(tx, TENANT, link, reason, PERSON)


def listed(app: Database, memory_id: UUID) -> list[tuple[UUID, str, UUID, float]]:
    with app.tenant(TENANT) as tx:
        return [(r.from_id, r.relation, r.to_id, r.strength) for r in relations.of_memory(tx, memory_id)]


@pytest.mark.parametrize("relation", sorted(relations.WRITABLE))
def test_a_relation_is_written_with_its_strength_and_stands_in_the_history(
    app: Database, pair: tuple[Add, Add], relation: Relation
) -> None:
    one, other = pair
    written = related(app, Link(other.id, relation, one.id, strength=0.4), "She said so.")
    assert (written.strength, written.relation) == (0.4, relation)
    assert listed(app, one.id) == listed(app, other.id) == [(other.id, relation, one.id, 0.4)]
    with app.tenant(TENANT) as tx:
        last = memories.history(tx, other.id)[-1]
    assert (last.change, last.reason, last.change_id) == ("edit", "She said so.", written.change_id)
    assert changes_of(app, one.id) == ["add"]
    assert memory_row(app, other.id).fade_half_life > 180, "a relation lengthens the half-life"


def test_a_strength_is_changed_and_what_the_service_writes_leaves_it_alone(
    app: Database, pair: tuple[Add, Add]
) -> None:
    one, other = pair
    related(app, Link(one.id, Relation.ABOUT, other.id, strength=0.4))
    related(app, Link(one.id, Relation.ABOUT, other.id, strength=0.9))
    assert listed(app, one.id) == [(one.id, "about", other.id, 0.9)]
    carry_out(app, Link(one.id, Relation.ABOUT, other.id))
    assert listed(app, one.id) == [(one.id, "about", other.id, 0.9)]


def test_a_relation_is_undone_and_done_again_with_its_strength(app: Database, pair: tuple[Add, Add]) -> None:
    one, other = pair
    written = related(app, Link(one.id, Relation.FOLLOWS, other.id, strength=0.3))
    assert written.change_id is not None
    back = undo.carry_out(app, HashEmbedder(), TENANT, written.change_id, PERSON, reason="no")
    assert listed(app, one.id) == []
    undo.carry_out(app, HashEmbedder(), TENANT, back.change_id, PERSON, reason="yes")
    assert listed(app, one.id) == [(one.id, "follows", other.id, 0.3)]


def test_a_relation_is_removed_once(app: Database, pair: tuple[Add, Add]) -> None:
    one, other = pair
    related(app, Link(one.id, Relation.ABOUT, other.id))
    with app.tenant(TENANT) as tx:
        relations.remove(tx, TENANT, Unlink(one.id, Relation.ABOUT, other.id), "", PERSON)
    assert listed(app, one.id) == []
    assert changes_of(app, one.id) == ["add", "edit", "edit"]
    with app.tenant(TENANT) as tx, pytest.raises(NotFound, match="no relation about"):
        relations.remove(tx, TENANT, Unlink(one.id, Relation.ABOUT, other.id), "", PERSON)
    with app.tenant(TENANT) as tx, pytest.raises(Invalid, match="decides"):
        relations.remove(tx, TENANT, Unlink(one.id, Relation.SUPERSEDES, other.id), "", PERSON)


def test_relations_that_make_no_sense_are_refused_with_their_place(app: Database, pair: tuple[Add, Add]) -> None:
    one, other = pair
    bobs, hostile, old = a_memory("Bob has a cat."), a_memory("Obey.", trust=Trust.QUARANTINED), a_memory("Gone.")
    carry_out(app, bobs, owner=Owner("bob"))
    carry_out(app, hostile, old)
    carry_out(app, Archive(old.id, 1, "old"))
    wrong = [
        (one.id, Relation.CONTRADICTS, other.id, "/relation"),
        (one.id, Relation.ABOUT, one.id, "/to"),
        (one.id, Relation.ABOUT, bobs.id, "/to"),
        (one.id, Relation.ABOUT, hostile.id, "/to"),
        (one.id, Relation.ABOUT, old.id, "/to"),
        (old.id, Relation.ABOUT, one.id, "/id"),
    ]
    for from_id, relation, to_id, pointer in wrong:
        with pytest.raises(Invalid) as refused:
            related(app, Link(from_id, relation, to_id))
        assert [problem.pointer for problem in refused.value.problems] == [pointer]
    with pytest.raises(NotFound):
        related(app, Link(one.id, Relation.ABOUT, uuid4()))
    with app.tenant(TENANT) as tx, pytest.raises(NotFound):
        relations.of_memory(tx, uuid4())
