from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from core.storage.db import Database
from core.types import Json
from tests.api.posting import pointers, problem
from tests.doors import Doors
from tests.rules.samples import a_document
from tests.samples import TENANT, accept_all, ended, event, said
from tests.works import Works


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff",
        b"[" * 200_000,
        b'{"event_type": "a", "source": "b", "\\ud800": 1}',
        b'{"a": NaN}',
        b"null",
        b'"x"',
    ],
)
def test_whatever_is_sent_as_an_event_is_refused_in_words(door: Doors, content: bytes) -> None:
    problem(door.ask("POST", "/v1/events", content=content), 422)


FAULTY = [b"", b"{", b"[]", b"null", b"\xff", b"[" * 200_000, b'{"\\ud800": "\\udfff"}', b'{"name": NaN}']


@pytest.mark.parametrize("path", ["/v1/rules", "/v1/rules/validate", "/v1/rules/test", "/v1/search"])
def test_whatever_is_sent_elsewhere_is_refused_in_words(door: Doors, subtests: pytest.Subtests, path: str) -> None:
    for content in FAULTY:
        with subtests.test(repr(content[:20])):
            answer = door.ask("POST", path, content=content, headers={"content-type": "application/json"})
            assert answer.status_code in {400, 422}
            problem(answer, answer.status_code)


FAULTY_EDITS = [b"", b"{", b"[]", b"[" * 200_000, b'{"tags": ["\\ud800"]}', b'{"priority": 1e999}']


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_whatever_is_sent_as_an_edit_is_refused_in_words(door: Doors, subtests: pytest.Subtests, method: str) -> None:
    for content in FAULTY_EDITS:
        with subtests.test(repr(content[:20])):
            problem(door.ask(method, "/v1/rules/consolidate_on_session_end", content=content), 422)


def test_a_secret_is_never_repeated(door: Doors) -> None:
    secret = door.keys[TENANT].rpartition(".")[2]
    wrong = door.keys[TENANT][:-1] + "~"
    for answer in (door.get("/v1/events", key=wrong), door.get("/v1/nothing"), door.post("/v1/events", [1])):
        assert secret not in answer.text
        assert wrong not in answer.text


