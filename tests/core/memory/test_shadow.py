from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest
from sqlalchemy import text

from core.errors import Invalid
from core.events.publishing import Author
from core.memory import shadow, writer
from core.memory.changes import Owner
from core.memory.shadow import ComparedMemory
from core.storage.db import Database
from core.storage.tables import TENANT_TABLES
from core.tenancy import tenants
from core.types import Candidate, Evidence
from tests.core.memory.writing import an_add, carry_out, lives_in
from tests.factories import a_candidate
from tests.samples import TENANT

BESIDE = f"rebuild-{uuid4().hex}"


def stand(candidate: Candidate, **fields: object) -> ComparedMemory:
    return replace(ComparedMemory(uuid4(), 1, candidate), **fields)  # type: ignore[arg-type]


def test_what_says_the_same_is_the_same_and_what_fills_the_slot_otherwise_has_changed() -> None:
    old = [stand(a_candidate("Ada has a cat.")), stand(lives_in("Lisbon", 1)), stand(a_candidate("Ada sings.", 5))]
    new = [stand(a_candidate("ada has a cat")), stand(lives_in("Porto", 2)), stand(a_candidate("Ada swims.", 9))]
    found = shadow.difference(old, new)
    assert [(o.candidate.value, n.candidate.value) for o, n in found.changed if o.candidate.value] == [
        ("Lisbon", "Porto")
    ]
    assert [s.candidate.content for s in found.added] == ["Ada swims."]
    assert [s.candidate.content for s in found.gone] == ["Ada sings."]


def test_what_rests_on_the_same_message_is_the_same_memory_in_other_words() -> None:
    old, new = stand(a_candidate("Ada likes tea.", 3)), stand(a_candidate("Ada prefers tea.", 3))
    found = shadow.difference([old], [new])
    assert [(o.id, n.id) for o, n in found.changed] == [(old.id, new.id)]


def test_what_a_person_made_and_what_was_drawn_from_others_is_left_alone() -> None:
    by_hand = stand(lives_in("Lisbon", 1), by_hand=True)
    drawn = stand(a_candidate("Ada often sings.", 5), level=1)
    found = shadow.difference([by_hand, drawn], [stand(lives_in("Porto", 2))])
    assert (found.added, found.gone, found.changed) == ([], [], [])


def test_what_rests_on_messages_that_have_left_is_left_alone_and_counted() -> None:
    old = [stand(lives_in("Lisbon", 1), expired=True), stand(a_candidate("Ada sings.", 5), expired=True)]
    found = shadow.difference(old, [stand(lives_in("Porto", 2))])
    assert (found.added, found.gone, found.changed) == ([], [], [])
    assert (found.as_json()["kept"], found.as_json()["expired"]) == (1, 2)


def test_a_set_beside_is_seen_by_nobody_and_goes_without_a_trace(app: Database) -> None:
    carry_out(app, [an_add(a_candidate("Ada has a cat."))])
    with app.tenant(TENANT) as tx:
        tx.execute(text("INSERT INTO tombstones (tenant_id, hash) VALUES (:t, 'h')"), {"t": TENANT})
        salt = tx.execute(text("SELECT salt FROM tenants")).scalar_one()
    shadow.create(app, TENANT, BESIDE)
    shadow.create(app, TENANT, BESIDE)
    with app.tenant(BESIDE) as tx:
        writer.apply(tx, BESIDE, Owner("ada"), [an_add(a_candidate("Ada has a dog."))], Author("test"))
        assert [s.candidate.content for s in shadow.active_memories(tx, "ada")] == ["Ada has a dog."]
        assert tx.execute(text("SELECT salt FROM tenants")).scalar_one() == salt
        assert tx.execute(text("SELECT hash FROM tombstones")).scalars().all() == ["h"]
    with app.tenant(TENANT) as tx:
        assert [s.candidate.content for s in shadow.active_memories(tx, "ada")] == ["Ada has a cat."]
    shadow.drop(app, BESIDE)
    with app.tenant(BESIDE) as tx:
        left = {t.name: tx.execute(text(f"SELECT count(*) FROM {t.name}")).scalar_one() for t in TENANT_TABLES}
        assert set(left.values()) == {0}
        assert tx.execute(text("SELECT count(*) FROM tenants")).scalar_one() == 0


def test_no_other_tenant_can_be_let_go_and_none_may_take_such_a_name(app: Database) -> None:
    with pytest.raises(ValueError, match=TENANT):
        shadow.drop(app, TENANT)
    with app.tenant(TENANT) as tx:
        assert tx.execute(text("DELETE FROM tenants")).rowcount == 0, "the database refuses it, too"
    with app.tenant(BESIDE) as tx, pytest.raises(Invalid, match="rebuilds"):
        tenants.ensure(tx, BESIDE)


def test_evidence_comes_along(app: Database) -> None:
    add = an_add(a_candidate("Ada has a cat."))
    carry_out(app, [add])
    with app.tenant(TENANT) as tx:
        (found,) = shadow.active_memories(tx, "ada")
    assert found.candidate.evidence == (Evidence("s1", "m0", "e1", "Ada has a cat."),)
