from __future__ import annotations

import json
import threading

import pytest

from tests.api.posting import pointers
from tests.doors import Doors
from tests.samples import event, said
from tests.works import Works


def test_what_is_accepted_is_answered_with_ids_and_a_token(door: Doors) -> None:
    answer = door.post("/v1/events", [said("one", id="a"), said("two"), said("one", id="a")])
    assert answer.status_code == 202
    body = answer.json()
    assert (body["accepted"], body["duplicates"]) == (2, 1)
    assert [(e["id"] == "a", e["duplicate"]) for e in body["events"]] == [(True, False), (False, False), (True, True)]
    assert body["settle_token"]


@pytest.mark.parametrize(
    ("content", "headers"),
    [
        (json.dumps(event(id="a")), {"content-type": "application/json"}),
        (json.dumps([event(id="a")]), {}),
        (json.dumps(event(id="a")) + "\n", {"content-type": "application/x-ndjson"}),
        (
            json.dumps({"specversion": "1.0", "id": "a", "source": "s", "type": "t", "data": {}}),
            {"content-type": "application/cloudevents+json"},
        ),
        ("{}", {"ce-specversion": "1.0", "ce-id": "a", "ce-source": "s", "ce-type": "t"}),
    ],
)
def test_events_come_in_every_form(door: Doors, content: str, headers: dict[str, str]) -> None:
    answer = door.ask("POST", "/v1/events", content=content, headers=headers)
    assert (answer.status_code, [e["id"] for e in answer.json()["events"]]) == (202, ["a"])
    assert door.get("/v1/events/a").status_code == 200


def test_a_bad_event_refuses_the_batch_with_its_place(door: Doors) -> None:
    assert pointers(door.post("/v1/events", [event(), said("x", role="robot")])) == ["/1/payload/role"]
    assert door.get("/v1/events").json()["items"] == []


def test_a_message_without_words_does_not_refuse_the_batch(door: Doors) -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    call = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    spoken = said("I live in Lisbon.", id="words")
    calling = said("", id="call", message_id="m1", role="assistant", tool_calls=[call])
    calling["payload"]["content"] = None
    looking = said("", id="picture", message_id="m2")
    looking["payload"]["content"] = [picture]
    assert door.post("/v1/events", [calling, looking, spoken]).json()["accepted"] == 3
    messages = door.get("/v1/sessions/s1/messages").json()["items"]
    assert [message["content"] for message in messages] == ["", "", "I live in Lisbon."]
    call_extras, picture_extras = (
        door.get(f"/v1/sessions/s1/messages/{name}").json()["extras"] for name in ("m1", "m2")
    )
    assert call_extras == {"tool_calls": [call]}
    assert picture_extras == {
        "metadata": {"content_parts": [{"type": "image_url", "url": "https://example.org/a.png"}]}
    }


def test_with_skip_the_good_events_are_accepted_and_the_others_listed(door: Doors) -> None:
    batch = [event(id="a"), said("x", role="robot"), event("session.ended", subject="session:none"), event(id="b")]
    answer = door.ask("POST", "/v1/events?on_error=skip", json=batch)
    assert answer.status_code == 202
    body = answer.json()
    assert (body["accepted"], [e["id"] for e in body["events"]]) == (2, ["a", "b"])
    assert [error["pointer"] for error in body["errors"]] == ["/1/payload/role", "/2"]
    assert {e["id"] for e in door.get("/v1/events").json()["items"]} == {"a", "b"}
    assert door.ask("POST", "/v1/events?on_error=skip", json=[event(id="c")]).json()["errors"] == []


def test_with_skip_a_batch_of_nothing_but_faults_is_refused(door: Doors) -> None:
    answer = door.ask("POST", "/v1/events?on_error=skip", json=[said("x", role="robot")])
    assert pointers(answer) == ["/0/payload/role"]
    assert door.ask("POST", "/v1/events?on_error=ignore", json=[event()]).status_code == 422


