"""Calls endpoints with a small JSON body directly.

The framework's layers between admission control and an endpoint (routing, parsing, dependencies, threads, answers) took
the event loop a millisecond for each request. Only what is usual is called directly: a small, valid JSON body for an
endpoint of the table, without a query string. All else takes the framework's way, so there is one place for each
refusal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Final

from fastapi import Request, Response
from pydantic import BaseModel
from pydantic_core import from_json
from starlette.types import ASGIApp, Receive, Scope, Send

from api.ingress import bodies, content_type, error_responses
from api.ingress.dependencies import ADMITTED, Admitted, Dependencies
from api.ingress.large_json import LARGE_BYTES
from core.baton import REQUESTS

Endpoint = Callable[..., Response]
"""An endpoint whose parameters are the shared objects, the caller, and the validated body or request and raw body."""


class DirectCalls:
    """ASGI application behind admission control: calls an endpoint of the table, or passes the request on."""

    def __init__(self, app: ASGIApp, deps: Dependencies, table: Mapping[Endpoint, type[BaseModel] | None]) -> None:
        """`table`: endpoints with the model of their body; None: it reads headers and body itself."""
        self._app = app
        self._deps = deps
        self._table = table
        # Admission control lets no more in than there are connections.
        self._threads = ThreadPoolExecutor(deps.settings.database_pool, "endpoint")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint: Endpoint | None = getattr(scope.get("route"), "endpoint", None)
        if endpoint is None or endpoint not in self._table:
            await self._app(scope, receive, send)
            return
        model = self._table[endpoint]
        is_usual = bodies.announced_size(scope["headers"]) != 0 if model is None else _is_small_json(scope)
        if not is_usual or scope["query_string"]:
            await self._app(scope, receive, send)
            return
        message = await receive()  # Admission control has read the whole body.
        body = message.get("body", b"")
        arguments = (Request(scope), body) if model is None else (parsed(model, body),)
        if arguments == (None,):
            await self._app(scope, bodies.replay(body, receive), send)
            return
        admitted: Admitted = scope[ADMITTED]
        caller = admitted.caller
        work = partial(copy_context().run, _call, caller.tenant_id, endpoint, self._deps.of(caller), caller, *arguments)
        try:
            answer = await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is answered, as the framework does
            answer = error_responses.refusal(error)
        await answer(scope, receive, send)


def _call(tenant_id: str, endpoint: Endpoint, *args: object) -> Response:
    """Call an endpoint as one of several threads that compute in turn."""
    with REQUESTS.carried(tenant_id):
        return endpoint(*args)


def parsed(model: type[BaseModel], body: bytes) -> BaseModel | None:
    """Return the validated body; None: it is not JSON, or not valid."""
    try:
        return model.model_validate(from_json(body, cache_strings="none"))
    except (ValueError, RecursionError):  # A validation error is a ValueError.
        return None


def _is_small_json(scope: Scope) -> bool:
    """Return whether the headers announce a small body, in JSON or without a type."""
    length, types = b"", list[bytes]()
    for name, value in scope["headers"]:
        if name == b"content-length":
            length = value
        elif name == b"content-type":
            types.append(value)
    usual = not types or (len(types) == 1 and types[0] in _USUAL)
    return usual and length.isdigit() and int(length) < LARGE_BYTES


_USUAL: Final = frozenset({content_type.JSON, *content_type.NO_TYPE})
