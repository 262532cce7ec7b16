from __future__ import annotations

from typing import Any

import pytest

from core.errors import Conflict
from core.memory.changes import (
    Archive,
    Pin,
    Restore,
)
from core.storage.db import Database
from tests.factories import (
    a_memory,
    carry_out,
    changes_of,
    close,
    event_types,
    expected,
    memory_row,
    set_back,
    sweep,
)


def test_what_was_archived_can_be_restored_and_begins_to_fade_anew(app: Database) -> None:
    cat = a_memory("Ada has a cat.")
    carry_out(app, cat)
    set_back(app, [cat.id], 600)
    sweep(app)
    assert carry_out(app, Restore(cat.id, 2, "missed")) == {"restored": 1}
    assert memory_row(app, cat.id).status == "active"
    assert close(memory_row(app, cat.id).fade_at, expected(app, cat.id))
    assert (sweep(app), changes_of(app, cat.id)) == (0, ["add", "archive", "restore"])
    assert event_types(app)[-1] == "memory.restored"


def test_unpinned_it_fades_again(app: Database) -> None:
    cat = a_memory("Ada has a cat.")
    carry_out(app, cat)
    carry_out(app, Pin(cat.id, 1, pinned=True, reason="dear"))
    assert memory_row(app, cat.id).fade_at is None
    carry_out(app, Pin(cat.id, 2, pinned=False, reason="no more"))
    assert close(memory_row(app, cat.id).fade_at, expected(app, cat.id))
    assert changes_of(app, cat.id) == ["add", "pin", "unpin"]


@pytest.mark.parametrize("stale", [Archive, Restore, lambda i, v, r: Pin(i, v, True, r)])
def test_what_was_decided_on_an_old_version_is_a_conflict(app: Database, stale: Any) -> None:
    cat = a_memory("Ada has a cat.")
    carry_out(app, cat)
    carry_out(app, Pin(cat.id, 1, pinned=True, reason="dear"))
    with pytest.raises(Conflict):
        carry_out(app, stale(cat.id, 1, "late"))
    assert changes_of(app, cat.id) == ["add", "pin"]


def test_nothing_is_restored_beside_what_has_taken_its_place(app: Database) -> None:
    lisbon = a_memory("Ada lives in Lisbon.", attribute="home.city", value="Lisbon")
    carry_out(app, lisbon)
    carry_out(app, Archive(lisbon.id, 1, "moved"))
    carry_out(app, a_memory("Ada lives in Porto.", attribute="home.city", value="Porto"))
    with pytest.raises(Conflict):
        carry_out(app, Restore(lisbon.id, 2, "back"))
