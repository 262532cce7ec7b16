from __future__ import annotations

import pytest

from core.storage.db import Database
from core.types import Json
from tests.api.http.writes import CAT, pointers
from tests.doors import Doors
from tests.samples import accept, said


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"user_id": ""}, "/user_id"),
        ({"content": ""}, "/content"),
        ({"content": " \n"}, "/content"),
        ({"content": "x" * 10_001}, "/content"),
        ({"content": "a\x00b"}, "/content"),
        ({"contents": "x"}, "/contents"),
        ({"kind": "odd"}, "/kind"),
        ({"category": "odd"}, "/category"),
        ({"topic": "odd"}, "/topic"),
        ({"importance": 1.1}, "/importance"),
        ({"confidence": -1}, "/confidence"),
        ({"tags": ["a"] * 51}, "/tags"),
        ({"tags": [""]}, "/tags/0"),
        ({"attribute": "home.city"}, "/value"),
        ({"value": "Lisbon"}, "/attribute"),
        ({"attribute": "home city", "value": "x"}, "/attribute"),
        ({"structured": []}, "/structured"),
        ({"structured": {"a": "\x00"}}, "/structured"),
        ({"structured": {"a": "x" * 20_000}}, "/structured"),
        ({"half_life_days": 0}, "/half_life_days"),
        ({"occurred_at": "2026-01-01T00:00:00"}, "/occurred_at"),
        ({"occurred_at": "0999-01-01T00:00:00Z"}, "/occurred_at"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "/expires_at"),
        ({"valid_from": "2026-02-01T00:00:00Z", "valid_to": "2026-01-01T00:00:00Z"}, "/valid_to"),
        ({"evidence": [{"session_id": "s1"}]}, "/evidence/0/message_id"),
        ({"evidence": [{"session_id": "s1", "message_id": "m9"}]}, "/evidence/0/message_id"),
        ({"evidence": [{"session_id": "s1", "message_id": "m1", "quote": "dog"}]}, "/evidence/0/quote"),
        ({"status": "active"}, "/status"),
        ({"trust": "confirmed"}, "/trust"),
    ],
)
def test_what_is_wrong_with_a_statement_is_said_with_its_place(
    door: Doors, app: Database, wrong: Json, pointer: str
) -> None:
    accept(app, said("I have a cat.", message_id="m1"))
    assert pointers(door.post("/v1/memories", {**CAT, **wrong})) == [pointer]
    batch = {"memories": [CAT, {**CAT, **wrong}]}
    assert pointers(door.post("/v1/memories/batch", batch)) == [f"/memories/1{pointer}"]
    assert door.get("/v1/memories").json()["items"] == []
