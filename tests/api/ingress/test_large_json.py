from __future__ import annotations

import json

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel

from api.ingress import large_json
from core.errors import Invalid


class Wanted(BaseModel):
    """A body."""

    items: list[int]


def client() -> TestClient:
    router = APIRouter(route_class=large_json.Route)

    @router.post("/sum")
    def add_up(wanted: Wanted) -> int:
        return sum(wanted.items)

    application = FastAPI()
    application.include_router(router)
    return TestClient(application)


def test_large_and_small_bodies_are_answered_alike() -> None:
    large = [1] * large_json.LARGE_BYTES
    assert client().post("/sum", json={"items": large}).json() == len(large)
    assert client().post("/sum", json={"items": [1, 2]}).json() == 3


def test_a_fault_in_a_large_body_is_refused_with_its_place() -> None:
    answer = client().post("/sum", json={"items": [1] * large_json.LARGE_BYTES + ["x"]})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "items", large_json.LARGE_BYTES]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"[" * 200_000, "nested too deeply"),
        (b"{" + b" " * large_json.LARGE_BYTES, "not JSON"),
        (json.dumps([0] * (large_json.VALUES + 1)).encode(), "more than 50000 values"),
    ],
)
def test_what_is_no_json_or_too_much_of_it_is_refused(body: bytes, says: str) -> None:
    with pytest.raises(Invalid) as refused:
        client().post("/sum", content=body, headers={"content-type": "application/json"})
    assert says in refused.value.problems[0].detail
