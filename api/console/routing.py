"""Declaration of the console's routes, and what their endpoints depend on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import parse_qsl, quote

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from api.console.render import Renderer
from api.ingress import dependencies
from api.ingress.dependencies import any_key
from api.ingress.lazy_routes import LazyRoute
from api.ingress.route_bounds import Bounds, with_bounds
from core.tenancy.tenants import Caller

router: Final = APIRouter(prefix="/console", include_in_schema=False, route_class=LazyRoute)

PAGE: Final = Bounds(counted="pages")

FIELDS: Final = 1_000
"""Fields of a form that are read."""

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


def page(path: str, *, method: str = "GET") -> Callable[[Endpoint], Endpoint]:
    """Declare a route of the console: any key may ask; what it may see and do, the API's own routes decide."""

    def declare(endpoint: Endpoint) -> Endpoint:
        register = router.api_route(path, methods=[method], dependencies=[Depends(any_key)])
        return register(with_bounds(PAGE)(endpoint))

    return declare


async def _renderer(request: Request) -> Renderer:
    renderer: Renderer = request.app.state.renderer(request)
    return renderer


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of a form; of a repeated one the last."""
    return {name: values[-1] for name, values in (await _form_lists(request)).items()}


async def _form_lists(request: Request) -> dict[str, list[str]]:
    body = await dependencies.body(request)
    fields: dict[str, list[str]] = {}
    for name, value in parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=FIELDS):
        fields.setdefault(name, []).append(value)
    return fields


Text = Annotated[str, Query(max_length=300)]
"""A field of a query: a name, or the cursor of a page."""

Opener = Annotated[Caller, Depends(any_key)]
"""Caller whose key the login holds; its scopes decide which controls a page has, the API's routes decide the rest."""

Rendering = Annotated[Renderer, Depends(_renderer)]
Form = Annotated[dict[str, str], Depends(_form)]
FormLists = Annotated[dict[str, list[str]], Depends(_form_lists)]


def at(*segments: str) -> str:
    """Return the path of an API route; each segment is escaped."""
    return "/".join(("/v1", *(quote(segment, safe="") for segment in segments)))


def refresh() -> Response:
    """Make the browser read the page again."""
    return Response(status_code=204, headers={"HX-Refresh": "true"})


def go_to(path: str) -> Response:
    """Make the browser go to another page."""
    return Response(status_code=204, headers={"HX-Redirect": path})
