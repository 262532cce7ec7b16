"""What an event's trace tells, also where a flow has gathered the event for later."""

from __future__ import annotations

from typing import Any

from tests.doors import Doors
from tests.works import Works


def say(door: Doors, number: int) -> str:
    payload = {
        "session_id": "s1",
        "user_id": "ada",
        "role": "user",
        "content": f"I live in Porto, flat number {number}.",
    }
    event = {"id": f"e{number}", "event_type": "message.added", "source": "test", "payload": payload}
    answer = door.post("/v1/events", [event])
    assert answer.status_code == 202, answer.text
    return event["id"]


def verdict(trace: dict[str, Any], rule: str) -> dict[str, Any]:
    [found] = [r for r in trace["rules"] if r["rule"] == rule]
    return found


def test_an_event_that_no_router_has_seen_is_not_decided_yet(door: Doors) -> None:
    trace = door.get(f"/v1/events/{say(door, 1)}/trace").json()
    assert verdict(trace, "extract_while_chatting")["verdict"] == "not decided yet"


def test_a_gathered_event_shows_the_dispatch_that_acted_for_all(door: Doors, works: Works) -> None:
    events = [say(door, 1), say(door, 2)]
    works.settle()
    traces = [door.get(f"/v1/events/{event}/trace").json() for event in events]
    assert {verdict(t, "extract_while_chatting")["verdict"] for t in traces} == {"gathered"}
    shown = [[d["id"] for d in t["dispatches"] if d["rule"] == "extract_while_chatting"] for t in traces]
    assert shown[0] == shown[1]
    assert len(shown[0]) == 1
    assert traces[0]["changes"], "what the dispatch changed belongs to every event it acted for"


def test_a_rule_that_did_not_match_shows_the_actual_values(door: Doors, works: Works) -> None:
    ended = {"session_id": "s1", "user_id": "ada", "message_count": 2}
    say(door, 1)
    door.post("/v1/events", {"id": "end", "event_type": "session.ended", "source": "test", "payload": ended})
    works.settle()
    found = verdict(door.get("/v1/events/end/trace").json(), "consolidate_on_session_end")
    assert found["verdict"] == "no match"
    assert "'actual': 2" in str(found["tree"])
