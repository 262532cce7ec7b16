"""What a request to add becomes in the log."""

from __future__ import annotations

from typing import Any

import pytest

from core.types import Json
from tests.doors import Doors
from tests.works import Works

ADD = "/compat/mem0/v3/memories/add/"


def test_messages_are_events_with_metadata_where_rules_read_it(door: Doors) -> None:
    asked = {"messages": [{"role": "user", "content": "Hi.", "name": "Ada"}], "user_id": "ada", "run_id": "r1"}
    more = {"agent_id": "chef", "metadata": {"source": "chat"}, "timestamp": 1_700_000_000}
    assert door.post(ADD, asked | more).status_code == 200
    (event,) = door.get("/v1/events", params={"session_id": "r1"}).json()["items"]
    assert (event["event_type"], event["source"], event["time"][:10]) == ("message.added", "mem0", "2023-11-14")
    told = {name: event["payload"][name] for name in ("role", "content", "speaker", "agent_id")}
    assert told == {"role": "user", "content": "Hi.", "speaker": "Ada", "agent_id": "chef"}
    assert event["payload"]["metadata"]["source"] == "chat"


def test_without_a_run_the_session_ends_with_the_request(door: Doors) -> None:
    assert door.post(ADD, {"messages": "Hi.", "user_id": "ada"}).status_code == 200
    types = [one["event_type"] for one in door.get("/v1/events", params={"user_id": "ada"}).json()["items"]]
    assert types == ["session.ended", "message.added"]


def test_a_fault_is_named_where_the_caller_wrote_it(door: Doors) -> None:
    answer = door.post(ADD, {"messages": ["x"], "user_id": "ada"})
    assert answer.json()["errors"][0]["pointer"].startswith("/messages/0")
    answer = door.post(ADD, {"messages": "x" * 20_000, "user_id": "ada", "infer": False})
    assert answer.json()["errors"][0]["pointer"] == "/messages/0/content"


TOOL_TURN: list[Json] = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": "How warm is it at home? I live in Porto."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Porto"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "12 degrees"},
    {"role": "narrator", "content": "The sun sets."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "This is my dog Rex."},
            {"type": "image_url", "image_url": {"url": "https://example.org/rex.png"}},
        ],
    },
]


def events_of(door: Doors, **named: str) -> list[Json]:
    items: list[Json] = door.get("/v1/events", params={"type": "message.added", **named}).json()["items"]
    return items[::-1]


def listed(door: Doors, **named: Any) -> list[Json]:
    page: list[Json] = door.post("/compat/mem0/v3/memories/", {"filters": {"user_id": "ada", **named}}).json()[
        "results"
    ]
    return page


@pytest.mark.parametrize("route", ["v3/memories/add/", "v1/memories/", "oss/memories"])
def test_a_message_that_cannot_be_read_refuses_no_other(door: Doors, route: str) -> None:
    answer = door.post(f"/compat/mem0/{route}", {"messages": TOOL_TURN, "user_id": "ada", "run_id": "r1"})
    assert answer.status_code == 200, answer.text
    told = answer.json()[0] if isinstance(answer.json(), list) else answer.json()
    assert [one["taken"] for one in told["messages"]] == [True, True, True, True, False, True]
    assert "narrator" in told["messages"][4]["reason"]
    payloads = [event["payload"] for event in events_of(door, session_id="r1")]
    assert [(one["role"], one["content"]) for one in payloads] == [
        ("system", "Be brief."),
        ("user", "How warm is it at home? I live in Porto."),
        ("assistant", ""),
        ("tool", "12 degrees"),
        ("user", "This is my dog Rex."),
    ]
    assert payloads[2]["tool_calls"] == TOOL_TURN[2]["tool_calls"]
    assert payloads[3]["tool_call_id"] == "c1"
    assert payloads[4]["metadata"]["content_parts"] == [{"type": "image_url", "url": "https://example.org/rex.png"}]


