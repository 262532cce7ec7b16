"""What an event's trace tells, also where a flow has gathered the event for later."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from core.storage.db import Database
from core.types import Json
from tests.doors import Doors
from tests.rules.samples import a_document
from tests.samples import TENANT, ended
from tests.works import Works
from workers.routing import bus_consumer


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


def over_http(door: Doors, _app: Database, document: Json) -> None:
    assert door.post("/v1/events", document).status_code == 202


def over_mcp(door: Doors, _app: Database, document: Json) -> None:
    call = {"name": "event_publish", "arguments": document}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    answer = door.post("/mcp", message, headers={"host": "127.0.0.1:8070"})
    assert answer.json()["result"]["structuredContent"]["accepted"] == 1


def over_bus(_door: Doors, app: Database, document: Json) -> None:
    bus_consumer.BusMessage(
        bus_consumer.Intake(app, TENANT, 100, 4096, lambda: None), json.dumps(document).encode(), {}, "application/json"
    ).accept()


PUBLISH: Mapping[str, Callable[[Doors, Database, Json], None]] = {"http": over_http, "mcp": over_mcp, "bus": over_bus}


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


def test_a_trace_shows_what_was_looked_up_as_of_the_event(door: Doors, works: Works) -> None:
    third = {"field": "session.message_count", "op": ">=", "value": 2}
    door.post("/v1/rules", a_document(event_type="message.added", conditions=third))
    events = [say(door, 1), say(door, 2), say(door, 3)]
    works.settle()
    told = [verdict(door.get(f"/v1/events/{event}/trace").json(), "r") for event in events]
    assert [(one["verdict"], one["tree"]["actual"]) for one in told] == [("no match", 1), ("fired", 2), ("fired", 3)]


def test_a_trace_shows_how_near_a_text_was(door: Doors, works: Works) -> None:
    near = {"field": "payload.content", "op": "means", "value": "where somebody lives", "threshold": 0.99}
    door.post("/v1/rules", a_document(event_type="message.added", conditions=near))
    event = say(door, 1)
    works.settle()
    tree = verdict(door.get(f"/v1/events/{event}/trace").json(), "r")["tree"]
    assert (tree["threshold"], -1 <= tree["similarity"] < 0.99, tree["result"]) == (0.99, True, False)


def test_a_trace_tells_which_stage_held_a_rule_back(door: Doors, works: Works) -> None:
    note = {"action_type": "notify", "channel": "log", "template": "x"}
    flow = {"cooldown": {"seconds": 3600}}
    door.post("/v1/rules", a_document(event_type="message.added", flow=flow, actions=[note]))
    events = [say(door, 1), say(door, 2)]
    works.settle()
    told = [verdict(door.get(f"/v1/events/{event}/trace").json(), "r") for event in events]
    assert [(one["verdict"], one["reason"]) for one in told] == [("fired", None), ("held", "cooldown")]


def test_a_trace_shows_what_waits_for_a_word_and_what_comes_after_it(door: Doors, works: Works) -> None:
    note = {"action_type": "notify", "channel": "log", "template": "x"}
    door.post("/v1/rules", a_document(event_type="message.added", action_mode="approve", actions=[note, note]))
    event = say(door, 1)
    works.settle()
    held = [d for d in door.get(f"/v1/events/{event}/trace").json()["dispatches"] if d["rule"] == "r"]
    assert [one["status"] for one in held] == ["held", "held"]
    assert held[0]["hold"] == "approval"
    assert held[1]["after"] == held[0]["id"]


def test_a_trace_explains_with_the_rules_that_were_in_force_then(door: Doors, works: Works) -> None:
    def rule(value: str) -> dict[str, Any]:
        leaf = {"field": "payload.role", "op": "==", "value": value}
        return a_document(event_type="message.added", conditions=leaf)

    door.post("/v1/rules", rule("system"))
    event = say(door, 1)
    works.settle()
    door.post("/v1/rules", rule("user"))
    door.post("/v1/rules", {**rule("user"), "name": "younger"})
    trace = door.get(f"/v1/events/{event}/trace").json()
    told = verdict(trace, "r")
    assert (told["version"], told["verdict"], told["tree"]["expected"]) == (1, "no match", "system")
    assert "younger" not in {one["rule"] for one in trace["rules"]}
    door.ask("DELETE", "/v1/rules/r")
    assert verdict(door.get(f"/v1/events/{event}/trace").json(), "r")["tree"]["expected"] == "system"


@pytest.mark.parametrize("through", ["http", "mcp", "bus"])
def test_an_end_without_a_count_meets_the_rule_of_three_messages(
    door: Doors, works: Works, app: Database, through: str
) -> None:
    for number in range(3):
        say(door, number)
    PUBLISH[through](door, app, ended(id="end"))
    works.settle()
    trace = door.get("/v1/events/end/trace").json()
    assert trace["event"]["payload"]["message_count"] == 3
    assert trace["event"]["payload"]["filled_in"] == ["message_count"]
    for name in ("consolidate_on_session_end", "write_episodes"):
        assert verdict(trace, name)["verdict"] == "fired"
    assert "'actual': 3" in str(verdict(trace, "consolidate_on_session_end")["tree"])


def test_trying_a_rule_on_an_end_counts_as_accepting_it_would(door: Doors) -> None:
    for number in range(3):
        say(door, number)
    asked = {"names": ["consolidate_on_session_end"], "event": ended()}
    assert door.post("/v1/rules/test", asked).json()[0]["matched"] is True
    assert door.post("/v1/rules/test", asked | {"event": ended("other")}).json()[0]["matched"] is False
