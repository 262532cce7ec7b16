"""What a request to add becomes in the log."""

from __future__ import annotations

from tests.doors import Doors

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
