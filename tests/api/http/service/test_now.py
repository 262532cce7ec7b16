"""`GET /v1/now`: what a live page needs, of one tenant."""

from __future__ import annotations

from core.config import Settings
from tests.doors import OTHER, Doors, key_of
from tests.samples import TENANT, said


def test_what_waits_for_the_router_is_told_to_its_own_tenant(door: Doors) -> None:
    door.post("/v1/events", said("I live in Turin."))
    mine, theirs = door.get("/v1/now").json(), door.get("/v1/now", tenant=OTHER).json()
    assert mine["router"]["waiting"] == {"count": 1, "more": False}
    assert mine["router"]["oldest_at"] == mine["freshness"]["event_at"]
    assert theirs["router"] == {"waiting": {"count": 0, "more": False}, "oldest_at": None, "seconds": 0}
    assert theirs["freshness"]["event_at"] is None
    assert [one["name"] for one in mine["processes"]] == ["router", "clock", "worker-io", "worker-cpu"]
    assert mine["dispatches"].keys() == {"pending", "running", "retrying", "more", "held", "dead"}
    assert mine["needs_person"].keys() == {"approvals", "dead", "disputed", "quarantined", "endpoints"}


def test_a_key_that_cannot_read_is_refused(door: Doors, settings: Settings) -> None:
    assert door.get("/v1/now", key=key_of(settings, TENANT, ("publish",))).status_code == 403
