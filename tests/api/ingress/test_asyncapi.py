"""The AsyncAPI document is valid, and says of every event what the code that checks it does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from api.ingress import asyncapi
from core.events.parsing import PAYLOADS
from core.events.reserved import EMITTED
from core.types import Json
from tests.doors import Doors

SAMPLES: dict[str, Json] = {
    "message.added": {"session_id": "s1", "user_id": "ada", "role": "user", "content": "I moved to Lisbon."},
    "session.ended": {"session_id": "s1", "user_id": "ada", "message_count": 3},
    "feedback.given": {"user_id": "ada"},
}


@pytest.fixture(scope="module")
def document() -> Json:
    return asyncapi.document("0.1.0")


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def errors(document: Json, name: str, event: Json) -> list[str]:
    """What the schema of a message has against an event."""
    registry: Registry[Any] = Registry().with_resource("urn:events", Resource(document, DRAFT202012))
    schema = {"$ref": f"urn:events#/components/messages/{name}/payload"}
    return [one.message for one in Draft202012Validator(schema, registry=registry).iter_errors(event)]


def test_every_reference_leads_somewhere(document: Json) -> None:
    found = set(references(document))
    assert len(found) > len(PAYLOADS)
    for one in found:
        place: Any = document
        for part in one.removeprefix("#/").split("/"):
            place = place[part]


def test_it_has_every_checked_and_every_emitted_type(document: Json) -> None:
    messages = document["components"]["messages"]
    assert {f"accepted.{kind}" for kind in PAYLOADS} | {f"emitted.{kind}" for kind in EMITTED} <= set(messages)
    listed = [name for channel in document["channels"].values() for name in channel["messages"]]
    assert sorted(listed) == sorted(messages)


@pytest.mark.parametrize("kind", SAMPLES)
def test_an_event_that_is_accepted_is_valid(door: Doors, document: Json, kind: str) -> None:
    event = {"event_type": kind, "source": "test", "payload": SAMPLES[kind]}
    assert door.post("/v1/events", event).status_code == 202
    assert errors(document, f"accepted.{kind}", event) == []


@pytest.mark.parametrize("kind", SAMPLES)
def test_an_event_that_is_refused_is_not(door: Doors, document: Json, kind: str) -> None:
    event: Json = {"event_type": kind, "source": "test", "payload": {}}
    assert door.post("/v1/events", event).status_code == 422
    assert errors(document, f"accepted.{kind}", event) != []


def test_it_is_served_without_a_key(door: Doors, document: Json) -> None:
    answer = door.client.get("/asyncapi.json", headers={"Authorization": ""})
    assert answer.json() == document
