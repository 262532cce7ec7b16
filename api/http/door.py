"""What every endpoint shares: who is asking, what may be asked, and how a refusal looks (RFC 9457)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Annotated, Any, Final, Self

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
from api.http.settling import Settling
from core import errors, metrics, tenants
from core import log as logs
from core.bell import Bell
from core.change import Author
from core.config import Settings
from core.db import Database
from core.embed import CachedEmbedder
from core.intake import PROBLEMS
from core.limits import LimitReached, QuotaReached
from core.recent import Recent
from core.retrievers import Retriever
from core.settle_tokens import SettleTokens
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
    errors.HeadersTooLarge: 431,
    errors.TooSlow: 408,
    errors.Overloaded: 429,
    errors.Later: 503,
    errors.Never: 502,
    errors.Misconfigured: 500,
}

ANSWER: Final = TypeAdapter(Json)
"""How an endpoint's answer looks in JSON."""

KEY_SECONDS = 5.0
"""How long a key that was found valid is not looked up again, nor the limits of its tenant.

A revoked key is refused after this time, and a changed limit holds.
"""

STRANGERS: Final = 2
"""Keys that are not known yet, looked up at the same time."""


@dataclass(slots=True)
class Readiness:
    """What `/readyz` found last, and when; one request looks at a time."""

    missing: Sequence[str] = ()
    looked_at: float = float("-inf")
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class Door:
    """What the endpoints work with; one a process, at `app.state.door`."""

    settings: Settings
    db: Database
    embedder: CachedEmbedder
    bell: Bell
    recalls: Recalls
    recent: Recent
    settle_tokens: SettleTokens
    keys: dict[str, tuple[float, Caller]]
    backlogs: dict[str, tuple[float, int]]
    settling: Settling
    hits: Hits = field(default_factory=Hits)
    retrievers: Mapping[str, Retriever] = field(default_factory=dict)
    readiness: Readiness = field(default_factory=Readiness)
    strangers: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(STRANGERS))

    def of(self, tenant_id: str) -> Self:
        """The same for the requests of one tenant: its vectors are cached apart from those of others."""
        return replace(self, embedder=self.embedder.of(tenant_id))


async def door(request: Request) -> Door:
    """What the endpoints work with, for the tenant that asks. Async: for what never waits, a thread costs more."""
    found: Door = request.app.state.door
    admitted: Admitted | None = request.scope.get(ADMITTED)
    return found if admitted is None else found.of(admitted.who.tenant_id)


ADMITTED: Final = "imprint.admitted"
"""Where a request carries whom the gate let in."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """Whom the gate let in, and the scope that it found their key to have (None: any key would do)."""

    who: Caller
    scope: str | None


@dataclass(frozen=True, slots=True)
class Needs:
    """A dependency: the caller, whose key the gate has found to have this scope. It is what the gate goes by."""

    scope: str | None

    async def __call__(self, request: Request) -> Caller:
        admitted: Admitted = request.scope[ADMITTED]
        if admitted.scope != self.scope:
            raise RuntimeError(f"The gate has looked for {admitted.scope!r}, and the endpoint needs {self.scope!r}.")
        return admitted.who


caller: Final = Needs(None)
"""The caller, whatever their key may do."""


def scope(name: str) -> Needs:
    """A dependency: the caller, if their key has the scope. The gate refuses all others before it reads their body."""
    return Needs(name)


async def identify(at: Door, authorization: str) -> Caller:
    """Return who holds the key in `Authorization: Bearer`; Unauthorized if nobody."""
    word, _, key = authorization.partition(" ")
    if word.lower() != "bearer" or not key:
        raise errors.Unauthorized
    known = at.keys.get(key)
    if known is None:
        # Made-up keys wait for each other and not for a thread, so that those who are known find one.
        async with at.strangers:
            known = await _looked_up(at, key)
    elif time.monotonic() - known[0] > KEY_SECONDS:
        known = await _looked_up(at, key)
    return known[1]


async def _looked_up(at: Door, key: str) -> tuple[float, Caller]:
    # As of when it was looked up, not of when the answer came: a revoked key is refused after KEY_SECONDS.
    began = time.monotonic()
    try:
        who = await run_in_threadpool(tenants.caller, at.db, key, at.settings.tenant_limits)
    except errors.Unauthorized:
        at.keys.pop(key, None)
        raise
    at.keys[key] = began, who
    return began, who


def require_scope(who: Caller, name: str | None) -> None:
    """Refuse a key without the scope; None: any will do. Forbidden."""
    if name is not None and not who.may(name):
        raise errors.Forbidden(
            f"This key lacks the scope `{name}`. Create one with `imprint keys create --scopes {name}`."
        )


async def body(request: Request) -> bytes:
    """The request's body as it came; the gate has read it, within the bound of the route."""
    return await request.body()


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


