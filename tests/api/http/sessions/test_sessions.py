from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import text

from core.config import Settings
from core.storage.db import Database
from core.types import Json
from tests.doors import OTHER, Doors, key_of
from tests.samples import NOON, TENANT, accept, accept_all, ended, event, said
from tests.works import at_work

NAMES = ["s1", "team/ada/7", "组/一'; --\"€", "a/b c", "100%", "?q=1#x", "messages"]


def at(session: str, *more: str) -> str:
    return "/v1/sessions/" + "/".join([quote(session), *(quote(part) for part in more)])


def started(session: str = "s1", **more: Any) -> Json:
    return event("session.started", {"session_id": session, "user_id": "ada", **more})


def shown(door: Doors, path: str, **params: Any) -> Any:
    answer = door.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("session", NAMES)
def test_a_session_of_any_name_is_reached_by_every_route(door: Doors, app: Database, session: str) -> None:
    accept(app, said("hello", session=session, message_id="m1"))
    assert shown(door, at(session))["id"] == session
    assert [m["id"] for m in shown(door, at(session, "messages"))["items"]] == ["m1"]
    assert shown(door, at(session, "messages", "m1"))["content"] == "hello"
    assert door.post(at(session, "messages", "m1", "hide")).json()["hidden"]
    assert not door.post(at(session, "messages", "m1", "restore")).json()["hidden"]
    assert door.ask("PUT", at(session, "working", "k"), json={"value": 1}).json()["value"] == 1
    assert shown(door, at(session, "working", "k"))["value"] == 1
    assert [one["key"] for one in shown(door, at(session, "working"))["items"]] == ["k"]
    assert door.ask("DELETE", at(session, "working", "k")).status_code == 204
    assert door.ask("PATCH", at(session, "state"), json={"topic": "x"}).json()["state"] == {"topic": "x"}
    assert door.ask("DELETE", at(session)).json()["session_id"] == session
    assert door.get(at(session)).status_code == 404


def test_sessions_are_listed_from_the_last_that_was_heard_of(door: Doors, app: Database) -> None:
    accept_all(app, [said("x", session=f"a,{n}", time=f"2026-11-2{n}T12:00:00Z") for n in range(1, 6)])
    accept(app, said("y", session="b", user="bob", group_id="g"), ended("b", "bob"))
    every = [one["id"] for one in shown(door, "/v1/sessions")["items"]]
    assert every == ["a,5", "a,4", "a,3", "a,2", "b", "a,1"]
    assert [one["id"] for one in shown(door, "/v1/sessions", user_id="bob")["items"]] == ["b"]
    assert [one["id"] for one in shown(door, "/v1/sessions", group_id="g")["items"]] == ["b"]
    assert [one["id"] for one in shown(door, "/v1/sessions", open=False)["items"]] == ["b"]
    assert len(shown(door, "/v1/sessions", open=True)["items"]) == 5
    paged: list[str] = []
    after: Json = {}
    for _ in range(4):
        page = shown(door, "/v1/sessions", limit=2, **after)
        paged += [one["id"] for one in page["items"]]
        if page["next"] is None:
            break
        after = {"after": page["next"]}
    assert paged == every


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"after": "x"}, "/after"),
        ({"after": "2026-11-21T12:00:00Z"}, "/after"),
        ({"after": "2026-11-21T12:00:00,s1"}, "/after"),
        ({"open": "perhaps"}, "/open"),
        ({"limit": 0}, "/limit"),
        ({"user": "ada"}, "/user"),
        ({"user_id": ""}, "/user_id"),
    ],
)
def test_what_is_wrong_with_a_list_is_said_with_its_place(door: Doors, wrong: Json, pointer: str) -> None:
    refused = door.get("/v1/sessions", params=wrong)
    assert (refused.status_code, [one["pointer"] for one in refused.json()["errors"]]) == (422, [pointer])


