"""With `four_eyes` nobody approves what they asked for themselves."""

from __future__ import annotations

from core.config import Settings
from core.types import Json
from tests.doors import Doors, key_of, opened
from tests.samples import TENANT, event
from tests.works import Works

NOTIFY: Json = {"action_type": "notify", "channel": "log", "template": "x"}
ON_ORDER: Json = {"name": "careful", "event_type": "order.placed", "action_mode": "approve", "actions": [NOTIFY]}
NIGHTLY: Json = {
    "name": "careful",
    "schedule": {"cron": "0 3 * * *"},
    "action_mode": "approve",
    "actions": [NOTIFY],
}


def held(door: Doors, works: Works) -> str:
    works.settle()
    [one] = door.get("/v1/dispatches", params={"hold": "approval"}).json()["items"]
    return str(one["id"])


def asked(door: Doors, works: Works, key: str) -> str:
    assert door.post("/v1/rules", ON_ORDER, key=key).status_code == 201
    assert door.post("/v1/events", event("order.placed"), key=key).status_code == 202
    return held(door, works)


def test_the_key_that_saved_a_rule_does_not_approve_it(settings: Settings, works: Works) -> None:
    mine, theirs = (key_of(settings, TENANT, ("rules", "publish")) for _ in range(2))
    with opened(settings.model_copy(update={"four_eyes": True})) as door:
        one = asked(door, works, mine)
        refused = door.post(f"/v1/dispatches/{one}/approve", key=mine)
        assert (refused.status_code, "another key" in refused.json()["detail"]) == (403, True)
        assert door.post(f"/v1/dispatches/{one}/approve", key=theirs).status_code == 200


def test_the_key_that_ran_a_rule_does_not_approve_it(settings: Settings, works: Works) -> None:
    mine, theirs = (key_of(settings, TENANT, ("rules",)) for _ in range(2))
    with opened(settings.model_copy(update={"four_eyes": True})) as door:
        assert door.post("/v1/rules", NIGHTLY, key=theirs).status_code == 201
        assert door.post("/v1/rules/careful/run", key=mine).status_code == 202
        one = held(door, works)
        assert door.post(f"/v1/dispatches/{one}/approve", key=mine).status_code == 403
        assert door.post(f"/v1/dispatches/{one}/approve", key=theirs).status_code == 403
        assert door.post(f"/v1/dispatches/{one}/approve").status_code == 200


def test_saying_no_to_ones_own_is_always_right(settings: Settings, works: Works) -> None:
    mine = key_of(settings, TENANT, ("rules", "publish"))
    with opened(settings.model_copy(update={"four_eyes": True})) as door:
        one = asked(door, works, mine)
        assert door.post(f"/v1/dispatches/{one}/reject", key=mine).status_code == 200


def test_with_one_key_it_is_off(door: Doors, works: Works, settings: Settings) -> None:
    mine = key_of(settings, TENANT, ("rules", "publish"))
    assert door.post(f"/v1/dispatches/{asked(door, works, mine)}/approve", key=mine).status_code == 200