def test_the_end_of_a_session_may_name_it_in_the_subject_alone(door: Doors) -> None:
    door.post("/v1/events", said("I live in Lisbon.", session="s7", group_id="team"))
    end = {
        "event_type": "session.ended",
        "source": "system",
        "subject": "session:s7",
        "payload": {"message_count": 1},
    }
    (accepted,) = door.post("/v1/events", end).json()["events"]
    assert door.get(f"/v1/events/{accepted['id']}").json()["payload"] == {
        "session_id": "s7",
        "user_id": "ada",
        "group_id": "team",
        "message_count": 1,
    }
    assert door.get("/v1/sessions/s7").json()["ended_at"] is not None


def test_an_end_without_a_user_is_refused_where_its_session_has_no_messages(door: Doors) -> None:
    end = {"event_type": "session.ended", "source": "system", "subject": "session:none", "payload": {}}
    refused = door.post("/v1/events", [event(), end])
    assert pointers(refused) == ["/1"]
    assert "user_id" in refused.json()["detail"]
    assert door.post("/v1/events", [end, said("x", session="none")]).status_code == 202


def test_settle_waits_for_what_it_is_asked_for(door: Doors, works: Works) -> None:
    token = door.post("/v1/events", said("I live in Lisbon.")).json()["settle_token"]
    assert door.get("/v1/settle", params={"token": token, "timeout": 0}).json() == {"settled": False, "pending": 1}
    later = threading.Timer(0.3, works.settle)
    later.start()
    assert door.get("/v1/settle", params={"token": token, "timeout": 20}).json() == {"settled": True, "pending": 0}
    later.join()


def test_settle_can_hurry_what_waits(door: Doors, works: Works) -> None:
    token = door.post("/v1/events", said("I live in Lisbon.")).json()["settle_token"]
    works.settle(flush=False)
    assert door.get("/v1/settle", params={"token": token, "timeout": 0}).json()["settled"] is False
    for waits in (2, 3):  # The message's debounces, to extract and to cut; of the memory sweep, profile and mirror.
        pending = door.get("/v1/settle", params={"token": token, "timeout": 0, "flush": "true"}).json()["pending"]
        assert pending == waits
        works.settle(flush=False)
    assert door.get("/v1/settle", params={"token": token, "timeout": 0}).json()["settled"] is True


TRACED = {"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "partitionkey": "shop-7"}


def test_trace_context_and_partition_key_are_shown_wherever_an_event_is(door: Doors) -> None:
    native = event("order.placed", {"n": 1}, id="native", **TRACED)
    cloud = {"specversion": "1.0", "id": "cloud", "source": "shop", "type": "order.placed", "data": {}, **TRACED}
    assert door.post("/v1/events", [native]).status_code == 202
    headers = {"Content-Type": "application/cloudevents+json"}
    assert door.ask("POST", "/v1/events", json=cloud, headers=headers).status_code == 202
    assert door.post("/v1/events", [event("order.placed", id="plain")]).status_code == 202
    stream = door.get("/v1/stream", params={"after": "0", "follow": False, "types": "order.*"}).text
    data = [json.loads(line.removeprefix("data: ")) for line in stream.splitlines() if line.startswith("data: ")]
    sent = [entry for entry in data if "event_type" in entry]
    listed = door.get("/v1/events", params={"type": "order.*"}).json()["items"]
    single = [door.get(f"/v1/events/{name}").json() for name in ("native", "cloud", "plain")]
    traced = [door.get(f"/v1/events/{name}/trace").json()["event"] for name in ("native", "cloud", "plain")]
    for shown in (sent, listed[::-1], single, traced):
        assert [{name: one[name] for name in TRACED} for one in shown] == [TRACED, TRACED, dict.fromkeys(TRACED)]


def test_what_the_service_keeps_with_an_event_is_not_shown(door: Doors) -> None:
    door.ask("POST", "/v1/memories", json={"user_id": "ada", "content": "Tea."}, headers={"Idempotency-Key": "k"})
    [stated] = door.get("/v1/events", params={"type": "memory.stated"}).json()["items"]
    assert "fingerprint" not in json.dumps(stated)


def test_a_pattern_with_many_stars_is_refused(door: Doors) -> None:
    answer = door.get("/v1/events", params={"type": "*a" * 6})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/type"
