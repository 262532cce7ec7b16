"""Changes of one memory that a person asks for; jobs and requests about many carry out the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest

from core.errors import Conflict, NotFound
from core.memory import by_hand, memories
from core.memory.by_hand import Made
from core.memory.changes import Add
from core.storage.db import Database
from core.tenancy import tenants
from tests.doors import OTHER
from tests.factories import PERSON, a_memory, carry_out, changes_of, memory_row
from tests.samples import TENANT


@pytest.fixture
def cat(app: Database) -> Add:
    add = a_memory("Ada has a cat.")
    carry_out(app, add)
    return add


def change(app: Database, name: str, memory_id: UUID, reason: str | None = None, **more: Any) -> Made | None:
    with app.tenant(more.pop("tenant", TENANT)) as tx:
        return by_hand.CHANGES[name](tx, TENANT, PERSON, memory_id, reason, more.pop("version", None))


def latest(app: Database, memory_id: UUID) -> Any:
    with app.tenant(TENANT) as tx:
        return memories.history(tx, memory_id)[-1]


@pytest.mark.parametrize(
    ("before", "name", "seen", "reason", "counts"),
    [
        ((), "pin", lambda row: row.pinned, "Pinned by hand.", {"pinned": 1}),
        (("pin",), "unpin", lambda row: not row.pinned, "Unpinned by hand.", {"pinned": 1}),
        ((), "archive", lambda row: row.status == "archived", "Archived by hand.", {"archived": 1}),
        (("archive",), "restore", lambda row: row.status == "active", "Restored by hand.", {"restored": 1}),
    ],
)
def test_a_change_is_made_once_and_says_who_made_it_and_why(
    app: Database,
    cat: Add,
    before: tuple[str, ...],
    name: str,
    seen: Callable[[Any], bool],
    reason: str,
    counts: dict[str, int],
) -> None:
    for earlier in before:
        change(app, earlier, cat.id)
    made = change(app, name, cat.id)
    assert made is not None
    assert made.counts == counts
    assert seen(memory_row(app, cat.id))
    version = latest(app, cat.id)
    assert (version.reason, version.change_id, version.author["name"]) == (reason, made.change_id, PERSON.name)
    assert change(app, name, cat.id) is None
    assert latest(app, cat.id).version == version.version


@pytest.mark.parametrize("name", ["pin", "archive"])
def test_the_reason_is_that_of_the_person(app: Database, cat: Add, name: str) -> None:
    change(app, name, cat.id, "It matters.")
    assert latest(app, cat.id).reason == "It matters."


@pytest.mark.parametrize("name", ["unpin", "restore"])
def test_what_is_so_already_is_left_as_it_is(app: Database, cat: Add, name: str) -> None:
    assert change(app, name, cat.id) is None
    assert changes_of(app, cat.id) == ["add"]


@pytest.mark.parametrize("name", by_hand.CHANGES)
def test_a_memory_at_another_version_than_was_seen_is_refused(app: Database, cat: Add, name: str) -> None:
    with pytest.raises(Conflict, match="at version 1 now, not 2"):
        change(app, name, cat.id, version=2)
    assert changes_of(app, cat.id) == ["add"]


def test_a_memory_at_the_version_that_was_seen_is_changed(app: Database, cat: Add) -> None:
    assert change(app, "pin", cat.id, version=1)


@pytest.mark.parametrize("name", by_hand.CHANGES)
def test_a_memory_that_is_not_there_or_another_tenants_is_not_found(app: Database, cat: Add, name: str) -> None:
    with app.tenant(OTHER) as tx:
        tenants.ensure(tx, OTHER)
    with pytest.raises(NotFound):
        change(app, name, uuid4())
    with pytest.raises(NotFound):
        change(app, name, cat.id, tenant=OTHER)
    assert changes_of(app, cat.id) == ["add"]
