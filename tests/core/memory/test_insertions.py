from __future__ import annotations

from datetime import timedelta

from sqlalchemy import text

from core.memory import memories
from core.storage.db import Database
from core.types import Relation
from tests.core.memory.writing import an_add, carry_out, emitted, known, lives_in, superseded
from tests.factories import NOON, a_candidate
from tests.samples import TENANT


def test_an_addition_leaves_memory_version_evidence_index_and_event(app: Database) -> None:
    add = an_add(a_candidate("Ada has a cat.", tags=("pets", "home"), structured={"pet": ["cat"]}))
    assert carry_out(app, [add]) == {"added": 1}
    with app.tenant(TENANT) as tx:
        row = memories.get(tx, add.id)
        (version,) = memories.history(tx, add.id)
        cited = memories.evidence(tx, [add.id])[add.id]
        indexed = tx.execute(text("SELECT * FROM search_index WHERE ref = :id"), {"id": str(add.id)}).one()
    assert (row.status, row.trust, row.version, row.user_id) == ("active", "candidate", 1, "ada")
    assert (row.tags, row.structured) == (["pets", "home"], {"pet": ["cat"]})
    assert (version.change, version.reason, version.version) == ("add", "because", 1)
    assert version.author == {"name": "tester", "rule": "a_rule", "rule_version": 3}
    assert version.snapshot["content"] == "Ada has a cat."
    assert cited == list(add.candidate.evidence)
    assert indexed.embedding is not None
    assert emitted(app) == [("memory.created", f"memory:{add.id}")]


def test_what_is_superseded_stays_as_what_was_true_until_then(app: Database) -> None:
    lisbon, porto = superseded(app)
    with app.tenant(TENANT) as tx:
        old, new = memories.get(tx, lisbon.id), memories.get(tx, porto.id)
        assert [v.change for v in memories.history(tx, lisbon.id)] == ["add", "supersede"]
        link = tx.execute(text("SELECT from_id, relation, to_id FROM relations")).one()
    assert (old.status, old.valid_from, old.valid_to) == ("superseded", NOON, NOON + timedelta(days=3))
    assert (new.status, new.valid_from, new.valid_to) == ("active", NOON + timedelta(days=3), None)
    assert tuple(link) == (porto.id, Relation.SUPERSEDES, lisbon.id)
    assert ("memory.superseded", f"memory:{lisbon.id}") in emitted(app)


def test_a_memory_never_ends_before_it_began(app: Database) -> None:
    lisbon = an_add(lives_in("Lisbon", 5))
    carry_out(app, [lisbon])
    with app.tenant(TENANT) as tx:
        before = known(tx, lisbon.id)
    carry_out(app, [an_add(lives_in("Porto", 6, valid_from=NOON), supersedes=before)])
    with app.tenant(TENANT) as tx:
        old = memories.get(tx, lisbon.id)
    assert (old.valid_from, old.valid_to) == (None, NOON), "nobody has said since when it was so"


def test_a_memory_whose_beginning_was_said_never_ends_before_it(app: Database) -> None:
    lisbon = an_add(lives_in("Lisbon", 5, valid_from=NOON + timedelta(days=4)))
    carry_out(app, [lisbon])
    with app.tenant(TENANT) as tx:
        before = known(tx, lisbon.id)
    carry_out(app, [an_add(lives_in("Porto", 6, valid_from=NOON), supersedes=before)])
    with app.tenant(TENANT) as tx:
        old = memories.get(tx, lisbon.id)
    assert old.valid_to == old.valid_from == NOON + timedelta(days=4)


def test_what_was_true_once_is_kept_as_history(app: Database) -> None:
    lisbon = an_add(lives_in("Lisbon", 5))
    carry_out(app, [lisbon])
    past = an_add(lives_in("Porto", 1), past=NOON + timedelta(days=5))
    carry_out(app, [past])
    with app.tenant(TENANT) as tx:
        row = memories.get(tx, past.id)
        assert memories.count(tx, "ada") == 1
    assert (row.status, row.valid_to) == ("superseded", NOON + timedelta(days=5))
