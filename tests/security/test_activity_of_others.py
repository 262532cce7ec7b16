"""What a tenant is told shows nothing of how much others do."""

from __future__ import annotations

import base64

import pytest

from core.config import Settings
from tests.doors import OTHER, Doors, opened
from tests.samples import event, said


def token_of(door: Doors, **more: str) -> str:
    return str(door.post("/v1/events", event(), **more).json()["settle_token"])


def test_a_token_does_not_show_a_place_in_the_log(door: Doors) -> None:
    first, second = token_of(door), token_of(door, tenant=OTHER)
    for token in (first, second):
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        assert b"seq" not in raw
        assert not any(str(place).encode() in raw for place in (1, 2) if raw.isascii())
    assert first != second


def test_tokens_of_neighbouring_places_have_nothing_in_common(door: Doors) -> None:
    one, two = (base64.urlsafe_b64decode(token_of(door) + "==") for _ in range(2))
    assert sum(a == b for a, b in zip(one, two, strict=True)) < len(one) // 2


def test_a_token_settles_for_its_own_tenant_alone(door: Doors) -> None:
    mine = token_of(door)
    assert door.get("/v1/settle", params={"token": mine, "timeout": 0}).status_code == 200
    theirs = door.get("/v1/settle", params={"token": mine, "timeout": 0}, tenant=OTHER)
    assert theirs.status_code == 422
    assert theirs.json()["errors"][0]["pointer"] == "/token"


@pytest.mark.parametrize("change", [lambda t: t[:-2] + "AA", lambda t: t[4:], lambda t: "c2VxOjE", lambda t: "A" * 32])
def test_a_token_that_was_changed_or_made_up_is_refused(door: Doors, change: object) -> None:
    assert callable(change)
    forged = change(token_of(door))
    assert door.get("/v1/settle", params={"token": forged, "timeout": 0}).status_code == 422


def test_every_process_of_the_installation_reads_it(settings: Settings, door: Doors) -> None:
    token = token_of(door)
    with opened(settings) as another:
        assert another.get("/v1/settle", params={"token": token, "timeout": 0}).status_code == 200


def test_figures_of_latency_are_the_asking_tenants_alone(door: Doors) -> None:
    door.post("/v1/events", said("I live in Lisbon."))
    for _ in range(3):
        door.post("/v1/search", {"user_id": "ada", "query": "Lisbon"})
    door.post("/v1/memories", {"user_id": "ada", "content": "Ada has a cat."})
    mine, theirs = (door.get("/v1/stats", tenant=t).json()["memory"]["latency_ms"] for t in ("acme", OTHER))
    for what in ("search", "write"):
        assert mine[what]["p50"] > 0
        assert set(theirs[what].values()) == {None}
