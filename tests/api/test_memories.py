from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from api.http.recalls import Asker, announcements_of
from core import events
from core.changes import Archive
from core.config import Settings
from core.db import Database
from core.types import Json
from tests.core.test_upkeep import a_memory, carry_out, expire, row
from tests.doors import Doors, key_of, opened
from tests.samples import TENANT
from tests.works import at_work


@pytest.fixture
def cat(app: Database) -> UUID:
    add = a_memory("Ada has a cat.")
    carry_out(app, add)
    return add.id


def listed(door: Doors, **asked: Any) -> list[str]:
    return [item["id"] for item in door.get("/v1/memories", params={"user_id": "ada", **asked}).json()["items"]]


def found(door: Doors, **asked: Any) -> list[Json]:
    answer = door.post("/v1/search", {"user_id": "ada", "query": "cat", "include": ["memories"], **asked})
    results: list[Json] = answer.json()["results"]
    return results


def recalled(app: Database) -> list[Json]:
    with app.tenant(TENANT) as tx:
        return [e.payload for e in events.since(tx, 0, 100) if e.event_type == "memory.recalled"]


def test_a_pinned_memory_does_not_fade_until_it_is_unpinned(door: Doors, cat: UUID) -> None:
    assert door.get(f"/v1/memories/{cat}").json()["fade_at"] is not None
    pinned = door.post(f"/v1/memories/{cat}/pin", {"pinned": True, "reason": "dear to her"}).json()
    assert (pinned["pinned"], pinned["fade_at"], pinned["version"]) == (True, None, 2)
    assert door.post(f"/v1/memories/{cat}/pin").json()["version"] == 2
    unpinned = door.post(f"/v1/memories/{cat}/pin", {"pinned": False}).json()
    assert (unpinned["pinned"], unpinned["version"]) == (False, 3)
    history = door.get(f"/v1/memories/{cat}/history").json()["items"]
    assert [step["change"] for step in history] == ["add", "pin", "unpin"]
    assert history[1]["reason"] == "dear to her"
    assert history[1]["author"]["name"].startswith("key:")
    assert door.get(f"/v1/memories/{cat}/why").status_code == 200


def test_what_is_archived_is_found_when_asked_for_and_comes_back(door: Doors, app: Database, cat: UUID) -> None:
    carry_out(app, Archive(cat, 1, "too old"))
    assert (listed(door), found(door)) == ([], [])
    assert listed(door, include_archived=True) == listed(door, status="archived") == [str(cat)]
    assert [(one["id"], one["status"]) for one in found(door, include_archived=True)] == [(str(cat), "archived")]
    assert door.post(f"/v1/memories/{cat}/restore", {"reason": "missed"}).json()["status"] == "active"
    assert door.post(f"/v1/memories/{cat}/restore").json()["version"] == 3
    assert listed(door) == [str(cat)]


def test_what_has_expired_is_listed_only_with_the_archived(door: Doors, app: Database, cat: UUID) -> None:
    expire(app, cat, datetime.now(UTC) - timedelta(seconds=1))
    assert (listed(door), found(door)) == ([], [])
    assert listed(door, include_archived=True) == [str(cat)]
    assert len(found(door, include_archived=True)) == 1


@pytest.mark.parametrize("act", ["pin", "restore"])
def test_who_has_looked_at_another_version_is_refused(door: Doors, app: Database, cat: UUID, act: str) -> None:
    assert door.post(f"/v1/memories/{cat}/{act}", {"version": 7}).status_code == 409
    assert row(app, cat).version == 1


@pytest.mark.parametrize("act", ["pin", "restore"])
def test_what_is_not_there_or_makes_no_sense_is_refused(door: Doors, settings: Settings, cat: UUID, act: str) -> None:
    assert door.post(f"/v1/memories/{uuid4()}/{act}").status_code == 404
    assert door.post(f"/v1/memories/{cat}/{act}", {"pind": True}).status_code == 422
    reader = key_of(settings, TENANT, ("read",))
    assert door.post(f"/v1/memories/{cat}/{act}", key=reader).status_code == 403


def test_an_unknown_status_is_refused(door: Doors) -> None:
    assert door.get("/v1/memories", params={"status": "lost"}).status_code == 422


def test_a_search_announces_what_it_handed_out_and_each_counts_once(
    settings: Settings, app: Database, cat: UUID
) -> None:
    with opened(settings) as door:
        assert [one["id"] for _ in range(10) for one in found(door)] == [str(cat)] * 10
        end = time.monotonic() + 10
        while not recalled(app) and time.monotonic() < end:
            time.sleep(0.05)
    said = recalled(app)
    assert {(one["user_id"], *one["memory_ids"]) for one in said} == {("ada", str(cat))}
    assert sum(one["searches"] for one in said) == 10
    with at_work(settings) as works:
        works.settle()
    assert row(app, cat).uses == 1
    assert recalled(app) == said


def test_a_search_that_hands_out_no_memory_announces_nothing(settings: Settings, app: Database, cat: UUID) -> None:
    with opened(settings) as door:
        door.post("/v1/search", {"user_id": "nobody", "query": "cat"})
    assert recalled(app) == []


def test_announcing_can_be_switched_off(settings: Settings, app: Database, cat: UUID) -> None:
    with opened(settings.model_copy(update={"announce_recalls": False})) as door:
        assert len(found(door)) == 1
    assert recalled(app) == []


def test_searches_of_one_user_become_one_event_and_tenants_are_kept_apart() -> None:
    ada, bob = Asker("acme", "ada", None), Asker("globex", "bob", "g")
    said = announcements_of([(ada, ["1", "2"]), (bob, ["3"]), (ada, ["2", "4"])])
    assert {tenant: [one.payload for one in several] for tenant, several in said.items()} == {
        "acme": [{"user_id": "ada", "memory_ids": ["1", "2", "4"], "searches": 2}],
        "globex": [{"user_id": "bob", "group_id": "g", "memory_ids": ["3"], "searches": 1}],
    }


def test_an_explained_result_says_what_the_formula_makes_of_it(settings: Settings, cat: UUID) -> None:
    with opened(settings.model_copy(update={"strength_formula": "even_blend"})) as door:
        (one,) = found(door, explain=True)
    assert one["scores"]["relevance"] == pytest.approx(0.6 * one["scores"]["vector"] + one["strength"])


def test_strength_in_the_answer_falls_with_time(door: Doors, app: Database, cat: UUID) -> None:
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET recorded_at = recorded_at - interval '180 days'"))
    assert door.get(f"/v1/memories/{cat}").json()["strength"] == pytest.approx(0.25, abs=1e-3)