def problem(
    status: int, title: str, detail: str, faults: list[errors.Problem] | None = None, limit: Json | None = None
) -> Response:
    """An `application/problem+json` answer; `limit` names the one of the tenant that was reached, with its value."""
    content: dict[str, Any] = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    if faults is not None:
        content["errors"] = [{"pointer": fault.pointer, "detail": fault.detail} for fault in faults]
    if limit is not None:
        content["limit"] = limit
    # Escaped to ASCII: a pointer may repeat half a surrogate pair that a client has sent.
    return Response(json.dumps(content), status, media_type="application/problem+json")


def install(app: FastAPI) -> None:
    """Give the application its answers to errors, and its measuring of every request."""
    for kind, answer in _ANSWERS.items():
        app.add_exception_handler(kind, _handler(answer))
    app.add_middleware(Outermost)


def refusal(error: Exception) -> Response:
    """The answer to an error, wherever it was raised."""
    return next(_ANSWERS[kind] for kind in type(error).__mro__ if kind in _ANSWERS)(error)


def _handler(answer: Callable[[Any], Response]) -> Callable[[Request, Exception], Response]:
    return lambda _request, error: answer(error)


def _on_ours(error: errors.ImprintError) -> Response:
    status = next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
    faults = error.problems if isinstance(error, errors.Invalid) else None
    answer = problem(status, error.kind, error.detail, faults, limit=_limit(error))
    if isinstance(error, errors.Overloaded):
        answer.headers["Retry-After"] = str(error.retry_after_s)
    if isinstance(error, errors.Later):
        answer.headers["Retry-After"] = str(ceil(error.after.total_seconds()) if error.after else 1)
    if isinstance(error, errors.Unauthorized):
        answer.headers["WWW-Authenticate"] = "Bearer"
    return answer


def _limit(error: errors.ImprintError) -> Json | None:
    return {"name": error.name, "value": error.value} if isinstance(error, LimitReached | QuotaReached) else None


def _on_shape(error: RequestValidationError) -> Response:
    told = error.errors()[:PROBLEMS]
    faults = [errors.Problem("/" + "/".join(str(p) for p in e["loc"][1:]), e["msg"]) for e in told]
    return problem(422, "Invalid", "; ".join(f"{f.pointer}: {f.detail}" for f in faults), faults)


def _on_http(error: HTTPException) -> Response:
    answer = problem(error.status_code, str(error.detail), "See /docs for what there is.")
    answer.headers.update(error.headers or {})
    return answer


def _on_database(error: Exception) -> Response:
    log.error("http.database", error=str(error).splitlines()[0])
    answer = problem(503, "Unavailable", "The database could not carry this out now. Nothing was accepted; send again.")
    answer.headers["Retry-After"] = "1"
    return answer


def _on_value(error: Exception) -> Response:
    log.warning("http.value", **logs.fault(error))
    return problem(422, "Invalid", "A value holds the character U+0000 or is out of range. Nothing was changed.", [])


def _on_surprise(error: Exception) -> Response:
    log.error("http.surprise", exc_info=error)
    answer = problem(500, "Internal error", "Something unexpected went wrong; the log of the server says what.")
    # It is answered outside of every other layer.
    answer.raw_headers[:] = protected(answer.raw_headers)
    return answer


_ANSWERS: Final[Mapping[type[Exception], Callable[[Any], Response]]] = {
    errors.ImprintError: _on_ours,
    RequestValidationError: _on_shape,
    HTTPException: _on_http,
    OperationalError: _on_database,
    PoolTimeout: _on_database,
    DataError: _on_value,
    Exception: _on_surprise,
}
"""What is answered to which error; the most special kind decides."""


PROTECTIVE: Final[Sequence[tuple[bytes, bytes]]] = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
)
"""Headers of every answer that does not set them itself."""


class Outermost:
    """Times every request from its first byte to its last, and adds `PROTECTIVE` to each answer; plain ASGI."""

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
                message["headers"] = protected(message.get("headers", ()))
            await send(message)

        try:
            await self._app(scope, receive, note)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            metrics.HTTP.labels(scope["method"], route, status).observe(time.perf_counter() - began)


def protected(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers, and those of PROTECTIVE that they lack."""
    given = list(headers)
    names = {name for name, _ in given}
    return given + [one for one in PROTECTIVE if one[0] not in names]
