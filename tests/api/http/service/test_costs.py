"""`GET /v1/costs` and `imprint costs`: what models have cost a tenant."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from core.config import Settings
from core.storage.db import Database
from tests.core.inference.calls import NOW, call, dispatch
from tests.doors import OTHER, Doors, key_of, opened


def test_costs_are_told_by_each_kind(door: Doors, app: Database) -> None:
    call(app, dispatch(app, "episode_writer", "on_end", "ada"), model="small")
    expected = {"rule": "on_end", "agent": "episode_writer", "user": "ada", "model": "small"}
    for by, key in expected.items():
        told = door.get("/v1/costs", params={"by": by}).json()
        figures = {"calls": 1, "input_tokens": 100, "output_tokens": 10, "cost": 0.25, "latency_ms_p95": 50.0}
        assert told == {"from": None, "items": [{"key": key, **figures}], "total": figures, "next": None}


def test_of_more_calls_than_are_asked_for_the_newest_are_added_up(door: Doors, app: Database) -> None:
    for hours in range(5):
        call(app, at=NOW - timedelta(hours=hours), model="small")
    told = door.get("/v1/costs", params={"by": "model", "most": 3}).json()
    assert datetime.fromisoformat(told["from"]) == NOW - timedelta(hours=3)
    assert told["total"]["calls"] == 4  # With the one at that very moment.
    assert door.get("/v1/costs", params={"by": "model", "most": 5}).json()["from"] is None


def test_they_are_told_between_two_moments(door: Doors, app: Database) -> None:
    for hours in (1, 3, 5):
        call(app, at=NOW - timedelta(hours=hours), model=f"m{hours}")
    between = {"from": (NOW - timedelta(hours=4)).isoformat(), "to": (NOW - timedelta(hours=2)).isoformat()}
    told = door.get("/v1/costs", params={"by": "model", **between}).json()
    assert [one["key"] for one in told["items"]] == ["m3"]
    assert told["total"]["calls"] == 1


def test_costs_are_told_by_day(door: Doors, app: Database) -> None:
    call(app, at=NOW - timedelta(days=2), model="small")
    call(app, at=NOW, model="small")
    told = door.get("/v1/costs/days", params={"to": (NOW + timedelta(hours=1)).isoformat()}).json()
    small = told["series"][0]
    assert len(told["days"]) in {30, 31}
    assert (small["key"], sum(small["calls"]), sum(small["cost"])) == ("small", 2, 0.5)
    assert told["days"][small["calls"].index(1)] == (NOW - timedelta(days=2)).date().isoformat()
    assert door.get("/v1/costs/days", tenant=OTHER).json()["series"] == []


def test_today_stands_beside_what_a_day_may_cost(door: Doors, app: Database, settings: Settings) -> None:
    call(app)
    told = door.get("/v1/costs/today").json()
    assert (told["tokens"], told["cost"], told["tokens_per_day"], told["cost_per_day"]) == (110, 0.25, None, None)
    assert door.get("/v1/costs/today", tenant=OTHER).json()["tokens"] == 0
    with opened(settings.model_copy(update={"llm_tokens_per_day": 500, "llm_cost_per_day": 1.5})) as bounded:
        told = bounded.get("/v1/costs/today").json()
    assert (told["tokens_per_day"], told["cost_per_day"]) == (500, 1.5)


@pytest.mark.parametrize("begins", ["2026-01-01T00:00:00Z", "2026-11-02T00:00:00Z"])
def test_days_are_a_quarter_at_most(door: Doors, begins: str) -> None:
    refused = door.get("/v1/costs/days", params={"from": begins, "to": "2026-11-01T00:00:00Z"})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/from")


@pytest.mark.parametrize(
    ("params", "pointer"),
    [
        ({"by": "colour"}, "/by"),
        ({"by": ""}, "/by"),
        ({"from": "yesterday"}, "/from"),
        ({"to": "2026-11-21T00:00:00"}, "/to"),
        ({"limit": "0"}, "/limit"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(door: Doors, params: dict[str, str], pointer: str) -> None:
    refused = door.get("/v1/costs", params=params)
    assert refused.status_code == 422
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["errors"][0]["pointer"] == pointer


def test_another_tenant_is_told_nothing_of_it(door: Doors, app: Database) -> None:
    call(app, dispatch(app, "episode_writer", "on_end", "ada"))
    for by in ("rule", "agent", "user", "model"):
        told = door.get("/v1/costs", params={"by": by}, tenant=OTHER).json()
        assert (told["items"], told["total"]["calls"]) == ([], 0)


def test_a_key_needs_the_scope_to_read(door: Doors, settings: Settings) -> None:
    assert door.get("/v1/costs", key=key_of(settings, OTHER, ("publish",))).status_code == 403
    assert door.get("/v1/costs", key=key_of(settings, OTHER, ("read",))).status_code == 200
    assert door.get("/v1/costs", key="none").status_code == 401
