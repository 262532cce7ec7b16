"""What a request's body is, where the request does not say."""

from __future__ import annotations

import json

import pytest

from core.types import Json
from tests.doors import Doors
from tests.rules.samples import a_document
from tests.samples import said

FORM = "application/x-www-form-urlencoded"
MEMORY = {"user_id": "ada", "content": "Ada plays the cello."}


@pytest.mark.parametrize("header", [{}, {"content-type": FORM}, {"content-type": f"{FORM}; charset=utf-8"}])
@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/v1/events", said("x"), 202),
        ("POST", "/v1/search", {"user_id": "ada", "query": "x"}, 200),
        ("POST", "/v1/memories", MEMORY, 201),
        ("POST", "/v1/context", {"user_id": "ada", "query": "x", "max_tokens": 500}, 200),
        ("POST", "/v1/rules", a_document(), 201),
        ("POST", "/v1/rules/test", {"rule": a_document(), "event": said("x")}, 200),
        ("POST", "/v1/documents", {"content": "# A\n\nb", "uri": "a.md"}, 201),
        ("PATCH", "/v1/tenant", {"allow_high_risk": False}, 200),
    ],
)
def test_a_body_without_a_type_is_json_on_every_route(
    door: Doors, header: dict[str, str], method: str, path: str, body: Json, status: int
) -> None:
    answer = door.ask(method, path, content=json.dumps(body), headers=header)
    assert answer.status_code == status, answer.text


def test_what_says_its_type_keeps_it(door: Doors) -> None:
    plain = door.ask("POST", "/v1/documents?uri=a.txt", content="Hello.", headers={"content-type": "text/plain"})
    lines = door.ask(
        "POST", "/v1/events", content=json.dumps(said("x")), headers={"content-type": "application/x-ndjson"}
    )
    assert (plain.status_code, lines.status_code) == (201, 202)


def test_a_real_form_is_told_that_json_is_wanted(door: Doors) -> None:
    answer = door.ask("POST", "/v1/search", content="user_id=ada&query=x", headers={"content-type": FORM})
    assert answer.status_code == 422
    assert "JSON" in answer.json()["detail"]
