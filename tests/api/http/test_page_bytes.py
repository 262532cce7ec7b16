"""Lists whose rows a caller has made large answer in pages of few bytes, which together have all rows."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from core.storage.bounded_rows import PAGE_BYTES
from core.storage.db import Database
from core.types import Json
from tests.api.http.dispatching import NOTIFY, save
from tests.doors import Doors
from tests.samples import accept_all, event, said

LARGE = 200_000
ROWS = 24
"""4.8 MB: more than two pages."""


def pages(door: Doors, path: str, **params: object) -> list[list[Json]]:
    read, after = list[list[Json]](), None
    while True:
        answer = door.get(path, params={**params, **({} if after is None else {"after": after})})
        assert answer.status_code == 200, answer.text
        assert len(answer.content) < 2 * PAGE_BYTES
        read.append(answer.json()["items"])
        after = answer.json()["next"]
        if after is None:
            return read


def _events(door: Doors, app: Database) -> tuple[str, Json]:
    accept_all(app, [event(id=f"e{n}", payload={"text": "x" * LARGE}) for n in range(ROWS)])
    return "/v1/events", {"limit": 500}


def _events_of_a_type(door: Doors, app: Database) -> tuple[str, Json]:
    path, params = _events(door, app)
    return path, {**params, "type": "order.*"}


def _messages(door: Doors, app: Database) -> tuple[str, Json]:
    accept_all(app, [said(f"{n} " + "x" * LARGE) for n in range(ROWS)])
    return "/v1/sessions/s1/messages", {"limit": 500}


def _working_memory(door: Doors, app: Database) -> tuple[str, Json]:
    accept_all(app, [event("session.started", {"session_id": "s1", "user_id": "ada"})])
    for n in range(ROWS * 3):
        put = {"value": "x" * 60_000}
        assert door.ask("PUT", f"/v1/sessions/s1/working/k{n}", json=put).status_code == 200
    return "/v1/sessions/s1/working", {}


def _versions(door: Doors, app: Database) -> tuple[str, Json]:
    for n in range(ROWS * 2):
        actions = [{**NOTIFY, "template": f"{n} {word}" + "x" * 9_900} for word in range(12)]
        save(app, name="large", actions=actions)
    return "/v1/rules/large/versions", {"limit": 500}


@pytest.mark.parametrize("plant", [_events, _events_of_a_type, _messages, _working_memory, _versions])
def test_pages_are_bounded_by_bytes_and_together_complete(
    door: Doors, app: Database, plant: Callable[[Doors, Database], tuple[str, Json]]
) -> None:
    path, params = plant(door, app)
    read = pages(door, path, **params)
    rows = [json.dumps(row) for page in read for row in page]
    assert len(read) > 2
    assert len(rows) == len(set(rows)) >= ROWS
    assert sum(map(len, rows)) > 2 * PAGE_BYTES


def test_the_newest_of_large_messages_are_fewer(door: Doors, app: Database) -> None:
    accept_all(app, [said(f"{n} " + "x" * LARGE) for n in range(ROWS)])
    answer = door.get("/v1/sessions/s1/messages", params={"last": 500})
    numbers = [int(message["content"].split()[0]) for message in answer.json()["items"]]
    assert numbers == list(range(numbers[0], ROWS))
    assert numbers[0] > 0, "fewer than all"
    assert len(answer.content) < PAGE_BYTES + 2 * LARGE


def test_results_of_a_search_are_bounded_by_bytes_too(door: Doors, app: Database) -> None:
    accept_all(app, [said(f"gherkin {n} " + "x" * LARGE) for n in range(ROWS)])
    request: Json = {"user_id": "ada", "query": "gherkin", "include": ["messages"], "limit": 200, "method": "keyword"}
    seen, after, count = set[str](), None, 0
    while True:
        answer = door.post("/v1/search", request | ({} if after is None else {"after": after}))
        assert len(answer.content) < 2 * (PAGE_BYTES + LARGE), "a message stands in its sources once more"
        seen |= {result["id"] for result in answer.json()["results"]}
        after, count = answer.json()["next"], count + 1
        if after is None:
            break
    assert len(seen) == ROWS
    assert count > 2
