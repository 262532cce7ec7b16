from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from httpx import Response
from sqlalchemy import text

from api.ingress import dependencies as door_module
from core.config import Settings
from core.storage.db import Database
from tests.api.posting import problem
from tests.doors import Doors, key_of
from tests.rules.samples import a_document
from tests.samples import TENANT


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