def test_messages_come_in_pages_or_the_newest_of_them(door: Doors, app: Database) -> None:
    accept_all(app, [said(f"line {n}", message_id=f"m{n}") for n in range(1, 8)])
    door.post(at("s1", "messages", "m6", "hide"))
    first = shown(door, at("s1", "messages"), limit=3)
    rest = shown(door, at("s1", "messages"), after=first["next"])
    assert [m["position"] for m in [*first["items"], *rest["items"]]] == list(range(1, 8))
    assert rest["next"] is None
    newest = shown(door, at("s1", "messages"), last=3)
    assert [(m["id"], m["hidden"]) for m in newest["items"]] == [("m5", False), ("m6", True), ("m7", False)]
    assert newest["next"] is None
    assert len(shown(door, at("s1", "messages"), last=500)["items"]) == 7
    for wrong in ({"last": 0}, {"last": 501}, {"limit": 0}):
        assert door.get(at("s1", "messages"), params=wrong).status_code == 422
    assert door.get(at("nobody", "messages")).status_code == 404


def test_a_long_tool_result_is_one_call_away_with_all_that_came_with_it(door: Doors, app: Database) -> None:
    long = "row of a table; " * 10_000
    payload = {"session_id": "s1", "user_id": "ada", "content": long, "message_id": "t/1", "tool_name": "sql"}
    accept(app, event("tool.result.added", payload | {"tool_call_id": "c1"}, id="e1"))
    accept(app, event("tool.result.added", payload | {"content": "other"}, id="e2"))
    found = shown(door, at("s1", "messages", "t/1"))
    assert (found["content"], found["role"], found["hidden"], found["hidden_by"]) == (long, "tool", False, None)
    assert found["extras"] == {"tool_name": "sql", "tool_call_id": "c1"}
    assert found["repeats"] == [{"event_id": "e2", "source": "test", "differs": True}]
    assert door.get(at("s1", "messages", "m9")).status_code == 404


def test_a_message_is_hidden_with_who_why_and_when_and_found_all_the_same(
    door: Doors, app: Database, settings: Settings
) -> None:
    accept(app, said("the zyxomma is here", message_id="m1"))
    with at_work(settings) as works:
        works.settle()
    hidden = door.post(at("s1", "messages", "m1", "hide"), {"reason": "wrong"}).json()
    assert hidden["hidden"]
    assert hidden["hidden_by"]["reason"] == "wrong"
    assert hidden["hidden_by"]["by"].startswith("key:")
    assert door.post(at("s1", "messages", "m1", "hide"), {"reason": "other"}).json() == hidden
    asked = {"user_id": "ada", "query": "zyxomma", "include": ["messages"]}
    assert [one["id"] for one in door.post("/v1/search", asked).json()["results"]] == ["m1"]
    restored = door.post(at("s1", "messages", "m1", "restore"))
    assert (restored.status_code, restored.json()["hidden"], restored.json()["hidden_by"]) == (200, False, None)
    assert door.post(at("s1", "messages", "m1", "restore")).json() == restored.json()
    for act in ("hide", "restore"):
        assert door.post(at("s1", "messages", "m9", act)).status_code == 404
        assert door.post(at("s9", "messages", "m1", act)).status_code == 404
    assert door.post(at("s1", "messages", "m1", "hide"), {"reasn": "x"}).status_code == 422
    assert door.post(at("s1", "messages", "m1", "hide"), {"reason": "\x00"}).status_code == 422


def test_a_tool_result_is_found_by_search_before_and_after_it_is_indexed(
    door: Doors, app: Database, settings: Settings
) -> None:
    payload = {"session_id": "s1", "user_id": "ada", "content": "the zyxomma costs 12", "message_id": "t1"}
    accept(app, event("tool.result.added", payload))
    asked = {"user_id": "ada", "query": "zyxomma", "include": ["messages"]}
    assert [one["id"] for one in door.post("/v1/search", asked).json()["results"]] == ["t1"]
    with at_work(settings) as works:
        works.settle()
    assert [one["id"] for one in door.post("/v1/search", asked).json()["results"]] == ["t1"]


