"""`GET /v1/stats`: how much there is, for one tenant."""

from __future__ import annotations

from core.db import Database
from tests.doors import OTHER, Doors
from tests.samples import accept, ended, said
from tests.works import Works


def test_everything_is_counted_by_its_kind(door: Doors, app: Database, works: Works) -> None:
    accept(
        app,
        said("I live in Turin.", speaker="Ada"),
        said("I live in Rome.", user="bob", session="s2"),
        ended(message_count=3),
    )
    works.settle()
    stats = door.get("/v1/stats").json()
    assert stats["events"]["message.added"] == 2
    assert {"rule": "consolidate_on_session_end", "verdict": "fired", "count": 1} in stats["decisions"]
    assert {"target": "memory_consolidator", "status": "done", "count": 1} in stats["dispatches"]
    assert stats["memories"] == [{"category": "fact", "status": "active", "count": 2}]


def test_one_user_is_counted_alone(door: Doors, app: Database, works: Works) -> None:
    accept(app, said("I live in Turin."), said("I live in Rome.", user="bob", session="s2"))
    works.settle()
    stats = door.get("/v1/stats?user_id=bob").json()
    assert stats["events"]["message.added"] == 1
    assert stats["memories"] == [{"category": "fact", "status": "active", "count": 1}]


def test_another_tenant_counts_nothing_of_it(door: Doors, app: Database, works: Works) -> None:
    accept(app, said("I live in Turin."))
    works.settle()
    empty = {"events": {}, "decisions": [], "dispatches": [], "memories": []}
    assert door.get("/v1/stats", tenant=OTHER).json() == empty
