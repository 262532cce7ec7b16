from __future__ import annotations

from api.console import vocabulary
from api.ingress import asyncapi

REFERENCE = asyncapi.document("0")


def test_documented_fields_are_offered_by_type() -> None:
    fields = vocabulary.of_events(REFERENCE, [])
    assert {"payload.role", "payload.content"} <= fields["message.added"].keys()
    assert "payload.memory_id" in fields["memory.created"]
    assert "payload.role" not in fields["memory.created"]


def test_fields_of_types_that_nobody_has_documented_are_those_that_came() -> None:
    order = {"event_type": "order.placed", "payload": {"total": 3, "to": {"city": {"name": {"long": 1}}}, "a.b": 1}}
    assert list(vocabulary.of_events(REFERENCE, [order])["order.placed"]) == [
        "payload.total", "payload.to", "payload.to.city", "payload.to.city.name",
    ]  # fmt: skip


def test_a_field_that_came_does_not_hide_what_is_known_of_it() -> None:
    said = {"event_type": "message.added", "payload": {"role": "user", "mood": "good"}}
    before = vocabulary.of_events(REFERENCE, [])["message.added"]
    assert vocabulary.of_events(REFERENCE, [said])["message.added"] == before | {"payload.mood": ""}
