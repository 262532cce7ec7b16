"""`GET /v1/health`: what everybody may know, and what the operator alone may."""

from __future__ import annotations

from core.config import Settings
from core.tenancy.tenants import DEFAULT
from tests.doors import OTHER, Doors, key_of
from tests.samples import TENANT, said


def test_a_tenant_is_told_processes_and_its_own_queues(door: Doors, settings: Settings) -> None:
    door.post("/v1/events", said("I live in Turin."))
    told = door.get("/v1/health").json()
    assert [one["name"] for one in told["processes"]] == ["api", "router", "clock", "worker-io", "worker-cpu"]
    assert [one["name"] for one in told["queues"]] == ["io", "cpu"]
    assert told["installation"] is None
    assert door.get("/v1/health", tenant=OTHER).json()["installation"] is None
    assert door.get("/v1/health", key=key_of(settings, TENANT, ("publish",))).status_code == 403


def test_the_installation_is_told_to_its_operator_alone(door: Doors, settings: Settings) -> None:
    assert door.get("/v1/health", key=key_of(settings, DEFAULT, ("read",))).json()["installation"] is None
    told = door.get("/v1/health", key=key_of(settings, DEFAULT, ("admin",))).json()["installation"]
    assert {"memories", "events", "owners"} <= {one["name"] for one in told["tables"]}
    assert told["database"]["migration"] == told["database"]["newest_migration"]
    assert told["disk"]["free_bytes"] > 0
    assert told["embedder"]["seconds"] >= 0
    assert told["broker"].keys() == {"kind", "seconds", "error"}
