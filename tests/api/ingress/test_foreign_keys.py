"""Other spellings of a key are read below their prefix, and nowhere else."""

from __future__ import annotations

import pytest

from tests.doors import Doors
from tests.samples import TENANT

PING = "/compat/mem0/v1/ping/"


@pytest.mark.parametrize(
    "spelled",
    [{"authorization": "Token {}"}, {"authorization": "token {}"}, {"authorization": "Bearer {}"}, {"x-api-key": "{}"}],
)
def test_a_key_is_read_in_any_spelling(door: Doors, spelled: dict[str, str]) -> None:
    headers = {name: value.format(door.keys[TENANT]) for name, value in spelled.items()}
    answer = door.client.get(PING, headers=headers)
    assert answer.json() == {"status": "ok", "org_id": TENANT, "project_id": TENANT, "user_email": None}


@pytest.mark.parametrize("spelled", [{"authorization": "Token {}"}, {"x-api-key": "{}"}])
def test_elsewhere_only_bearer_is_read(door: Doors, spelled: dict[str, str]) -> None:
    headers = {name: value.format(door.keys[TENANT]) for name, value in spelled.items()}
    assert door.client.get("/v1/memories", headers=headers).status_code == 401


@pytest.mark.parametrize("headers", [{}, {"authorization": "Token wrong"}, {"x-api-key": ""}, {"x-api-key": "wrong"}])
def test_an_unknown_key_is_refused_with_a_detail(door: Doors, headers: dict[str, str]) -> None:
    answer = door.client.get(PING, headers=headers)
    assert answer.status_code == 401
    assert answer.json()["detail"]
