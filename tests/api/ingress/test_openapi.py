"""The OpenAPI document can be read by people."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import pytest

from api.ingress import openapi
from api.ingress.openapi import DocumentedApi
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


def test_nobody_is_shown_the_document_before_it_is_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    app, entered, go_on = DocumentedApi(title="T", version="1"), threading.Event(), threading.Event()
    complete = openapi._complete

    def slow(*given: Any) -> None:
        entered.set()
        assert go_on.wait(30)
        complete(*given)

    monkeypatch.setattr(openapi, "_complete", slow)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(app.openapi)
        assert entered.wait(30)
        second = pool.submit(lambda: "securitySchemes" in app.openapi().get("components", {}))
        wait([second], timeout=0.2)
        go_on.set()
        assert second.result(30)
        assert first.result(30) is app.openapi()