def test_a_message_that_the_log_refuses_is_left_out_with_the_reason(door: Doors) -> None:
    unstorable = {"role": "user", "content": "a\x00b"}
    answer = door.post(ADD, {"messages": [unstorable, TOOL_TURN[1]], "user_id": "ada"})
    assert [one["taken"] for one in answer.json()["messages"]] == [False, True]
    refused = door.post(ADD, {"messages": [unstorable], "user_id": "ada"})
    assert [error["pointer"] for error in refused.json()["errors"]] == ["/messages/0/content"]


def test_what_an_assistant_of_langchain_says_is_not_the_users(door: Doors, works: Works) -> None:
    said = {"type": "ai", "content": "I live in Paris and I am a vegetarian."}
    assert door.post(ADD, {"messages": [said], "user_id": "ada"}).status_code == 200
    works.settle()
    assert not [one for one in listed(door) if "Paris" in one["memory"] or "vegetarian" in one["memory"]]
    assert [event["payload"]["role"] for event in events_of(door)] == ["assistant"]
    kept = door.post(ADD, {"messages": [said], "user_id": "ada", "infer": False}).json()["results"]
    assert [memory["memory"].lower().startswith("ada ") for memory in kept] == [False]


def test_without_inference_instructions_and_messages_without_words_are_passed_over(door: Doors) -> None:
    answer = door.post(ADD, {"messages": TOOL_TURN, "user_id": "ada", "infer": False}).json()
    assert [one["taken"] for one in answer["messages"]] == [False, True, False, True, False, True]
    assert all(one["reason"] for one in answer["messages"] if not one["taken"])
    assert len(answer["results"]) == 3
    assert door.post(ADD, {"messages": TOOL_TURN[:1], "user_id": "ada", "infer": False}).json()["results"] == []


def test_a_sentence_said_again_is_found_by_the_agent_and_metadata_of_each_time(door: Doors) -> None:
    for agent, trip in (("chef", 1), ("guide", 2)):
        asked = {"messages": "Ada prefers window seats.", "user_id": "ada", "infer": False}
        assert door.post(ADD, {**asked, "agent_id": agent, "metadata": {"trip": trip}}).status_code == 200
    assert [one["agent_id"] for one in listed(door)] == ["chef"]
    for agent, trip in (("chef", 1), ("guide", 2)):
        (memory,) = listed(door, agent_id=agent)
        assert (memory["agent_id"], memory["metadata"]) == (agent, {"trip": trip})
        assert len(listed(door, metadata={"trip": trip})) == 1
    assert listed(door, agent_id="waiter") == []
    search = {"query": "seats", "filters": {"user_id": "ada", "agent_id": "guide"}}
    assert len(door.post("/compat/mem0/v3/memories/search/", search).json()["results"]) == 1


def test_updated_metadata_is_that_of_each_time(door: Doors) -> None:
    for agent in ("chef", "guide"):
        asked = {"messages": "Ada prefers window seats.", "user_id": "ada", "infer": False, "agent_id": agent}
        (memory,) = door.post(ADD, {**asked, "metadata": {"trip": 1}}).json()["results"]
    door.ask("PUT", f"/compat/mem0/v1/memories/{memory['id']}/", json={"metadata": {"trip": 3}})
    assert listed(door, metadata={"trip": 1}) == []
    assert [one["agent_id"] for one in listed(door, agent_id="guide", metadata={"trip": 3})] == ["guide"]


def test_a_timestamp_may_be_in_milliseconds(door: Doors) -> None:
    for said, timestamp in (("Ada has a cat.", 1_500_000_000), ("Ada has a boat.", 1_500_000_000_000)):
        asked = {"messages": said, "user_id": "ada", "infer": False, "timestamp": timestamp}
        assert door.post(ADD, asked).status_code == 200
    assert {one["created_at"][:10] for one in listed(door)} == {"2017-07-14"}
