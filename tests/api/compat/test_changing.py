"""Deleting more than one request may."""

from __future__ import annotations

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
