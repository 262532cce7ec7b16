"""Every GET route refuses a query parameter that it does not know, with its name."""

from __future__ import annotations

import re

import pytest
from fastapi.routing import APIRoute

from api import app
from tests.doors import Doors

PATHS = sorted(
    route.path
    for router in app.ROUTERS
    for route in router.routes
    if isinstance(route, APIRoute) and "GET" in route.methods and route.path.startswith("/v1/")
)
ID = "00000000-0000-7000-8000-000000000000"


def test_an_unknown_parameter_is_refused_by_its_name(door: Doors, subtests: pytest.Subtests) -> None:
    for path in PATHS:
        with subtests.test(path):
            refused = door.get(re.sub(r"\{[^}]+\}", ID, path), params={"colour": "red"})
            assert refused.status_code == 422, refused.text
            assert "/colour" in [problem["pointer"] for problem in refused.json()["errors"]]


def test_the_known_parameters_are_named(door: Doors) -> None:
    refused = door.get(f"/v1/memories/{ID}/related", params={"dept": "2"})
    [problem] = refused.json()["errors"]
    assert problem["detail"].startswith("is no parameter; there are: ")
    assert "depth" in problem["detail"]


def test_an_unknown_field_of_a_body_is_named(door: Doors) -> None:
    body = {"user_id": "ada", "messages": [{"content": "I live in Turin."}], "extracter": "rules"}
    [problem] = door.post("/v1/extraction/preview", body).json()["errors"]
    assert problem["pointer"] == "/extracter"
    assert "`extracter` is not known here" in problem["detail"]


@pytest.mark.parametrize("path", ["/healthz", "/compat/mem0/v1/ping/"])
def test_clients_of_others_may_send_more(door: Doors, path: str) -> None:
    assert door.get(path, params={"org_id": "x"}).status_code == 200
