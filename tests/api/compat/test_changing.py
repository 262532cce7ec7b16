"""Deleting more than one request may."""

from __future__ import annotations

from typing import Any

import pytest

from api.compat import changing
from tests.doors import Doors


def test_a_deletion_that_is_too_large_says_so_and_goes_on_next_time(
    door: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changing, "DELETED", 1)
    for words in ("Ada likes tea.", "Ada works at a bank."):
        assert door.post("/v1/memories", {"user_id": "ada", "content": words}).status_code == 201
    address = "/compat/mem0/v1/memories/"
    first = door.ask("DELETE", address, params={"user_id": "ada"})
    assert (first.status_code, first.headers["retry-after"]) == (503, "1")
    assert len(door.get(address, params={"user_id": "ada"}).json()) == 1
    assert door.ask("DELETE", address, params={"user_id": "ada"}).json()["count"] == 1


@pytest.mark.parametrize(
    ("asked", "pointer"),
    [
        ({"text": ""}, "/text"),
        ({"text": "x" * 10_001}, "/text"),
        ({"timestamp": "0001-01-01T00:00:00Z"}, "/timestamp"),
        ({"timestamp": "soon"}, "/timestamp"),
        ({"expiration_date": "0001-01-01"}, "/expiration_date"),
        ({"metadata": {"a": ["x" * 19_990]}}, "/metadata"),
        ({"metadata": {"mem0": 1}}, "/metadata/mem0"),
    ],
)
def test_an_update_beyond_a_bound_is_refused_where_the_caller_wrote_it(
    door: Doors, asked: dict[str, Any], pointer: str
) -> None:
    kept = door.post("/v1/memories", {"user_id": "ada", "content": "Ada likes tea."}).json()["memory"]
    answer = door.ask("PUT", f"/compat/mem0/v1/memories/{kept['id']}/", json=asked)
    assert answer.status_code == 422, answer.text
    assert [one["pointer"] for one in answer.json()["errors"]] == [pointer]
