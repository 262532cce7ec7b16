"""Scope and size limits of each route, known before a byte of the body is read.

A route declares its scope once, by the dependency that provides the caller; `with_bounds` declares deviations from
the defaults. The table is generated from the routes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, TypeVar

from fastapi.dependencies.models import Dependant
from fastapi.routing import RouteContext
from starlette.exceptions import HTTPException

from api.ingress.dependencies import Needs
from core.config import Settings
from core.errors import Misconfigured

BODY_BYTES: Final = 1024 * 1024
"""Default body limit: a hundred times a usual statement, question or rule."""

PREFIX: Final = 2
"""Segments of a path by which routes are looked up: all routes of one resource share them."""

Counted = Literal["requests", "settles", "streams", "backtests", "imports", "pages"]
"""The limit of a tenant that a request counts towards; the requests of a page count besides."""

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of a route: the size of a body, the limit its requests count towards, and whether it needs no key.

    `public_body`: bytes of a body that a route without a key takes. `costly`: its requests take seconds of the
    processor, so that beside other tenants one is worked on at a time.
    """

    body: Callable[[Settings], int] = lambda _settings: BODY_BYTES
    counted: Counted = "requests"
    public: bool = False
    public_body: int = 0
    costly: bool = False


DEFAULT: Final = Bounds()


def with_bounds(bounds: Bounds) -> Callable[[Endpoint], Endpoint]:
    """Declare the bounds of an endpoint that differ from the default; goes below the decorator of the route."""

    def declare(endpoint: Endpoint) -> Endpoint:
        endpoint.bounds = bounds  # type: ignore[attr-defined]
        return endpoint

    return declare


@dataclass(frozen=True, slots=True)
class RouteAccess:
    """Access to a route: the scope (None: any key), the maximum size of a body by the settings, and its limits."""

    route: Any
    scope: str | None
    body_bytes: Callable[[Settings], int]
    counted: Counted
    public: bool
    costly: bool = False


class _RouteEntry:
    """A route of the table. Its access is found with the first request, which describes the route."""

    def __init__(self, route: RouteContext) -> None:
        self._route = route
        self.path: re.Pattern[str] = route.path_regex
        self.methods = frozenset(route.methods or ())

    @cached_property
    def access(self) -> RouteAccess:
        return _access(self._route)


class RouteTable:
    """Routes by the literal beginning of their paths, in the order in which the application tries them."""

    def __init__(self, routes: Iterable[RouteContext]) -> None:
        self._entries: dict[tuple[str, ...], list[_RouteEntry]] = defaultdict(list)
        for route in routes:
            self._entries[_literal(route.path or "")].append(_RouteEntry(route))

    def find(self, method: str, path: str) -> RouteAccess:
        """Return the access rules of a request's route. HTTPException: 404, or 405 with the allowed methods.

        Misconfigured: the route has no scope and is not declared public.
        """
        segments, allowed = tuple(path[1:].split("/", PREFIX)[:PREFIX]), set[str]()
        for length in range(len(segments), -1, -1):
            for entry in self._entries.get(segments[:length], ()):
                if entry.path.match(path):
                    if method in entry.methods:
                        return entry.access
                    allowed |= entry.methods
        if allowed:
            raise HTTPException(405, headers={"Allow": ", ".join(sorted(allowed))})
        raise HTTPException(404)


def scope_of(route: RouteContext) -> str:
    """Return the scope of a route in words."""
    dependant: Dependant | None = getattr(route, "dependant", None)
    needed = {need.scope for need in _needs(dependant)} if dependant else set()
    return ", ".join(sorted("any key" if scope is None else scope for scope in needed)) or "no key"


def _literal(path: str) -> tuple[str, ...]:
    """Return the first segments of a path up to the first parameter."""
    segments = []
    for segment in path[1:].split("/")[:PREFIX]:
        if "{" in segment:
            break
        segments.append(segment)
    return tuple(segments)


def _access(route: RouteContext) -> RouteAccess:
    bounds: Bounds = getattr(route.endpoint, "bounds", DEFAULT)
    dependant: Dependant | None = getattr(route, "dependant", None)
    needed = {need.scope for need in _needs(dependant)} if dependant else set()
    if len(needed) != (0 if bounds.public else 1):
        raise Misconfigured(
            f"The route {route.path} must depend on exactly one scope (api.ingress.dependencies.Needs) or be public; "
            f"it depends on {sorted(map(str, needed))}."
        )
    scope = None if bounds.public else needed.pop()
    body = (lambda _settings: bounds.public_body) if bounds.public else bounds.body
    return RouteAccess(route.original_route, scope, body, bounds.counted, bounds.public, bounds.costly)


def _needs(dependant: Dependant) -> Iterator[Needs]:
    for dependency in dependant.dependencies:
        if isinstance(dependency.call, Needs):
            yield dependency.call
        yield from _needs(dependency)
