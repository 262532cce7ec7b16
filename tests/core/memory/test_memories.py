from __future__ import annotations

from datetime import timedelta
from typing import Any

from core.maintenance import sweeps
from core.memory import memories, neighbours
from core.memory.changes import (
    Archive,
    Restore,
)
from core.search import query
from core.storage.db import Database
from tests.factories import (
    EMBEDDER,
    NOW,
    PERSON,
    a_memory,
    carry_out,
    expire,
    memory_row,
)
from tests.questions import question
from tests.samples import TENANT


def found(app: Database, **fields: Any) -> list[str]:
    results = query.search(app, TENANT, question("cat", **fields), EMBEDDER).results
    return [one.memory.content for one in results if one.memory is not None]


def test_what_has_expired_is_not_served_even_before_a_sweep(app: Database) -> None:
    cat = a_memory("Ada has a cat.")
    carry_out(app, cat)
    assert found(app) == ["Ada has a cat."]
    expire(app, cat.id, NOW - timedelta(days=1))
    assert (found(app), found(app, include_archived=True)) == ([], ["Ada has a cat."])
    with app.tenant(TENANT) as tx:
        assert memories.count(tx, "ada") == 0
        assert [*map(list, neighbours.of(tx, "ada", [cat.candidate], EMBEDDER.embed(["Ada has a cat."])))] == [[]]
        assert sweeps.archive_expired(tx, TENANT, PERSON, 10) == 1
    assert memory_row(app, cat.id).status == "archived"
    assert (found(app), found(app, include_archived=True)) == ([], ["Ada has a cat."])


def test_what_has_expired_may_be_said_anew_and_comes_back_without_its_term(app: Database) -> None:
    cat = a_memory("Ada has a cat.")
    carry_out(app, cat)
    expire(app, cat.id, NOW - timedelta(days=1))
    again = a_memory("Ada has a cat.")
    assert carry_out(app, again) == {"added": 1}
    with app.tenant(TENANT) as tx:
        sweeps.archive_expired(tx, TENANT, PERSON, 10)
    carry_out(app, Archive(again.id, 1, "twice"))
    carry_out(app, Restore(cat.id, 2, "the first one"))
    assert memory_row(app, cat.id).expires_at is None
