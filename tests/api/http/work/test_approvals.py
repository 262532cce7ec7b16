"""What held actions would do, and deciding about several at once."""

from __future__ import annotations

from typing import Any

from core.config import Settings
from core.storage.db import Database
from core.types import Json
from rules.registry import defaults
from tests.api.http.dispatching import EMIT, NOTIFY, events_of, problem, save, shown, status_of
from tests.doors import OTHER, Doors, key_of
from tests.samples import TENANT, accept, event
from tests.works import Works


def held(door: Doors, app: Database, works: Works, number: int = 2, **fields: Any) -> list[str]:
    save(app, **{"name": "careful", "action_mode": "approve", "actions": [NOTIFY], **fields})
    for n in range(number):
        accept(app, event(payload={"total": n}, id=f"e{n}"))
    works.settle()
    return [one["id"] for one in shown(door, hold="approval")]


def test_all_that_a_rule_asks_for_is_approved_with_one_remark(door: Doors, app: Database, works: Works) -> None:
    ids = held(door, app, works, 3)
    assert "confirm" in problem(door.post("/v1/dispatches/decide", {"verdict": "approve", "rule": "careful"}), 409)
    body = {"verdict": "approve", "rule": "careful", "confirm": 3, "comment": "checked"}
    answer = door.post("/v1/dispatches/decide", body).json()
    assert (answer["done"], answer["refused"], answer["more"]) == (3, 0, False)
    assert set(status_of(door, *ids)) == {"pending"}
    assert {e["payload"]["comment"] for e in events_of(door, "approval.decided")} == {"checked"}


def test_each_of_several_has_a_result_of_its_own(door: Doors, app: Database, works: Works) -> None:
    one, other = held(door, app, works)
    door.post(f"/v1/dispatches/{one}/approve")
    answer = door.post("/v1/dispatches/decide", {"verdict": "reject", "ids": [one, other]}).json()
    assert [row["outcome"] for row in answer["items"]] == ["refused", "done"]
    assert "final" in answer["items"][0]["detail"]
    assert status_of(door, other) == ["cancelled"]


def test_a_request_names_dispatches_or_a_rule(door: Doors) -> None:
    answer = door.post("/v1/dispatches/decide", {"verdict": "approve"})
    assert [one["pointer"] for one in answer.json()["errors"]] == ["/ids"]


def test_who_may_not_decide_one_may_not_decide_many(
    settings: Settings, door: Doors, app: Database, works: Works
) -> None:
    one, _ = held(door, app, works)
    for scope in ("read", "write"):
        key = key_of(settings, TENANT, (scope,))
        answer = door.post("/v1/dispatches/decide", {"verdict": "approve", "ids": [one]}, key=key)
        assert answer.status_code == 403
    foreign = door.post("/v1/dispatches/decide", {"verdict": "approve", "ids": [one]}, tenant=OTHER).json()
    assert (foreign["done"], foreign["refused"]) == (0, 1)
    assert status_of(door, one) == ["held"]


def effect(door: Doors, app: Database, works: Works, action: Json) -> Json:
    (one,) = held(door, app, works, 1, actions=[action])
    found: Json = door.get(f"/v1/dispatches/{one}/effect").json()
    return found


def test_a_notice_shows_its_text(door: Doors, app: Database, works: Works) -> None:
    found = effect(door, app, works, NOTIFY)
    assert (found["kind"], found["effect"]) == ("notice", {"channel": "log", "text": "Total: 0"})


def test_an_event_shows_its_type_and_payload(door: Doors, app: Database, works: Works) -> None:
    found = effect(door, app, works, EMIT)
    assert (found["kind"], found["effect"]) == ("event", {"event_type": "order.checked", "payload": {}})


def test_what_can_only_be_known_by_doing_it_is_not_shown(door: Doors, app: Database, works: Works) -> None:
    found = effect(door, app, works, {"action_type": "run_agent", "target": "memory_decay"})
    assert found == {"kind": "agent", "target": "memory_decay", "effect": None}


def held_feedback(door: Doors, works: Works, verdict: str = "correct", **payload: str) -> Json:
    """The effect of feedback on a memory, which waits for approval."""
    memory = door.post("/v1/memories", {"user_id": "ada", "content": "Ada likes tea."}).json()["memory"]
    content = {"user_id": "ada", "memory_id": memory["id"], "verdict": verdict, **payload}
    assert door.post("/v1/events", event("feedback.given", content)).status_code == 202
    works.settle()
    (waiting,) = shown(door, hold="approval")
    effect: Json = door.get(f"/v1/dispatches/{waiting['id']}/effect").json()
    assert effect["target"] == "feedback_taker"
    return effect | {"memory_id": memory["id"]}


def test_a_correction_shows_the_memory_and_both_wordings(door: Doors, works: Works) -> None:
    waiting = held_feedback(door, works, content="Ada likes coffee.")
    assert waiting["kind"] == "feedback"
    effect = waiting["effect"]
    assert (effect["memory_id"], effect["verdict"]) == (waiting["memory_id"], "correct")
    assert effect["before"]["content"] == effect["content"] == "Ada likes tea."
    assert effect["after"]["content"] == "Ada likes coffee."


def test_other_feedback_shows_the_figures_that_it_changes(door: Doors, app: Database, works: Works) -> None:
    rule = next(rule for rule in defaults.load() if rule["name"] == "take_feedback")
    save(app, **rule | {"action_mode": "approve"})
    effect = held_feedback(door, works, "weaken")["effect"]
    assert set(effect["after"]) == {"confidence", "importance"}
    assert all(effect["after"][name] < effect["before"][name] for name in effect["after"])


def test_feedback_that_would_be_refused_shows_why(door: Doors, works: Works) -> None:
    effect = held_feedback(door, works, content="Ada likes tea.", user_id="bob")["effect"]
    assert "belongs to neither" in effect["refused"]


def test_a_request_to_forget_shows_how_much_it_covers(door: Doors, works: Works) -> None:
    for n, said in enumerate(["I live in Porto.", "Forget everything I told you."]):
        payload = {"session_id": "s1", "user_id": "ada", "role": "user", "content": said, "message_id": f"m{n}"}
        door.post("/v1/events", event("message.added", payload, id=f"m{n}"))
        works.settle()
    (waiting,) = shown(door, hold="approval")
    answer = door.get(f"/v1/dispatches/{waiting['id']}/effect").json()
    assert answer["kind"] == "forgetting"
    assert answer["effect"]["scope"] == "everything"
    assert (answer["effect"]["session_id"], answer["effect"]["message_id"]) == ("s1", "m1")
    assert answer["effect"]["messages"] >= 1
