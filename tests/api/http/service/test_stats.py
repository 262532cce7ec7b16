"""`GET /v1/stats`: how much there is, for one tenant."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from prometheus_client import REGISTRY

from core.config import Settings
from core.events.log import Announcement, announce
from core.storage.db import Database
from core.tenancy.tenants import DEFAULT
from tests.doors import OTHER, Doors, key_of
from tests.samples import TENANT, accept, ended, event, said
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
    door.post("/v1/search", {"user_id": "ada", "query": "Turin"})
    stats = door.get("/v1/stats", tenant=OTHER).json()
    memory = stats.pop("memory")
    assert stats.pop("caches") is None, "they are those of all tenants"
    assert stats == {"events": {}, "decisions": [], "dispatches": [], "removed": {}, "memories": []}
    assert (memory["total"], memory["active"], memory["by_status"], memory["verdicts"]) == (0, 0, {}, {})
    assert memory["recall"] == {"with_memories": 0, "process": {"searches": 0, "with_memories": 0, "hit_rate": None}}


def test_how_the_memory_does_is_told(door: Doors, app: Database) -> None:
    cat = {"user_id": "ada", "content": "Ada has a cat."}
    for _ in range(2):
        door.post("/v1/memories", cat)
    for user in ("ada", "ada", "bob"):
        door.post("/v1/search", {"user_id": user, "query": "cat"})
    memory = door.get("/v1/stats").json()["memory"]
    assert (memory["by_kind"], memory["by_trust"]) == ({"semantic": 1}, {"confirmed": 1})
    assert memory["verdicts"] == {"confirm": {"count": 1, "undone": 0}}
    assert memory["growth"][-1]["added"] == 1
    assert memory["recall"]["process"] == {
        "searches": 3,
        "with_memories": 2,
        "hit_rate": pytest.approx(2 / 3, abs=1e-3),
    }
    for what in ("search", "write"):
        percentiles = memory["latency_ms"][what]
        assert 0 < percentiles["p50"] <= percentiles["p95"] <= percentiles["p99"]
    bob = door.get("/v1/stats?user_id=bob").json()["memory"]
    assert (bob["total"], bob["verdicts"]) == (0, {})


def test_announced_searches_are_counted_whatever_else_calls_itself_so(door: Doors, app: Database) -> None:
    now = datetime.now(UTC)
    forged = event("memory.recalled", {"user_id": "ada", "searches": 99}, source="shop")
    accept(app, forged)
    said_ = [Announcement("odd", "memory.recalled", now, {"user_id": "ada", "searches": "many"})]
    said_ += [Announcement(str(n), "memory.recalled", now, {"user_id": "ada", "searches": 2}) for n in (1, 2)]
    with app.tenant(TENANT) as tx:
        announce(tx, TENANT, said_)
    assert door.get("/v1/stats").json()["memory"]["recall"]["with_memories"] == 4
    assert door.get("/v1/stats?user_id=bob").json()["memory"]["recall"]["with_memories"] == 0


def test_a_user_that_can_be_none_is_refused_with_its_place(door: Doors) -> None:
    refused = door.get("/v1/stats", params={"user_id": ""})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/user_id")


def test_the_operator_alone_is_told_which_share_of_lookups_each_cache_answers(
    door: Doors, app: Database, settings: Settings
) -> None:
    def counted(cache: str) -> list[float]:
        labels = [{"cache": cache, "outcome": outcome} for outcome in ("hit", "miss")]
        return [REGISTRY.get_sample_value("imprint_cache_lookups_total", own) or 0 for own in labels]

    door.post("/v1/memories", {"user_id": "ada", "content": "Ada has a cat."})
    before = {cache: counted(cache) for cache in ("vectors", "rows")}
    operator = key_of(settings, DEFAULT, ("admin",))
    for _ in range(3):
        door.post("/v1/search", {"user_id": "ada", "query": "Which pet has Ada, of all that there are?"})
    for cache, (hits, misses) in before.items():
        hits_now, misses_now = counted(cache)
        assert hits_now > hits, cache
        assert hits_now - hits + misses_now - misses >= 3, cache
        told = door.get("/v1/stats", key=operator).json()["caches"]
        assert told[cache] == round(hits_now / (hits_now + misses_now), 2)
    assert set(told) == {"vectors", "rows", "messages"}
    for key in (key_of(settings, DEFAULT, ("read",)), key_of(settings, TENANT, ("admin",))):
        assert door.get("/v1/stats", key=key).json()["caches"] is None
