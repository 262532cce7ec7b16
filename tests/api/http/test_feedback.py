"""What a rule does with a memory or a channel, seen from outside alone."""

from __future__ import annotations

from uuid import UUID

import pytest
from structlog.testing import capture_logs

from core.types import Json
from tests.doors import OTHER, Doors
from tests.samples import TENANT, event
from tests.works import Works
from workers.dispatch.relay import DispatchRef


def a_memory(door: Doors) -> Json:
    return dict(door.post("/v1/memories", {"user_id": "ada", "content": "Ada likes tea."}).json()["memory"])


def given(door: Doors, works: Works, memory: Json, verdict: str, **more: str) -> Json:
    """The memory after feedback on it."""
    payload = {"user_id": "ada", "memory_id": memory["id"], "verdict": verdict, **more}
    assert door.post("/v1/events", event("feedback.given", payload)).status_code == 202
    works.settle()
    return dict(door.get(f"/v1/memories/{memory['id']}").json())


@pytest.mark.parametrize(("verdict", "sign"), [("confirm", 1), ("weaken", -1)])
def test_feedback_makes_the_memory_that_it_names_surer_or_less_sure(
    door: Doors, works: Works, verdict: str, sign: int
) -> None:
    before = a_memory(door)
    after = given(door, works, before, verdict, comment="She said so.")
    assert (after["confidence"] - before["confidence"]) * sign > 0
    [_, version] = door.get(f"/v1/memories/{before['id']}/history").json()["items"]
    assert version["author"]["name"] == "feedback_taker"
    assert door.get("/v1/events", params={"type": "memory.updated"}).json()["items"][0]["subject"]


def test_a_correction_waits_for_a_person_and_then_changes_the_words(door: Doors, works: Works) -> None:
    before = a_memory(door)
    assert given(door, works, before, "correct", content="Ada likes coffee.")["content"] == "Ada likes tea."
    [held] = door.get("/v1/dispatches", params={"hold": "approval"}).json()["items"]
    assert door.post(f"/v1/dispatches/{held['id']}/approve").status_code == 200
    works.run([DispatchRef(TENANT, "cpu", UUID(held["id"]))])
    assert door.get(f"/v1/memories/{before['id']}").json()["content"] == "Ada likes coffee."


def test_nobody_gives_feedback_on_a_memory_of_another_tenant(door: Doors, works: Works) -> None:
    mine = a_memory(door)
    payload = {"user_id": "ada", "memory_id": mine["id"], "verdict": "weaken"}
    assert door.post("/v1/events", event("feedback.given", payload), tenant=OTHER).status_code == 202
    works.settle()
    assert door.get(f"/v1/memories/{mine['id']}").json()["version"] == mine["version"]


def test_the_notifier_is_a_target_like_any_other_agent(door: Doors, works: Works) -> None:
    tell = {"channel": "log", "template": "Order {{payload.n}} came."}
    rule = {
        "name": "tell",
        "event_type": "order.placed",
        "actions": [{"action_type": "run_agent", "target": "notifier", "params": tell}],
    }
    assert door.post("/v1/rules", rule).status_code == 201
    door.post("/v1/events", event("order.placed", {"n": 7}))
    with capture_logs() as lines:
        works.settle()
    assert [line["text"] for line in lines if line["event"] == "notification"] == ["Order 7 came."]
    [sent] = door.get("/v1/dispatches", params={"rule": "tell"}).json()["items"]
    assert (sent["action_type"], sent["target"], sent["status"]) == ("run_agent", "notifier", "done")
