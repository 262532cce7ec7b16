"""The OpenAPI document can be read by people."""

from __future__ import annotations

import re

from core.types import Json
from tests.doors import Doors

MACHINE_MADE = re.compile(r"^(Get|Post|Put|Patch|Delete)( [A-Z][a-z]*)+$")


def document(door: Doors) -> Json:
    found: Json = door.client.get("/openapi.json").json()
    return found


def operations(door: Doors) -> dict[str, Json]:
    paths = document(door)["paths"]
    return {f"{method} {path}": one for path, methods in paths.items() for method, one in methods.items()}


def test_every_summary_is_a_sentence(door: Doors) -> None:
    found = {name: one["summary"] for name, one in operations(door).items()}
    assert [name for name, said in found.items() if MACHINE_MADE.match(said) or len(said.split()) < 2] == []


def test_publishing_has_a_body_with_an_example(door: Doors) -> None:
    body = operations(door)["post /v1/events"]["requestBody"]
    one, several = body["content"]["application/json"]["schema"]["oneOf"]
    assert several["items"] == one
    event = document(door)["components"]["schemas"][one["$ref"].rpartition("/")[2]]
    assert {"event_type", "source"} <= set(event["required"])
    assert event["properties"]["payload"]
    example = body["content"]["application/json"]["example"]
    assert door.post("/v1/events", example).status_code == 202
