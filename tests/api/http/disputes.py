"""Conflicts as the door lists them."""

from __future__ import annotations

from typing import Any

from core.types import Json
from tests.doors import Doors


def listed(door: Doors, **params: Any) -> list[Json]:
    answer = door.get("/v1/conflicts", params=params)
    assert answer.status_code == 200, answer.text
    found: list[Json] = answer.json()["items"]
    return found
