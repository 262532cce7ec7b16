"""What every endpoint shares: who is asking, what may be asked, and how a refusal looks (RFC 9457)."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

import structlog
from fastapi import Depends, FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter
from sqlalchemy.exc import DataError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.hits import Hits
from api.http.recalls import Recalls
from core import errors, metrics, tenants
from core.bell import Bell
from core.change import Author
from core.config import Settings
from core.db import Database
from core.embed import Embedder
from core.intake import PROBLEMS
from core.recent import Recent
from core.retrievers import Retriever
from core.tenants import Caller
from core.types import Json

log = structlog.get_logger()

STATUS: dict[type[errors.ImprintError], int] = {
    errors.Invalid: 422,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.Unauthorized: 401,
    errors.Forbidden: 403,
    errors.TooLarge: 413,
    errors.Overloaded: 429,
    errors.Later: 503,
    errors.Never: 502,
    errors.Misconfigured: 500,
}

ANSWER: Final = TypeAdapter(Json)
"""How an endpoint's answer looks in JSON."""

KEY_SECONDS = 5.0
"""How long a key that was found valid is not looked up again; a revoked one is refused after this time."""


@dataclass(frozen=True, slots=True)
class Door:
    """What the endpoints work with; one a process, at `app.state.door`."""

    settings: Settings
    db: Database
    embedder: Embedder
    bell: Bell
    recalls: Recalls
    recent: Recent
    keys: dict[str, tuple[float, Caller]]
    backlogs: dict[str, tuple[float, int]]
    hits: Hits = field(default_factory=Hits)
    retrievers: Mapping[str, Retriever] = field(default_factory=dict)


async def door(request: Request) -> Door:
    """What the endpoints work with. Async, as is `check`: for what never waits, a thread of the pool costs more."""
    found: Door = request.app.state.door
    return found


async def caller(request: Request) -> Caller:
    """Who holds the key in `Authorization: Bearer`; Unauthorized if nobody."""
    word, _, key = request.headers.get("authorization", "").partition(" ")
    if word.lower() != "bearer" or not key:
        raise errors.Unauthorized
    at: Door = request.app.state.door
    known = at.keys.get(key)
    if known is None or time.monotonic() - known[0] > KEY_SECONDS:
        # As of when it was looked up, not of when the answer came: a revoked key is refused after KEY_SECONDS.
        known = time.monotonic(), await run_in_threadpool(tenants.caller, at.db, key)
        at.keys[key] = known
    structlog.contextvars.bind_contextvars(tenant=known[1].tenant_id)
    return known[1]


def scope(name: str) -> Callable[[Caller], Awaitable[Caller]]:
    """A dependency: the caller, if their key has the scope."""

    async def check(who: Annotated[Caller, Depends(caller)]) -> Caller:
        if not who.may(name):
            raise errors.Forbidden(
                f"This key lacks the scope `{name}`. Create one with `imprint keys create --scopes {name}`."
            )
        return who

    return check


async def body(request: Request) -> bytes:
    """The request's body as it came; reading ends where it grows too large."""
    limit, parts, size = request.app.state.door.settings.request_bytes, [], 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise errors.TooLarge
        parts.append(part)
    return b"".join(parts)


def author(who: Caller) -> Author:
    """The key's holder, as who changes something."""
    return Author(f"key:{who.key_id}")


At = Annotated[Door, Depends(door)]
Body = Annotated[bytes, Depends(body)]
Publisher = Annotated[Caller, Depends(scope("publish"))]
Reader = Annotated[Caller, Depends(scope("read"))]
Writer = Annotated[Caller, Depends(scope("write"))]
RuleEditor = Annotated[Caller, Depends(scope("rules"))]


def answered(content: Json) -> Response:
    """An answer made into JSON in the thread that made it.

    What an endpoint returns as it is goes through two more, one that checks it and the one that all requests share:
    0.08 ms of the 0.6 that a search costs beside the searching.
    """
    return Response(ANSWER.dump_json(content), media_type="application/json")


def problem(status: int, title: str, detail: str, faults: list[errors.Problem] | None = None) -> Response:
    """An `application/problem+json` answer."""
    content: dict[str, Any] = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    if faults is not None:
        content["errors"] = [{"pointer": fault.pointer, "detail": fault.detail} for fault in faults]
    # Escaped to ASCII: a pointer may repeat half a surrogate pair that a client has sent.
    return Response(json.dumps(content), status, media_type="application/problem+json")


def install(app: FastAPI) -> None:
    """Give the application its answers to errors, and its measuring of every request."""
    app.add_exception_handler(errors.ImprintError, _on_ours)
    app.add_exception_handler(RequestValidationError, _on_shape)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(OperationalError, _on_database)
    app.add_exception_handler(PoolTimeout, _on_database)
    app.add_exception_handler(DataError, _on_value)
    app.add_exception_handler(Exception, _on_surprise)
    app.add_middleware(Measured)


def _on_ours(_request: Request, error: Exception) -> Response:
    if not isinstance(error, errors.ImprintError):
        raise error
    status = next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
    faults = error.problems if isinstance(error, errors.Invalid) else None
    answer = problem(status, type(error).__name__, error.detail, faults)
    if isinstance(error, errors.Overloaded):
        answer.headers["Retry-After"] = str(error.retry_after_s)
    if isinstance(error, errors.Unauthorized):
        answer.headers["WWW-Authenticate"] = "Bearer"
    return answer


def _on_shape(_request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    told = error.errors()[:PROBLEMS]
    faults = [errors.Problem("/" + "/".join(str(p) for p in e["loc"][1:]), e["msg"]) for e in told]
    return problem(422, "Invalid", "; ".join(f"{f.pointer}: {f.detail}" for f in faults), faults)


def _on_http(_request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    answer = problem(error.status_code, str(error.detail), "See /docs for what there is.")
    answer.headers.update(error.headers or {})
    return answer


def _on_database(_request: Request, error: Exception) -> Response:
    log.error("http.database", error=str(error).splitlines()[0])
    answer = problem(503, "Unavailable", "The database could not carry this out now. Nothing was accepted; send again.")
    answer.headers["Retry-After"] = "1"
    return answer


def _on_value(_request: Request, error: Exception) -> Response:
    log.warning("http.value", error=str(error).splitlines()[0])
    return problem(422, "Invalid", "A value holds the character U+0000 or is out of range. Nothing was changed.", [])


def _on_surprise(_request: Request, error: Exception) -> Response:
    log.error("http.surprise", exc_info=error)
    return problem(500, "Internal error", "Something unexpected went wrong; the log of the server says what.")


class Measured:
    """Times every request from its first byte to its last; plain ASGI, for it lies on every path."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, note)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            metrics.HTTP.labels(scope["method"], route, status).observe(time.perf_counter() - began)
