"""A key without labels meets labelled content on every route there is: the table of routes says which there are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.routing import Route

from api.console.routing import router
from api.ingress import route_bounds
from api.mcp.tools import TOOLS
from core.config import Settings
from core.storage.db import Database
from core.types import Json
from tests.api.console.browser import Browser
from tests.doors import Doors, key_of
from tests.samples import TENANT, accept_all, ended, said
from tests.works import Works

MARKER = "Northbridge"
LABELS = ["family"]

WHOLE = frozenset(
    {
        "/v1/events",
        "/v1/events/{event_id}",
        "/v1/events/{event_id}/trace",
        "/v1/events/{event_id}/chain",
        "/v1/stream",
        "/v1/memories/decisions",
        "/v1/memories/{memory_id}/why",
        "/v1/dispatches/{dispatch_id}",
    }
)
"""Routes that show a key without labels the log, decisions and dispatches whole, as docs/trust.md says."""

WHOLE_TOOLS = frozenset({"memory_why"})

Values = dict[str, Any]


@pytest.fixture
def planted(app: Database, works: Works, door: Doors) -> Values:
    """Somebody says something to the family alone; returns values for parameters and bodies by their name."""
    accept_all(
        app,
        [
            said(f"My salary at {MARKER} is 91234 euros.", message_id="money", speaker="Ada", audience_labels=LABELS),
            said("I live in Porto.", message_id="open", speaker="Ada"),
            ended(message_count=2, id="end"),
        ],
    )
    statement = {"user_id": "ada", "content": f"Ada's brother works at {MARKER}.", "audience_labels": LABELS}
    assert door.post("/v1/memories", statement).status_code == 201
    works.settle()
    mine = {"user_id": "ada", "reader_labels": "*"}
    labelled = [m for m in door.get("/v1/memories", params=mine).json()["items"] if MARKER in m["content"]]
    assert len(labelled) == 2
    log = door.get("/v1/events", params={"type": "message.added"}).json()["items"]
    event = next(one["id"] for one in log if MARKER in str(one))
    token = door.post("/v1/events", {"event_type": "x.y", "source": "t", "payload": {}}).json()["settle_token"]
    works.settle()
    dispatches = door.get("/v1/dispatches").json()["items"]
    memory = labelled[0]["id"]
    return {
        "user_id": "ada",
        "session_id": "s1",
        "message_id": "money",
        "memory_id": memory,
        "event_id": event,
        "ids": [memory],
        "id": memory,
        "query": f"{MARKER} salary",
        "q": MARKER,
        "follow": False,
        "after": None,
        "dispatch_id": dispatches[0]["id"],
        "token": token,
        "ends_with": memory[-4:],
        "limit": 50,
        "days": 7,
        "name": "write_units",
        "kind": "memory",
        "include": ["memories", "messages", "units"],
        "timeout": 1,
        "messages": [{"role": "user", "content": "I like tea."}],
        "id_or_uri": memory,
        "include_sources": True,
        "paths": {
            "/v1/ids": {"type": "memory"},
            "/v1/context": {"include": ["units"]},
            "/v1/answer": {"optional": {"min_certainty"}, "min_certainty": 0},
            "/v1/rules/validate": _RULE | {"optional": _RULE.keys()},
            "/v1/rules/test": {"optional": {"rule", "event"}},
            "/compat/mem0/v1/event/{event_id}/": {"event_id": token},
        },
        "rule": _RULE,
        "event": {"event_type": "x.y", "source": "t", "payload": {}},
        "type": "memory.*",
        "from": "2026-01-01T00:00:00Z",
        "to": "2100-01-01T00:00:00Z",
        "filters": {"user_id": "ada"},
        "search": {"user_id": "ada", "query": MARKER},
        "memory": memory,
        "result": memory,
        "question": MARKER,
    }


_RULE: Json = {
    "name": "r",
    "event_type": "x.y",
    "actions": [{"action_type": "notify", "channel": "log", "template": "x"}],
}


OWNER = frozenset({"user_id", "session_id", "query", "q", "include"})
"""Optional fields with which each route is tried a second time."""


def test_no_route_shows_a_key_without_labels_what_has_labels(settings: Settings, door: Doors, planted: Values) -> None:
    app = door.client.app
    assert isinstance(app, FastAPI)
    document, key = app.openapi(), key_of(settings, TENANT, ("read",))
    shown, untried = set(), dict[tuple[str, str], str]()
    for method, path in _readable(app):
        operation = document["paths"].get(path, {}).get(method.lower())
        if operation is None or path == "/mcp":
            continue
        answered = False
        for optional in (frozenset[str](), OWNER):
            answer = door.ask(method, **_request(path, operation, document, planted, optional), key=key)
            answered |= answer.status_code != 422
            shown |= {path} if MARKER in answer.text else set()
        if not answered:
            untried[method, path] = answer.text
    assert untried == {}, "Add a value for what these need to `planted`."
    assert shown - WHOLE == set(), "A route either reads by labels, or docs/trust.md names it and it stands in WHOLE."


def _readable(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Yield method and path of the routes that a key with the scope `read` reaches."""
    for route in iter_route_contexts(app.routes):
        if route_bounds.scope_of(route) in {"read", "any key", "no key"}:
            yield from ((method, route.path or "") for method in route.methods or () if method in {"GET", "POST"})


