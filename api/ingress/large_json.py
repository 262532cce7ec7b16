"""Parsing and validation of large JSON bodies in a thread, so that other requests are not blocked."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, Final

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel

from api.ingress.lazy_routes import LazyRoute
from core.errors import Invalid, Problem

LARGE_BYTES: Final = 16 * 1024
"""Bytes from which parsing costs more than a switch to a thread and back (0.1 ms)."""

OWN: Final = "/v1/"

VALUES: Final = 50_000
"""Maximum values of a body. Validation cannot be interrupted, and each fault costs a microsecond."""

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class Route(LazyRoute):
    """A route that refuses unknown query parameters of a GET of the service's own API; clients of others send more.

    A large body is parsed and validated in a thread before the endpoint's own turn.
    """

    def get_route_handler(self) -> Handler:
        handle, field = super().get_route_handler(), self.body_field
        if field is None:
            strict = "GET" in (self.methods or ()) and self.path.startswith(OWN)
            return _refusing_unknown(handle, query_names(self)) if strict else handle

        def read(raw: bytes) -> Any:
            """Return the validated value for the endpoint, which takes it as it is."""
            value, faults = field.validate(_parse(raw), {}, loc=("body",))
            if faults:
                raise RequestValidationError(faults)
            return value

        async def handler(request: Request) -> Response:
            raw = await request.body()
            if len(raw) >= LARGE_BYTES and _is_json(request.headers.get("content-type", "")):
                request._json = await run_in_threadpool(read, raw)  # noqa: SLF001 - where `Request.json` keeps it
            return await handle(request)

        return handler


def query_names(route: APIRoute) -> list[str] | None:
    """Return the names of a route's query parameters; None: a model reads them, and refuses others by itself."""
    parameters = list(_query_params(route.dependant))
    kinds = [parameter.field_info.annotation for parameter in parameters]
    if any(isinstance(kind, type) and issubclass(kind, BaseModel) for kind in kinds):
        return None
    return [parameter.alias for parameter in parameters]


def _query_params(dependant: Dependant) -> Iterator[Any]:
    yield from dependant.query_params
    for dependency in dependant.dependencies:
        yield from _query_params(dependency)


def _refusing_unknown(handle: Handler, names: Sequence[str] | None) -> Handler:
    if names is None:
        return handle
    allowed = frozenset(names)
    hint = f"there are: {', '.join(names)}" if names else "there are none here"

    async def handler(request: Request) -> Response:
        unknown = request.query_params.keys() - allowed
        if unknown:
            fault = {"type": "unknown_parameter", "msg": f"is no parameter; {hint}"}
            raise RequestValidationError([{"loc": ("query", name), **fault} for name in sorted(unknown)])
        return await handle(request)

    return handler


def _parse(raw: bytes) -> Any:
    try:
        value = json.loads(raw)
    except RecursionError:
        raise Invalid([Problem("", "nested too deeply")]) from None
    except ValueError as error:
        raise Invalid([Problem("", f"not JSON: {error}")]) from None
    _require_few(value)
    return value


def _require_few(value: Any) -> None:
    """Refuse a body of more values than VALUES, all levels together. Invalid."""
    left, waiting = VALUES, [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict | list):
            left -= len(node)
            if left < 0:
                raise Invalid([Problem("", f"has more than {VALUES} values; send it in parts")])
            waiting.extend(node.values() if isinstance(node, dict) else node)


def _is_json(content_type: str) -> bool:
    subtype = content_type.partition(";")[0].strip().lower()
    return subtype == "application/json" or (subtype.startswith("application/") and subtype.endswith("+json"))
