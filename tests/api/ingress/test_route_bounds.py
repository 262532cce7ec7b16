from __future__ import annotations

from typing import Annotated

import pytest
from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.exceptions import HTTPException

from api.ingress import dependencies, route_bounds
from api.ingress.route_bounds import BODY_BYTES, Bounds, RouteTable, with_bounds
from core.config import Settings
from core.errors import Misconfigured
from core.tenancy.tenants import Caller

Reading = Annotated[Caller, Depends(dependencies.Needs("read"))]
Writing = Annotated[Caller, Depends(dependencies.Needs("write"))]
Anyone = Annotated[Caller, Depends(dependencies.any_key)]
router = APIRouter(prefix="/v1")


def nested(caller: Writing) -> Caller:
    return caller


@router.get("/cats/{name}")
def one_cat(caller: Reading, name: str) -> None: ...


@router.put("/cats/{name}")
@with_bounds(Bounds(body=lambda settings: settings.attempts, counted="settles"))
def put_cat(caller: Annotated[Caller, Depends(nested)], name: str) -> None: ...


@router.post("/cats/all/feed")
def feed(caller: Anyone) -> None: ...


@router.get("/ready")
@with_bounds(Bounds(public=True))
def ready() -> None: ...


@router.get("/{anything}/odd")
def odd(caller: Anyone, anything: str) -> None: ...


rest = APIRouter()


@rest.get("/{page}")
@with_bounds(Bounds(public=True))
def a_page(page: str) -> None: ...


def table(*routers: APIRouter) -> RouteTable:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    for one in routers or (router,):
        app.include_router(one)
    return RouteTable(iter_route_contexts(app.routes))


@pytest.fixture
def plain() -> Settings:
    return Settings(attempts=7)


def test_a_route_asks_for_the_scope_of_its_dependency_however_deep_that_lies(plain: Settings) -> None:
    routes = table()
    assert routes.find("GET", "/v1/cats/tom").scope == "read"
    assert routes.find("PUT", "/v1/cats/tom").scope == "write"
    assert routes.find("POST", "/v1/cats/all/feed").scope is None
    assert (routes.find("GET", "/v1/ready").scope, routes.find("GET", "/v1/ready").public) == (None, True)


def test_what_a_route_declares_is_by_the_settings_and_others_have_the_default(plain: Settings) -> None:
    routes = table()
    declared, default = routes.find("PUT", "/v1/cats/tom"), routes.find("GET", "/v1/cats/tom")
    assert (declared.body_bytes(plain), declared.counted) == (7, "settles")
    assert (default.body_bytes(plain), default.counted, default.public) == (BODY_BYTES, "requests", False)


def test_a_route_that_begins_with_a_parameter_is_found_behind_the_others(plain: Settings) -> None:
    assert table(router, rest).find("GET", "/help").public
    assert table().find("GET", "/v1/dogs/odd").scope is None
    assert table().find("GET", "/v1/cats/odd").scope == "read"


@pytest.mark.parametrize(
    ("method", "path", "status", "allowed"),
    [
        ("GET", "/v1/dogs/rex", 404, None),
        ("GET", "/", 404, None),
        ("GET", "/v1/cats/tom/tail", 404, None),
        ("DELETE", "/v1/cats/tom", 405, "GET, PUT"),
        ("GET", "/v1/cats/all/feed", 405, "POST"),
    ],
)
def test_what_no_route_answers_says_so_before_a_body_is_read(
    plain: Settings, method: str, path: str, status: int, allowed: str | None
) -> None:
    with pytest.raises(HTTPException) as refused:
        table().find(method, path)
    assert refused.value.status_code == status
    assert (refused.value.headers or {}).get("Allow") == allowed


def bare() -> None: ...


def twice(one: Reading, other: Writing) -> None: ...


@with_bounds(Bounds(public=True))
def open_with_scope(caller: Reading) -> None: ...


@pytest.mark.parametrize("endpoint", [bare, twice, open_with_scope])
def test_a_route_needs_exactly_one_scope_or_to_be_public(plain: Settings, endpoint: object) -> None:
    wrong = APIRouter(routes=[APIRoute("/wrong", endpoint)])  # type: ignore[arg-type]
    with pytest.raises(Misconfigured, match="/wrong must depend on exactly one scope"):
        table(wrong).find("GET", "/wrong")


def test_the_scope_of_a_route_can_be_told_in_words() -> None:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.include_router(router)
    told = {route.path: route_bounds.scope_of(route) for route in iter_route_contexts(app.routes)}
    assert told["/v1/cats/all/feed"] == "any key"
    assert (told["/v1/ready"], told["/v1/cats/{name}"]) == ("no key", "write")
