"""Endpoints that are called directly answer as the framework's way does."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

from api.http.search import search as http_search
from api.ingress import dependencies
from core.config import Settings
from core.errors import Invalid, Later, Problem
from core.search import query
from core.search.question import RankedAnswer
from core.sessions import ingest
from core.tenancy import tenants
from tests.doors import OTHER, Doors, key_of
from tests.samples import TENANT, accept, said

JSON = {"content-type": "application/json"}
SPELLED = {"content-type": "application/json; charset=utf-8"}
"""The same to HTTP, but not usual: the framework reads it."""

ASKED = {"user_id": "ada", "query": "Who plays the cello?"}


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the threads in which searches run."""
    names, search = list[str](), query.search

    def noted(*given: Any) -> RankedAnswer:
        names.append(threading.current_thread().name)
        return search(*given)

    monkeypatch.setattr(http_search.query, "search", noted)
    return names


def test_a_usual_request_is_called_directly_and_answered_alike(door: Doors, threads: list[str]) -> None:
    accept(door_app(door), said("I play the cello."))
    answers = [door.ask("POST", "/v1/search", content=json.dumps(ASKED), headers=one) for one in (JSON, SPELLED)]
    direct, usual = (answer.json() | {"took_ms": 0} for answer in answers)
    assert direct == usual
    assert [one["content"] for one in direct["results"]] == ["I play the cello."]
    assert [name.startswith("endpoint") for name in threads] == [True, False]
    first, second = (sorted(answer.headers) for answer in answers)
    assert first == second


@pytest.mark.parametrize("path", ["/v1/search", "/v1/context"])
@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b"\xff",
        b'{"user_id": "\\ud800", "query": "x"}',
        b'{"user_id": "ada", "query": "x", "limit": 0}',
        b'{"user_id": "ada", "query": "x", "limit": "many"}',
        b'{"user_id": "ada", "query": "x", "unknown": 1}',
        b'{"query": "x"}',
        b'{"user_id": "ada", "query": "a\\u0000b"}',
        b"[" * 5_000,
        b'{"user_id": "ada", "query": "x", "user_id": 7}',
        b'{"user_id": "ada", "query": "x", "min_similarity": NaN, "max_tokens": NaN}',
        b'{"user_id": "ada", "query": "' + b"x" * 20_000 + b'"}',
    ],
)
def test_a_faulty_body_is_refused_alike(door: Doors, path: str, body: bytes) -> None:
    direct, usual = (door.ask("POST", path, content=body, headers=one) for one in (JSON, SPELLED))
    assert direct.status_code == usual.status_code == 422, direct.text
    assert direct.json() == usual.json()


@pytest.mark.parametrize("error", [Invalid([Problem("/query", "is odd")]), Later("Ask again."), RuntimeError("broken")])
def test_what_an_endpoint_raises_is_answered_alike(
    door: Doors, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_given: object) -> RankedAnswer:
        raise error

    monkeypatch.setattr(http_search.query, "search", fail)
    direct, usual = (door.ask("POST", "/v1/search", content=json.dumps(ASKED), headers=one) for one in (JSON, SPELLED))
    assert (direct.status_code, direct.json()) == (usual.status_code, usual.json())
    assert sorted(direct.headers) == sorted(usual.headers)


def test_keys_are_asked_for_as_everywhere(door: Doors, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    accept(door_app(door), said("I play the cello."))
    publisher = key_of(settings, TENANT, ("publish",))
    assert door.ask("POST", "/v1/search", json=ASKED, key="no such key").status_code == 401
    assert door.ask("POST", "/v1/search", json=ASKED, key=publisher).status_code == 403
    assert door.ask("POST", "/v1/search", json=ASKED, tenant=OTHER).json()["results"] == []
    reader = key_of(settings, TENANT, ("read",))
    assert door.ask("POST", "/v1/search", json=ASKED, key=reader).json()["results"]
    with door_app(door).tenant(TENANT) as tx:
        tenants.revoke_key(tx, tenants.caller(door_app(door), reader, settings.tenant_limits).key_id)
    later = time.monotonic() + dependencies.KEY_SECONDS + 1
    monkeypatch.setattr(dependencies.time, "monotonic", lambda: later)
    assert door.ask("POST", "/v1/search", json=ASKED, key=reader).status_code == 401


def door_app(door: Doors) -> Any:
    """The database of the door."""
    return door.client.app.state.deps.db  # type: ignore[attr-defined]


def test_events_are_accepted_directly_and_refused_as_ever(door: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    names, take = list[str](), ingest.accept

    def noted(*given: Any) -> ingest.Accepted:
        names.append(threading.current_thread().name)
        return take(*given)

    monkeypatch.setattr(ingest, "accept", noted)
    sent = [said("I play the cello."), said("And the flute.")]
    answer = door.ask("POST", "/v1/events", content=json.dumps(sent), headers=JSON)
    assert (answer.status_code, answer.json()["accepted"]) == (202, 2)
    assert [name.startswith("endpoint") for name in names] == [True]
    wrong = door.ask("POST", "/v1/events", content=json.dumps([*sent, {"source": "x"}]), headers=JSON)
    assert (wrong.status_code, [one["pointer"] for one in wrong.json()["errors"]]) == (422, ["/2/event_type"])
    empty = door.ask("POST", "/v1/events", content=b"", headers=JSON)
    assert empty.status_code == 422
