"""Which memories one replaced or was made of, and which replaced or absorbed it."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from core.browsing import lineage
from core.browsing.lineage import MemoryRelative
from core.errors import NotFound
from core.memory.changes import Add, Derive, Dispute, Link, Part
from core.storage.db import Database
from core.tenancy import tenants
from core.types import Relation
from tests.core.changing import Bench, absorbed, an_add
from tests.core.memory.writing import superseded
from tests.doors import OTHER
from tests.factories import a_candidate
from tests.samples import TENANT


def relatives(app: Database, memory_id: UUID) -> list[MemoryRelative]:
    with app.tenant(TENANT) as tx:
        return list(lineage.of_memory(tx, memory_id))


def roles(app: Database, memory_id: UUID) -> list[tuple[str, UUID]]:
    return [(one.role, one.row.id) for one in relatives(app, memory_id)]


@pytest.fixture
def ada(app: Database) -> Bench:
    return Bench(app)


def linked(ada: Bench, relation: Relation, *others: str) -> tuple[Add, list[Add]]:
    """A memory that is related to others, the last of them last."""
    first, rest = an_add("Ada lives by the sea."), [an_add(content) for content in others]
    ada.apply(first, *rest)
    for one in rest:
        ada.apply(Link(first.id, relation, one.id))
    return first, rest


def test_both_sides_of_a_replacement_say_what_replaced_what_and_why(app: Database) -> None:
    old, new = superseded(app)
    (earlier,) = relatives(app, new.id)
    (later,) = relatives(app, old.id)
    assert (earlier.role, earlier.row.id) == ("supersedes", old.id)
    assert (later.role, later.row.id, later.row.content) == ("superseded_by", new.id, "Ada lives in Porto.")
    for one in (earlier, later):
        assert (one.change, one.reason, one.change_id) == ("supersede", "because", new.change_id)
        assert one.author == {"name": "tester", "rule": "a_rule", "rule_version": 3}


def test_both_sides_of_a_merge_say_what_absorbed_what(app: Database, ada: Bench) -> None:
    less, more, change = absorbed(ada)
    assert roles(app, less.id) == [("merged_from", more.id)]
    (into,) = relatives(app, more.id)
    assert (into.role, into.row.id, into.change_id) == ("merged_into", less.id, change.change_id)
    assert (into.change, into.reason) == ("merge", f"Merged into memory {less.id}. says more")


def test_what_was_drawn_from_others_names_them_and_they_name_it(app: Database, ada: Bench) -> None:
    parts = [an_add("Ada swims on Mondays."), an_add("Ada swims on Fridays.")]
    ada.apply(*parts)
    read = [Part(one.id, ada.row(one.id).version) for one in parts]
    whole = Derive(a_candidate("Ada swims twice a week."), read, "a pattern")
    ada.apply(whole)
    assert sorted(roles(app, whole.id)) == sorted(("derived_from", one.id) for one in parts)
    assert [roles(app, one.id) for one in parts] == [[("source_of", whole.id)]] * 2


def test_relatives_come_latest_first_and_no_more_than_the_bound(
    app: Database, ada: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, (one, two, three) = linked(ada, Relation.SUPERSEDES, "One.", "Two.", "Three.")
    assert [row for _, row in roles(app, first.id)] == [three.id, two.id, one.id]
    monkeypatch.setattr(lineage, "MOST", 2)
    assert [row for _, row in roles(app, first.id)] == [three.id, two.id]


def test_other_relations_are_no_lineage(app: Database, ada: Bench) -> None:
    first, (other,) = linked(ada, Relation.FOLLOWS, "Ada moved.")
    ada.apply(Dispute(ada.known(first.id), ada.known(other.id), "denied"))
    assert relatives(app, first.id) == relatives(app, other.id) == []


def test_a_relation_without_a_change_has_no_reason(app: Database, ada: Bench) -> None:
    first, (other,) = linked(ada, Relation.SUPERSEDES, "Ada lived inland.")
    (one,) = relatives(app, first.id)
    assert (one.role, one.row.id, one.change, one.reason, one.author) == ("supersedes", other.id, None, None, None)


def test_what_its_reader_may_not_see_is_left_out(app: Database, ada: Bench) -> None:
    first = an_add("Ada lives by the sea.")
    secret = an_add("Ada lived inland.", audience_labels=("hr",))
    ada.apply(first, secret)
    ada.apply(Link(first.id, Relation.SUPERSEDES, secret.id))
    assert roles(app, first.id) == [("supersedes", secret.id)]
    with app.as_reader(()).tenant(TENANT) as tx:
        assert lineage.of_memory(tx, first.id) == []


def test_a_memory_that_is_not_there_or_another_tenants_has_none(app: Database) -> None:
    old, _ = superseded(app)
    with app.tenant(OTHER) as tx:
        tenants.ensure(tx, OTHER)
    with app.tenant(TENANT) as tx, pytest.raises(NotFound):
        lineage.of_memory(tx, uuid4())
    with app.tenant(OTHER) as tx, pytest.raises(NotFound):
        lineage.of_memory(tx, old.id)
