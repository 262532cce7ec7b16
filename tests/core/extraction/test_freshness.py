"""Ages of the messages that memories quote."""

from __future__ import annotations

from datetime import timedelta

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import text

from core.extraction import freshness
from core.memory.changes import Add
from core.storage.db import Database
from core.types import Evidence
from tests.factories import a_candidate, a_memory
from tests.samples import TENANT, accept, ended, said
from tests.works import Works


def age(app: Database, message: str, by: timedelta) -> None:
    """As if a message had been accepted so much earlier."""
    with app.tenant(TENANT) as tx:
        tx.execute(
            text("UPDATE events SET received_at = received_at - cast(:by AS interval) WHERE id = :id"),
            {"by": by, "id": message},
        )


def quoting(*messages: str) -> Add:
    return a_memory("Ada lives in Turin.", evidence=tuple(Evidence("s1", name, name, "Turin") for name in messages))


def seconds(app: Database, *changes: Add) -> list[float]:
    with app.tenant(TENANT) as tx:
        return sorted(freshness.seconds(tx, changes))


def test_the_newest_message_that_a_memory_quotes_counts(app: Database) -> None:
    accept(app, *(said("Turin", id=name, message_id=name) for name in ("old", "older", "oldest")))
    for hours, name in enumerate(("old", "older", "oldest"), start=1):
        age(app, name, timedelta(hours=hours))
    found = seconds(app, quoting("old", "oldest"), quoting("oldest", "older"))
    assert [round(age / 3600, 1) for age in found] == [1.0, 2.0]


def test_a_memory_without_a_message_is_left_out(app: Database) -> None:
    requested = a_memory("Ada has a cat.", evidence=(Evidence("", "e1", "e1", "cat"),))
    assert seconds(app, requested) == []
    assert seconds(app, Add(a_candidate("of a session that is gone"), "because")) == []
    assert seconds(app) == []


def observed() -> tuple[float, float]:
    names = ("imprint_memory_freshness_seconds_count", "imprint_memory_freshness_seconds_sum")
    count, total = (REGISTRY.get_sample_value(name) or 0 for name in names)
    return count, total


def test_an_extraction_observes_each_memory_once(app: Database, works: Works) -> None:
    accept(app, said("I live in Turin.", id="a"), said("My cat is called Tom.", id="b"), ended(message_count=2))
    age(app, "a", timedelta(hours=1))
    age(app, "b", timedelta(hours=2))
    before = observed()
    works.settle()
    with app.tenant(TENANT) as tx:
        memories = tx.execute(text("SELECT count(*) FROM memories WHERE kind = 'semantic'")).scalar_one()
    count, total = (after - earlier for after, earlier in zip(observed(), before, strict=True))
    assert count == memories == 2
    assert total == pytest.approx(3 * 3600, abs=120)
