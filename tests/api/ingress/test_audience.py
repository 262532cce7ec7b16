"""Whose reading a request is for, and the table of routes that enforce labels."""

from __future__ import annotations

import pytest

from api.ingress import audience
from core.errors import Forbidden, Invalid
from core.storage.db import EVERYTHING
from core.tenancy.tenants import Caller
from tests.doors import Doors
from tests.samples import TENANT


def caller(*labels: str) -> Caller:
    return Caller(TENANT, "k", frozenset({"read"}), labels=frozenset(labels))


ANY = Caller(TENANT, "k", frozenset({"read"}))


@pytest.mark.parametrize(
    ("who", "asked", "reader"),
    [
        (ANY, None, ""),
        (ANY, [], ""),
        (ANY, ["b", "a"], "a,b"),
        (ANY, ["*", "a"], EVERYTHING),
        (caller(), None, ""),
        (caller(), ["*"], ""),
        (caller(), ["a"], ""),
        (caller("a", "b"), None, "a,b"),
        (caller("a", "b"), [], ""),
        (caller("a", "b"), ["b", "c"], "b"),
        (caller("a", "b"), ["*", "c"], "a,b"),
    ],
)
def test_a_reader_holds_what_is_asked_within_what_the_key_has(
    door: Doors, who: Caller, asked: list[str] | None, reader: str
) -> None:
    app = door.client.app
    assert audience.for_reader(app.state.deps, who, asked).db.reader == reader  # type: ignore[attr-defined]


def test_each_route_of_the_table_exists(door: Doors) -> None:
    paths = door.get("/openapi.json").json()["paths"]
    named = {(method.upper(), path) for path, one in paths.items() for method in one}
    table = {(method, path.replace(":path", "")) for method, path in audience.LABELLED_ROUTES}
    assert table - named <= {("POST", "/mcp")}


def test_a_key_with_labels_reaches_the_routes_of_the_table_alone() -> None:
    audience.require_route(caller("a"), "POST", "/v1/search")
    audience.require_route(ANY, "GET", "/v1/events")
    with pytest.raises(Forbidden):
        audience.require_route(caller("a"), "GET", "/v1/events")


def test_a_key_with_labels_gives_none_that_it_lacks() -> None:
    audience.require_held(ANY, "/x", ["a"])
    audience.require_held(caller("a"), "/x", ["a"])
    with pytest.raises(Invalid):
        audience.require_held(caller("a"), "/x", ["a", "b"])


@pytest.mark.parametrize(
    "labels", [["A"], ["a b"], [""], ["a,b"], ["x" * 64], ["*x"], [1], "a", [f"l{n}" for n in range(101)]]
)
def test_labels_that_are_none_are_refused(door: Doors, labels: object) -> None:
    for path in ("/v1/search", "/v1/context"):
        answer = door.post(path, {"user_id": "ada", "query": "x", "reader_labels": labels})
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"].startswith("/reader_labels")


@pytest.mark.parametrize("labels", [["*"], ["A"], [f"l{n}" for n in range(17)], "a"])
def test_labels_of_messages_and_memories_are_checked(door: Doors, labels: object) -> None:
    said = {"session_id": "s", "user_id": "ada", "role": "user", "content": "x", "audience_labels": labels}
    event = {"event_type": "message.added", "source": "test", "payload": said}
    assert door.post("/v1/events", event).status_code == 422
    assert door.post("/v1/memories", {"user_id": "ada", "content": "x y", "audience_labels": labels}).status_code == 422