def test_a_list_is_read_page_by_page_without_loss(door: Doors, app: Database) -> None:
    accept_all(app, [event(id=f"e{n}") for n in range(7)])
    seen, after = [], None
    while True:
        page = door.get("/v1/events", params={"limit": 3, **({"after": after} if after else {})}).json()
        seen += [item["id"] for item in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert seen == [f"e{n}" for n in reversed(range(7))]


@pytest.fixture
def remembered(door: Doors, works: Works) -> Json:
    """One memory that came the whole way."""
    spoken = [said("I live in Lisbon.", id="e1", message_id="m1"), said("Nice day."), said("See you.")]
    door.post("/v1/events", [*spoken, ended(message_count=3, id="end")])
    works.settle()
    (memory,) = door.get("/v1/memories", params={"user_id": "ada", "category": "fact"}).json()["items"]
    found: Json = memory
    return found


def test_a_memory_says_what_it_is_and_what_it_rests_on(door: Doors, remembered: Json) -> None:
    assert (remembered["attribute"], remembered["value"], remembered["status"]) == ("home.city", "Lisbon", "active")
    assert [(s["event_id"], s["message_id"]) for s in remembered["sources"]] == [("e1", "m1")]
    one = door.get(f"/v1/memories/{remembered['id']}").json()
    assert len(one.pop("unit_ids")) == 1
    assert one.pop("curve")["half_life_days"] > 0
    assert {**one, "strength": 0} == {**remembered, "strength": 0}
    (version,) = door.get(f"/v1/memories/{remembered['id']}/history").json()["items"]
    assert (version["version"], version["change"]) == (1, "add")


def test_why_leads_from_the_memory_to_the_rule_and_the_event(door: Doors, remembered: Json) -> None:
    (step,) = door.get(f"/v1/memories/{remembered['id']}/why").json()["steps"]
    assert step["dispatch"]["status"] == "done"
    assert step["rule"]["name"] in {"consolidate_on_session_end", "extract_while_chatting"}
    assert step["event"]["event_type"] in {"session.ended", "message.added"}


def test_a_trace_leads_from_the_event_to_rules_and_work(door: Doors, remembered: Json) -> None:
    trace = door.get("/v1/events/end/trace").json()
    verdicts = {rule["rule"]: rule["verdict"] for rule in trace["rules"]}
    assert verdicts["consolidate_on_session_end"] == "fired"
    assert [d["target"] for d in trace["dispatches"]] == ["memory_consolidator", "episode_writer"]
    assert trace["event"]["id"] == "end"


def test_a_trace_stands_even_where_a_rule_cannot_be_read(door: Doors, app: Database) -> None:
    door.post("/v1/events", event(id="e1"))
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE rules SET document = '{}' WHERE name = 'consolidate_on_session_end'"))
    assert door.get("/v1/events/e1/trace").status_code == 200


def test_search_finds_messages_and_memories(door: Doors, remembered: Json) -> None:
    answer = door.post("/v1/search", {"user_id": "ada", "query": "Where does Ada live? Lisbon", "explain": True}).json()
    assert {result["type"] for result in answer["results"]} == {"memory", "message"}
    assert remembered["id"] in [result["id"] for result in answer["results"]]
    assert all(result["sources"] and result["scores"]["parts"] for result in answer["results"])
    assert answer["total"] >= len(answer["results"])
    assert answer["took_ms"] > 0


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"query": "x"}, "/user_id"),
        ({"user_id": "ada"}, "/query"),
        ({"user_id": "ada", "query": "x", "limit": 0}, "/limit"),
        ({"user_id": "ada", "query": "x", "method": "magic"}, "/method"),
        ({"user_id": "ada", "query": "x", "kinds": ["odd"]}, "/kinds/0"),
        ({"user_id": "ada", "query": "x", "time": {"from": "2026-01-01T00:00:00"}}, "/time/from"),
        ({"user_id": "ada", "query": "x", "unknown": 1}, "/unknown"),
        ({"user_id": "ada", "query": "x" * 10_001}, "/query"),
    ],
)
def test_a_question_that_does_not_fit_says_where(door: Doors, body: Json, pointer: str) -> None:
    assert pointers(door.post("/v1/search", body)) == [pointer]


def test_a_question_with_nul_in_it_is_answered_or_refused_and_never_a_crash(door: Doors) -> None:
    for body in (
        {"user_id": "a\x00", "query": "x"},
        {"user_id": "ada", "query": "\x00"},
        {"user_id": "ada", "query": "x", "tags": ["\x00"]},
    ):
        assert door.post("/v1/search", body).status_code in {200, 422}


def test_sessions_show_their_state_and_messages(door: Doors, remembered: Json) -> None:
    assert door.get("/v1/sessions/s1").json()["message_count"] == 3
    page = door.get("/v1/sessions/s1/messages", params={"limit": 2}).json()
    assert [m["position"] for m in page["items"]] == [1, 2]
    rest = door.get("/v1/sessions/s1/messages", params={"after": page["next"]}).json()
    assert ([m["position"] for m in rest["items"]], rest["next"]) == ([3], None)


def test_a_session_whose_name_has_slashes_is_found(door: Doors) -> None:
    door.post("/v1/events", said("x", session="a/b/message"))
    assert door.get("/v1/sessions/a/b/message/messages").json()["items"][0]["content"] == "x"