@pytest.mark.parametrize("value", [None, False, 0, "", [], {}, {"a": [1, {"b": None}]}, "漢字", 1.5, 10**20])
def test_working_memory_keeps_any_json(door: Doors, app: Database, value: object) -> None:
    accept(app, started())
    put = door.ask("PUT", at("s1", "working", "my key"), json={"value": value})
    assert (put.status_code, put.json()["value"], put.json()["expires_at"]) == (200, value, None)
    assert shown(door, at("s1", "working", "my key")) == put.json()


def test_what_has_expired_or_was_let_go_is_not_there(door: Doors, app: Database) -> None:
    accept(app, started())
    assert door.ask("PUT", at("s1", "working", "k"), json={"value": 1, "ttl_seconds": 60}).json()["expires_at"]
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE working SET expires_at = now() - interval '1 s'"))
    assert door.get(at("s1", "working", "k")).status_code == 404
    assert shown(door, at("s1", "working")) == {"items": [], "next": None}
    for _ in range(2):
        assert door.ask("DELETE", at("s1", "working", "k")).status_code == 204
    assert door.ask("DELETE", at("nobody", "working", "k")).status_code == 404


def test_working_memory_comes_in_pages(door: Doors, app: Database) -> None:
    accept(app, started())
    for key in "abc":
        door.ask("PUT", at("s1", "working", key), json={"value": key})
    first = shown(door, at("s1", "working"), limit=2)
    assert ([one["key"] for one in first["items"]], first["next"]) == (["a", "b"], "b")
    rest = shown(door, at("s1", "working"), limit=2, after="b")
    assert ([one["key"] for one in rest["items"]], rest["next"]) == (["c"], None)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"value": 1, "ttl_seconds": 0},
        {"value": 1, "ttl_seconds": -1},
        {"value": 1, "ttl_seconds": 1e12},
        {"value": 1, "ttl": 60},
        {"value": "x" * 70_000},
        {"value": "a\x00b"},
        [1],
    ],
)
def test_what_working_memory_cannot_keep_is_refused(door: Doors, app: Database, body: object) -> None:
    accept(app, started())
    assert door.ask("PUT", at("s1", "working", "k"), json=body).status_code == 422
    assert shown(door, at("s1", "working"))["items"] == []


def test_before_it_begins_and_after_it_ends_a_session_keeps_nothing_and_says_so(door: Doors, app: Database) -> None:
    early = door.ask("PUT", at("s1", "working", "k"), json={"value": 1})
    assert early.status_code == 404
    assert "session.started" in early.json()["detail"]
    accept(app, started(), ended())
    late = door.ask("PUT", at("s1", "working", "k"), json={"value": 1})
    assert late.status_code == 409
    assert "session.started" in late.json()["detail"]
    assert door.get(at("nobody", "working")).status_code == 404


def test_the_state_is_merged_and_shown(door: Doors, app: Database) -> None:
    accept(app, started(state={"topic": "travel", "task": {"step": 1, "of": 3}}))
    patched = door.ask("PATCH", at("s1", "state"), json={"topic": None, "intent": "book", "task": {"step": 2}})
    assert patched.json()["state"] == {"intent": "book", "task": {"step": 2, "of": 3}}
    assert shown(door, at("s1")) == patched.json() | {"users": [], "warnings": []}
    assert shown(door, "/v1/sessions")["items"] == [patched.json()]
    for wrong in ([1], "x", None, {"a": "\x00"}, {"a": "x" * 70_000}):
        assert door.ask("PATCH", at("s1", "state"), json=wrong).status_code == 422
    assert shown(door, at("s1"))["state"] == {"intent": "book", "task": {"step": 2, "of": 3}}
    assert door.ask("PATCH", at("nobody", "state"), json={}).status_code == 404