def _request(path: str, operation: Json, document: Json, values: Values, optional: frozenset[str]) -> Json:
    """Return a request to an operation, with what it requires and the optional fields of these names."""
    values = values | values["paths"].get(path, {})
    optional = optional | values.get("optional", frozenset())
    url, params = path, {}
    for parameter in operation.get("parameters", []):
        name = parameter["name"]
        if parameter["in"] == "path":
            url = url.replace(f"{{{name}}}", str(values.get(name, values["memory_id"])))
        elif parameter["in"] == "query" and (parameter.get("required") or name in optional | {"follow"}):
            params[name] = values.get(name, _first(parameter["schema"], document))
    content = operation.get("requestBody", {}).get("content", {})
    body = _of_schema(next(iter(content.values()))["schema"], document, values, optional) if content else None
    return {"path": url, "params": params} | ({"json": body} if body is not None else {})


def _of_schema(schema: Json, document: Json, values: Values, optional: frozenset[str]) -> Json:
    """Return an object with the required fields of a schema, and its optional ones of these names."""
    while "$ref" in schema or "anyOf" in schema:
        schema = schema["anyOf"][0] if "anyOf" in schema else document["components"]["schemas"][schema["$ref"][21:]]
    names = schema.get("required", []), [name for name in schema.get("properties", {}) if name in optional]
    fields = schema.get("properties", {})
    return {name: values.get(name, _first(fields[name], document)) for name in dict.fromkeys([*names[0], *names[1]])}


def _first(field: Json, document: Json) -> Any:
    """Return the first allowed value of a field with a list of them, else a word."""
    while "$ref" in field or "anyOf" in field:
        field = field["anyOf"][0] if "anyOf" in field else document["components"]["schemas"][field["$ref"][21:]]
    if field.get("format") == "uuid":
        return "01a22275-6020-7146-aa50-0a856dc96845"
    return field.get("const", field.get("enum", ["x"])[0])


def test_no_tool_shows_a_key_without_labels_what_has_labels(settings: Settings, door: Doors, planted: Values) -> None:
    key, shown = key_of(settings, TENANT, ("read",)), set()
    for tool in TOOLS.values():
        if tool.scope == "read":
            schema = tool.takes.model_json_schema()
            arguments = _of_schema(schema, {}, planted, OWNER)
            call = {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": tool.name, "arguments": arguments},
            }
            answer = door.post("/mcp", call, headers={"host": "127.0.0.1:8070"}, key=key)
            assert "result" in answer.text, answer.text
            shown |= {tool.name} if MARKER in answer.text else set()
    assert shown == WHOLE_TOOLS


NO_PAGES = frozenset(f"/console/{name}" for name in ("static/{name:path}", "language/{tag}", "live", "export"))
"""Files, a redirection, a stream without an end, and an archive, whose route of the API is tried."""

CONSOLE_WHOLE = frozenset({"/console", "/console/events", "/console/events/{event_id:path}"})
"""Pages with the log: the latest events, all of them, and one."""


def test_no_page_of_the_console_shows_it_either(settings: Settings, door: Doors, planted: Values) -> None:
    browser = Browser(door.client)
    assert browser.log_in(key_of(settings, TENANT, ("read",))).status_code == 303
    shown = set()
    for route in router.routes:
        if isinstance(route, Route) and "GET" in (route.methods or ()) and route.path not in NO_PAGES:
            path = re.sub(r"{(\w+)(:path)?}", lambda match: str(planted.get(match[1], "s1")), route.path)
            page = browser.client.get(path, params={"user_id": "ada"}, follow_redirects=True)
            shown |= {route.path} if MARKER in page.text else set()
    assert shown == CONSOLE_WHOLE


@pytest.mark.parametrize("scopes", [("write",), ("read", "write")])
def test_no_route_changes_for_a_key_without_labels_what_it_cannot_read(
    settings: Settings, door: Doors, planted: Values, scopes: tuple[str, ...]
) -> None:
    app = door.client.app
    assert isinstance(app, FastAPI)
    document, key = app.openapi(), key_of(settings, TENANT, scopes)
    missing = door.get(f"/v1/memories/{planted['memory_id']}")
    tried = 0
    for route in iter_route_contexts(app.routes):
        path = route.path or ""
        if route_bounds.scope_of(route) != "write" or not ("{memory_id}" in path or "{message_id" in path):
            continue
        for method in route.methods or ():
            operation = document["paths"][path.replace(":path", "")][method.lower()]
            answer = door.ask(method, **_request(path, operation, document, planted, OWNER), key=key)
            assert answer.status_code == 404, (method, path, answer.text)
            assert MARKER not in answer.text
            tried += 1
    assert missing.status_code == 404
    assert tried >= 10