def test_a_rule_is_made_read_edited_and_deleted(door: Doors) -> None:
    made = door.post("/v1/rules", a_document())
    assert (made.status_code, made.headers["etag"]) == (201, '"1"')
    assert door.get("/v1/rules/r").json() == {"name": "r", "version": 1, "rule": a_document()}
    put = door.ask("PUT", "/v1/rules/r", json=a_document(priority=3), headers={"if-match": '"1"'})
    assert (put.json()["version"], put.headers["etag"]) == (2, '"2"')
    patched = door.ask("PATCH", "/v1/rules/r", json={"priority": None, "tags": ["x"]}).json()["rule"]
    assert "priority" not in patched
    assert patched["tags"] == ["x"]
    assert door.ask("DELETE", "/v1/rules/r").status_code == 204
    problem(door.get("/v1/rules/r"), 404)
    assert [v["version"] for v in door.get("/v1/rules/r/versions").json()["items"]] == [4, 3, 2, 1]


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_an_edit_of_an_old_version_is_a_conflict(door: Doors, method: str) -> None:
    door.post("/v1/rules", a_document())
    door.post("/v1/rules", a_document(priority=1))
    given: dict[str, Any] = {} if method == "DELETE" else {"json": {**a_document(), "priority": 2}}
    problem(door.ask(method, "/v1/rules/r", headers={"if-match": '"1"'}, **given), 409)
    problem(door.ask(method, "/v1/rules/r", headers={"if-match": "soon"}, **given), 422)
    assert door.ask(method, "/v1/rules/r", headers={"if-match": '"2"'}, **given).is_success


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_an_edit_cannot_reach_another_rule_through_its_name(door: Doors, method: str) -> None:
    door.post("/v1/rules", a_document(name="one"))
    door.post("/v1/rules", a_document(name="two"))
    assert pointers(door.ask(method, "/v1/rules/one", json=a_document(name="two", priority=9))) == ["/name"]
    assert door.get("/v1/rules/two").json()["version"] == 1


def test_a_rule_that_is_none_is_refused_with_every_fault(door: Doors) -> None:
    shout = {"action_type": "notify", "channel": "nowhere", "template": "x"}
    wrong = a_document(actions=[shout], risk_level="high")
    assert pointers(door.post("/v1/rules", wrong)) == ["/actions/0/channel", "/risk_level"]
    assert pointers(door.post("/v1/rules/validate", wrong)) == ["/actions/0/channel", "/risk_level"]
    assert door.post("/v1/rules/validate", a_document()).json()["valid"] is True


def test_a_rule_can_be_tried_without_consequences(door: Doors) -> None:
    rule = a_document(conditions={"all": [{"field": "payload.importance", "op": ">", "value": 0.7}]})
    tried = door.post("/v1/rules/test", {"rule": rule, "event": said("x", importance=0.9)}).json()
    assert (tried["matched"], tried["held_by"], len(tried["actions"])) == (True, None, 1)
    assert door.post("/v1/rules/test", {"rule": rule, "event": said("x")}).json()["matched"] is False
    many = door.post(
        "/v1/rules/test", {"names": ["consolidate_on_session_end"], "event": ended(message_count=3)}
    ).json()
    assert [one["matched"] for one in many] == [True]
    assert door.get("/v1/events").json()["items"] == []


def test_a_trial_of_a_bad_event_says_where(door: Doors) -> None:
    problem(door.post("/v1/rules/test", {"rule": a_document(), "event": {"event_type": "x"}}), 422)
    problem(door.post("/v1/rules/test", {"names": ["nothing"], "event": event()}), 404)


def test_dead_letters_are_listed_and_tried_again(door: Doors, works: Works) -> None:
    door.post("/v1/rules", a_document(event_type="order.placed"))
    door.post("/v1/events", event(payload={"session_id": "nowhere"}))
    works.settle()
    (dead,) = door.get("/v1/dispatches", params={"status": "dead"}).json()["items"]
    assert "nowhere" in dead["error"]
    assert door.get(f"/v1/dispatches/{dead['id']}").json() == dead | {"edited_as": None}
    assert door.post(f"/v1/dispatches/{dead['id']}/retry").json()["status"] == "pending"
    problem(door.post(f"/v1/dispatches/{dead['id']}/retry"), 409)


def test_the_schema_of_a_rule_is_a_json_schema(door: Doors) -> None:
    assert door.get("/v1/rules/schema").json()["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_stats_count_what_there_is(door: Doors, remembered: Json) -> None:
    stats = door.get("/v1/stats").json()
    assert stats["events"]["message.added"] == 3
    assert {row["category"]: row["count"] for row in stats["memories"]} == {"fact": 1}