def test_an_erased_session_answers_404_the_second_time(door: Doors, app: Database) -> None:
    accept(app, said("hello", message_id="m1"), time_less := started("s2"))
    assert time_less["time"] == NOON
    erased = door.ask("DELETE", at("s1"))
    assert (erased.status_code, erased.json()["erased"]["messages"]) == (200, 1)
    again = door.ask("DELETE", at("s1"))
    assert again.status_code == 404
    assert "s1" in again.json()["detail"]
    assert [one["id"] for one in shown(door, "/v1/sessions")["items"]] == ["s2"]


WRITES = [
    ("POST", at("s1", "messages", "m1", "hide"), None),
    ("POST", at("s1", "messages", "m1", "restore"), None),
    ("PUT", at("s1", "working", "k"), {"value": 1}),
    ("DELETE", at("s1", "working", "k"), None),
    ("PATCH", at("s1", "state"), {"a": 1}),
    ("DELETE", at("s1"), None),
]


@pytest.mark.parametrize(("method", "path", "body"), WRITES)
def test_who_may_only_read_or_belongs_to_another_tenant_changes_nothing(
    door: Doors, app: Database, settings: Settings, method: str, path: str, body: Json | None
) -> None:
    accept(app, said("hello", message_id="m1"))
    reader = key_of(settings, TENANT, ("read", "publish"))
    assert door.ask(method, path, key=reader, json=body).status_code == 403
    assert door.ask(method, path, tenant=OTHER, json=body).status_code == 404
    assert [m["content"] for m in shown(door, at("s1", "messages"))["items"]] == ["hello"]
    assert shown(door, at("s1"))["state"] == {}


@pytest.mark.parametrize("path", ["", "messages", "messages/m1", "working", "working/k"])
def test_who_belongs_to_another_tenant_sees_nothing(door: Doors, app: Database, path: str) -> None:
    accept(app, said("hello", message_id="m1"))
    door.ask("PUT", at("s1", "working", "k"), json={"value": 1})
    where = f"{at('s1')}/{path}".rstrip("/")
    assert door.get(where).status_code == 200
    assert door.ask("GET", where, tenant=OTHER).status_code == 404
    assert door.ask("GET", "/v1/sessions", tenant=OTHER).json()["items"] == []


def test_messages_say_their_tokens_and_if_asked_the_memories_drawn_from_them(door: Doors, app: Database) -> None:
    accept(app, said("Ada has a cat.", message_id="m1"), said("猫很可爱", message_id="m2"))
    cited = [{"session_id": "s1", "message_id": "m1"}]
    made = door.post("/v1/memories", {"user_id": "ada", "content": "Ada has a cat.", "evidence": cited}).json()
    plain = shown(door, at("s1", "messages"))["items"]
    assert [one["token_count"] for one in plain] == [4, 4]
    assert sum(one["token_count"] for one in plain) == shown(door, at("s1"))["token_count"]
    assert "memory_ids" not in plain[0]
    full = shown(door, at("s1", "messages"), memories=True, last=2)["items"]
    assert [one["memory_ids"] for one in full] == [[made["memory"]["id"]], []]
    assert shown(door, at("s1", "messages", "m1"))["token_count"] == 4
    listed = shown(door, "/v1/memories", session_id="s1", message_id="m1")["items"]
    assert [one["id"] for one in listed] == [made["memory"]["id"]]


def test_messages_of_a_time_are_listed(door: Doors) -> None:
    for day in (1, 2, 3):
        event = said(f"Day {day}.", session="s-days", message_id=f"d{day}", time=f"2026-05-0{day}T12:00:00Z")
        assert door.post("/v1/events", event).is_success
    path = "/v1/sessions/s-days/messages"

    def ids(**asked: str) -> list[str]:
        return [item["id"] for item in door.get(path, params=asked).json()["items"]]

    assert ids(**{"from": "2026-05-02T12:00:00Z"}) == ["d2", "d3"]
    assert ids(to="2026-05-02T12:00:00Z") == ["d1"]
    assert ids(**{"from": "2026-05-02T00:00:00Z", "to": "2026-05-03T00:00:00Z"}) == ["d2"]
