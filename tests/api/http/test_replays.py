"""Stored events are decided again over HTTP: planned, in the shadow and live."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from core.types import Json
from tests.doors import Doors
from tests.samples import TENANT, event
from tests.works import Works

YESTERDAY = datetime(2026, 11, 20, 9, tzinfo=UTC)
ORDERS = {"filter": {"types": ["order.placed"]}}
ECHO: Json = {
    "name": "echo",
    "event_type": "order.placed",
    "conditions": {"field": "payload.n", "op": ">=", "value": 1},
    "actions": [{"action_type": "emit", "event_type": "order.seen", "payload": {"n": "{{payload.n}}"}}],
}


def save(door: Doors, *documents: Json, tenant: str = TENANT) -> None:
    for document in documents:
        answer = door.post("/v1/rules", document, tenant=tenant)
        assert answer.status_code == 201, answer.text


def happened(door: Doors, works: Works, *documents: Json, tenant: str = TENANT) -> None:
    """Events of yesterday, all work on them long done."""
    assert door.post("/v1/events", list(documents), tenant=tenant).status_code == 202
    works.settle()


def orders(count: int, *, seconds: int = 60, **payload: Any) -> list[Json]:
    """Orders of Ada and Bob in turn, `n` counting from 0."""
    return [
        event(
            "order.placed",
            {"user_id": ("ada", "bob")[n % 2], "n": n, **payload},
            id=f"o{n}",
            time=(YESTERDAY + timedelta(seconds=seconds * n)).isoformat(),
        )
        for n in range(count)
    ]


def asked(door: Doors, body: Json, *, key: str | None = None, tenant: str = TENANT, status: int = 202) -> Json:
    headers = {"Idempotency-Key": key} if key else {}
    answer = door.ask("POST", "/v1/events/replay", json=body, headers=headers, tenant=tenant)
    assert answer.status_code == status, answer.text
    return dict(answer.json())


def planned(door: Doors, body: Json, **more: Any) -> Json:
    return asked(door, body | {"mode": "plan"}, status=200, **more)


def replayed(door: Doors, works: Works, body: Json, *, mode: str = "live", tenant: str = TENANT) -> Json:
    begun = asked(door, body | {"mode": mode}, tenant=tenant)
    works.settle()
    return dict(door.get(f"/v1/events/replays/{begun['id']}", tenant=tenant).json())


def rule_of(made: Json, name: str) -> Json:
    return next(dict(rule) for rule in made["rules"] if rule["rule"] == name)


def emitted(door: Doors, event_type: str, *, tenant: str = TENANT) -> list[Json]:
    items = door.get("/v1/events", params={"type": event_type, "limit": 500}, tenant=tenant).json()["items"]
    return list(reversed(items))


def test_a_rule_added_after_the_fact_is_applied_to_the_events_of_yesterday(door: Doors, works: Works) -> None:
    happened(door, works, *orders(4))
    save(door, ECHO)
    made = planned(door, ORDERS)
    assert (made["events"], made["truncated"], made["dispatches"]) == (4, False, 3)
    echo = rule_of(made, "echo")
    assert (echo["matched"], echo["fired"], echo["users"]) == (3, 3, 2)
    assert [sample["events"] for sample in echo["samples"]] == [["o1"], ["o2"], ["o3"]]
    assert echo["samples"][0]["actions"][0]["payload"] == {"n": 1}
    assert emitted(door, "order.seen") == []
    done = replayed(door, works, ORDERS)
    assert (done["status"], done["events"], done["decided"]) == ("done", 4, 4)
    assert done["dispatches"] == {"done": 3}
    assert [one["payload"]["n"] for one in emitted(door, "order.seen")] == [1, 2, 3]
