from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from httpx import Response
from sqlalchemy import create_engine, text

from api.ingress import dependencies as door_module
from core.config import Settings
from core.maintenance import heartbeat
from core.settings.limits import TenantLimits
from core.storage.db import Database
from core.types import Json
from tests.doors import OTHER, Doors, key_of, opened
from tests.rules.samples import a_document
from tests.samples import TENANT, accept_all, ended, event, said
from tests.works import Works

MISSING = "6f9d2c1e-8a54-4a86-9a59-0c8f4f3f5c11"
"""No memory and no dispatch has this id; written out, for each worker of a parallel run collects the same names."""


def problem(answer: Response, status: int) -> Json:
    """The answer's problem document, which must be one."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document: Json = answer.json()
    assert document["status"] == status
    assert document["title"]
    assert document["detail"]
    assert "Traceback" not in answer.text
    return document


def pointers(answer: Response) -> list[str]:
    return [fault["pointer"] for fault in problem(answer, 422)["errors"]]


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


@pytest.mark.parametrize("path", ["/v1/rules", "/v1/rules/validate", "/v1/rules/test", "/v1/search"])
@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 200_000, b'{"\\ud800": "\\udfff"}', b'{"name": NaN}']
)
def test_whatever_is_sent_elsewhere_is_refused_in_words(door: Doors, path: str, content: bytes) -> None:
    answer = door.ask("POST", path, content=content, headers={"content-type": "application/json"})
    assert answer.status_code in {400, 422}
    problem(answer, answer.status_code)


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"[" * 200_000, b'{"tags": ["\\ud800"]}', b'{"priority": 1e999}']
)
def test_whatever_is_sent_as_an_edit_is_refused_in_words(door: Doors, method: str, content: bytes) -> None:
    problem(door.ask(method, "/v1/rules/consolidate_on_session_end", content=content), 422)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/events?type=%5C", 200),
        ("/v1/events?type=%00", 422),
        ("/v1/events?user_id=%00", 422),
        ("/v1/events?after=99999999999999999999999999", 422),
        ("/v1/events?after=x", 422),
        ("/v1/events?limit=0", 422),
        ("/v1/events?limit=501", 422),
        ("/v1/events/%00", 422),
        ("/v1/events/nothing", 404),
        ("/v1/events/nothing/trace", 404),
        ("/v1/memories?after=x", 422),
        ("/v1/memories?status=%00", 422),
        (f"/v1/memories/{MISSING}", 404),
        (f"/v1/memories/{MISSING}/history", 404),
        (f"/v1/memories/{MISSING}/why", 404),
        ("/v1/memories/x", 422),
        ("/v1/sessions/nothing", 404),
        ("/v1/sessions/nothing/messages", 404),
        ("/v1/sessions/%00", 422),
        ("/v1/sessions/x/messages?after=-99999999999999999999", 404),
        (f"/v1/dispatches/{MISSING}", 404),
        ("/v1/dispatches?rule=%00", 422),
        ("/v1/rules/nothing", 404),
        ("/v1/rules/%00", 422),
        ("/v1/settle?token=x", 422),
        ("/v1/settle", 422),
        ("/v1/settle?token=c2VxOjE&timeout=61", 422),
        ("/v1/settle?token=c2VxOjk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5&timeout=0", 422),
        ("/v1/nothing", 404),
        ("/v1/stats?user_id=%00", 422),
    ],
)
def test_an_address_that_leads_nowhere_says_so(door: Doors, path: str, status: int) -> None:
    answer = door.get(path)
    if status == 200:
        assert answer.status_code == 200, answer.text
    else:
        problem(answer, status)


def test_a_method_that_is_not_there_is_a_problem_too(door: Doors) -> None:
    problem(door.ask("DELETE", "/v1/events"), 405)


def without_a_key(door: Doors) -> Iterator[tuple[str, Response]]:
    for path, methods in door.client.app.openapi()["paths"].items():  # type: ignore[attr-defined]
        for method in methods:
            # By a name that this server has: /mcp looks at that before it looks at the key.
            called = path.replace("{", "").replace("}", "")
            yield path, door.client.request(method.upper(), called, headers={"host": "127.0.0.1"})


def test_without_a_key_every_door_is_closed_but_health(door: Doors) -> None:
    open_paths = {path for path, answer in without_a_key(door) if answer.status_code != 401}
    assert open_paths == {"/healthz", "/readyz"}
    for path, answer in without_a_key(door):
        if path not in open_paths:
            problem(answer, 401)
            assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Basic abc", "Bearer imp.acme.x.y", "bearer \u00e9", "Bearer a b c"]
)
def test_a_key_that_is_none_opens_nothing_and_is_not_repeated(door: Doors, header: str) -> None:
    answer = door.client.get("/v1/events", headers={"authorization": header.encode("latin-1")})
    assert "imp.acme" not in json.dumps(problem(answer, 401))


def test_a_secret_is_never_repeated(door: Doors) -> None:
    secret = door.keys[TENANT].rpartition(".")[2]
    wrong = door.keys[TENANT][:-1] + "~"
    for answer in (door.get("/v1/events", key=wrong), door.get("/v1/nothing"), door.post("/v1/events", [1])):
        assert secret not in answer.text
        assert wrong not in answer.text


def test_a_revoked_key_is_refused_soon(
    settings: Settings, door: Doors, app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = key_of(settings, TENANT)
    assert door.get("/v1/events", key=key).status_code == 200
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE api_keys SET revoked_at = now()"))
    monkeypatch.setattr(door_module, "KEY_SECONDS", 0)
    problem(door.get("/v1/events", key=key), 401)


SCOPED = [
    ("publish", "POST", "/v1/events", {"json": []}),
    ("read", "GET", "/v1/events", {}),
    ("read", "GET", "/v1/memories", {}),
    ("read", "GET", "/v1/rules", {}),
    ("read", "GET", "/v1/stats", {}),
    ("read", "POST", "/v1/search", {"json": {"user_id": "ada", "query": "x"}}),
    ("rules", "POST", "/v1/rules", {"json": a_document()}),
    ("rules", "PUT", "/v1/rules/r", {"json": a_document()}),
    ("rules", "PATCH", "/v1/rules/r", {"json": {"enabled": False}}),
    ("rules", "DELETE", "/v1/rules/r", {}),
]


def test_each_scope_opens_its_own_doors_and_no_others(settings: Settings, door: Doors) -> None:
    keys = {scope: key_of(settings, TENANT, (scope,)) for scope in ("publish", "read", "write", "rules", "admin")}
    for needed, method, path, given in SCOPED:
        for scope, key in keys.items():
            answer = door.ask(method, path, key=key, **given)
            if scope == needed:
                assert answer.is_success, (scope, path, answer.text)
            elif scope != "admin":
                assert needed in problem(answer, 403)["detail"]


def test_a_backlog_above_the_limit_is_429_with_retry_after(settings: Settings) -> None:
    with opened(settings.model_copy(update={"tenant_limits": TenantLimits(events_waiting=3)})) as doors:
        assert doors.post("/v1/events", [event(), event()]).status_code == 202
        doors.client.app.state.deps.backlogs.clear()  # type: ignore[attr-defined]
        assert doors.post("/v1/events", [event()]).status_code == 202
        doors.client.app.state.deps.backlogs.clear()  # type: ignore[attr-defined]
        refused = doors.post("/v1/events", [event(id="late")])
        problem(refused, 429)
        assert int(refused.headers["retry-after"]) >= 1
        problem(doors.get("/v1/events/late"), 404)
        assert doors.post("/v1/events", [event()], tenant=OTHER).status_code == 202


def test_a_request_that_is_too_large_is_413_and_costs_nothing(settings: Settings) -> None:
    with opened(settings.model_copy(update={"request_bytes": 2000})) as doors:
        problem(doors.post("/v1/events", [event(id=f"e{n}") for n in range(100)]), 413)
        problem(doors.get("/v1/events/e0"), 404)
        assert doors.post("/v1/events", [event()]).status_code == 202


def test_a_database_that_is_away_is_503_with_retry_after(settings: Settings) -> None:
    with opened(settings) as doors:
        broken = create_engine("postgresql+psycopg://nobody@127.0.0.1:1/none", connect_args={"connect_timeout": 1})
        here = doors.client.app.state.deps  # type: ignore[attr-defined]
        here.db.close()
        object.__setattr__(here.db, "engine", broken)
        here.keys.clear()
        answer = doors.get("/v1/events")
        problem(answer, 503)
        assert answer.headers["retry-after"] == "1"
        problem(doors.get("/readyz"), 503)


def test_what_nobody_expected_is_a_500_that_tells_nothing(door: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    def surprise(*_: object, **__: object) -> None:
        raise RuntimeError("the password is hunter2")

    monkeypatch.setattr("core.events.log.find", surprise)
    assert "hunter2" not in json.dumps(problem(door.get("/v1/events"), 500))


def test_health_is_the_process_and_readiness_the_whole(door: Doors, queue: Database) -> None:
    assert door.client.get("/healthz").json() == {"status": "alive"}
    assert "router" in problem(door.client.get("/readyz"), 503)["detail"]
    with queue.queue() as tx:
        for name in heartbeat.REQUIRED_PROCESSES:
            tx.execute(text("INSERT INTO heartbeats (process, at) VALUES (:name, clock_timestamp())"), {"name": name})
    assert door.client.get("/readyz").status_code == 200


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
    assert door.get(f"/v1/dispatches/{dead['id']}").json() == dead
    assert door.post(f"/v1/dispatches/{dead['id']}/retry").json()["status"] == "pending"
    problem(door.post(f"/v1/dispatches/{dead['id']}/retry"), 409)


def test_the_schema_of_a_rule_is_a_json_schema(door: Doors) -> None:
    assert door.get("/v1/rules/schema").json()["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_stats_count_what_there_is(door: Doors, remembered: Json) -> None:
    stats = door.get("/v1/stats").json()
    assert stats["events"]["message.added"] == 3
    assert {row["category"]: row["count"] for row in stats["memories"]} == {"fact": 1, "episode": 1}
