from __future__ import annotations

import threading
from typing import Annotated

import pytest
from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import APIRoute, iter_route_contexts
from fastapi.testclient import TestClient
from starlette.routing import Match

from api.app import ROUTES, TABLE
from api.ingress.lazy_routes import LazyRoute
from api.ingress.route_bounds import RouteTable


def a_router() -> APIRouter:
    made = APIRouter(prefix="/v1", route_class=LazyRoute)

    @made.post("/cats/{name}", status_code=201)
    def feed(name: str, portions: int, bowl: Annotated[str, Depends(lambda: "blue")]) -> dict[str, object]:
        """Feed a cat."""
        return {"name": name, "portions": portions, "bowl": bowl}

    return made


def is_described(route: object) -> bool:
    return "dependant" in vars(route)


def test_a_route_is_matched_before_it_is_described() -> None:
    (route,) = a_router().routes
    asked = {"type": "http", "method": "POST", "path": "/v1/cats/tom", "root_path": "", "headers": []}
    assert route.matches(asked)[0] is Match.FULL
    assert route.matches(asked | {"method": "GET"})[0] is Match.PARTIAL
    assert route.matches(asked | {"path": "/v1/dogs/rex"})[0] is Match.NONE
    assert not is_described(route)


def test_the_first_request_describes_it_as_fastapi_does() -> None:
    app = FastAPI(routes=a_router().routes)
    with TestClient(app) as client:
        answer = client.post("/v1/cats/tom?portions=2")
        refused = client.post("/v1/cats/tom?portions=many")
    assert (answer.status_code, answer.json()) == (201, {"name": "tom", "portions": 2, "bowl": "blue"})
    assert (refused.status_code, refused.json()["detail"][0]["loc"]) == (422, ["query", "portions"])
    (route,) = a_router().routes
    eager = FastAPI(routes=[APIRoute(route.path, route.endpoint, methods=["POST"], status_code=201)])  # type: ignore[attr-defined]
    assert app.openapi()["paths"] == eager.openapi()["paths"]


def test_what_a_route_does_not_have_it_does_not_have_later_either() -> None:
    (route,) = a_router().routes
    for _ in range(2):
        with pytest.raises(AttributeError, match="whiskers"):
            route.whiskers  # type: ignore[attr-defined]  # noqa: B018 - read for its error
    assert is_described(route)


def test_threads_that_read_a_route_at_once_see_all_of_it() -> None:
    (route,) = a_router().routes
    found: list[object] = []
    start = threading.Barrier(8)

    def read() -> None:
        start.wait()
        found.append(route.app)  # type: ignore[attr-defined]

    threads = [threading.Thread(target=read) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [route.app] * 8  # type: ignore[attr-defined]


def test_every_route_of_the_service_declares_its_access() -> None:
    contexts = list(iter_route_contexts(ROUTES))
    table = RouteTable(contexts)
    for context in contexts:
        for method in context.methods or ():
            path = (context.path or "").replace(":path", "").replace("{", "").replace("}", "")
            assert table.find(method, path).counted
    assert TABLE.find("GET", "/readyz").public
