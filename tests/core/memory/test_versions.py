from __future__ import annotations

from core.memory import memories
from core.memory.changes import Confirm, Link
from core.storage.db import Database
from core.types import Relation
from tests.core.memory.writing import an_add, carry_out, known, rows, superseded
from tests.factories import a_candidate
from tests.samples import TENANT


def test_the_same_quote_twice_is_one_piece_of_evidence(app: Database) -> None:
    add = an_add(a_candidate("Ada has a cat."))
    carry_out(app, [add])
    with app.tenant(TENANT) as tx:
        cat = known(tx, add.id)
    carry_out(app, [Confirm(cat, add.candidate, "again")])
    with app.tenant(TENANT) as tx:
        assert len(memories.evidence(tx, [add.id])[add.id]) == 1


def test_a_link_is_kept_once(app: Database) -> None:
    one, other = an_add(a_candidate("Ada has a cat.")), an_add(a_candidate("Ada has a black cat.", 1))
    link = Link(other.id, Relation.REFINES, one.id)
    carry_out(app, [one, other, link, link])
    assert rows(app)["relations"] == 1


def test_history_is_complete_and_in_order(app: Database) -> None:
    lisbon, _ = superseded(app)
    with app.tenant(TENANT) as tx:
        history = memories.history(tx, lisbon.id)
    assert [v.version for v in history] == [1, 2]
    assert [v.snapshot["status"] for v in history] == ["active", "superseded"]
