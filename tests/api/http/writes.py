"""Requests that write memories."""

from __future__ import annotations

from typing import Any

from sqlalchemy import text

from core.events import log
from core.storage.db import Database
from core.types import Event, Json
from tests.doors import Doors
from tests.factories import events_since
from tests.samples import TENANT

CAT: Json = {"user_id": "ada", "content": "Ada has a cat."}


def post(door: Doors, status: int = 201, headers: Json | None = None, **asked: Any) -> Json:
    answer = door.post("/v1/memories", {**CAT, **asked}, headers=headers or {})
    assert answer.status_code == status, answer.text
    found: Json = answer.json()
    return found


def said_events(app: Database) -> list[Event]:
    with app.tenant(TENANT) as tx:
        return [e for e in events_since(tx, 0, 1000) if e.source == log.SOURCE]


def of_type(app: Database, event_type: str) -> list[Json]:
    return [event.payload for event in said_events(app) if event.event_type == event_type]


def patch(door: Doors, memory_id: object, status: int = 200, headers: Json | None = None, **asked: Any) -> Json:
    answer = door.ask("PATCH", f"/v1/memories/{memory_id}", json=asked, headers=headers or {})
    assert answer.status_code == status, answer.text
    found: Json = answer.json()
    return found


def spoil(app: Database, memory_id: object, **columns: str) -> None:
    """Set columns of a memory as nobody may through a door."""
    with app.tenant(TENANT) as tx:
        for name, value in columns.items():
            tx.execute(text(f"UPDATE memories SET {name} = :value WHERE id = :id"), {"value": value, "id": memory_id})


def pointers(answer: Any) -> list[str]:
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert all(fault["detail"] for fault in answer.json()["errors"])
    return [fault["pointer"] for fault in answer.json()["errors"]]
