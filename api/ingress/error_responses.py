"""Error responses (RFC 9457) and the protective headers of every response."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from typing import Any, Final

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DataError, OperationalError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core import errors, logs, metrics
from core.events.parsing import NAIVE_TIME, PROBLEMS
from core.settings.limits import LimitReached, QuotaReached
from core.types import Json

log = structlog.get_logger()

INSUFFICIENT_PRIVILEGE: Final = "42501"
"""SQLSTATE of a row that row-level security refuses."""

STATUS: dict[type[errors.ImprintError], int] = {
    errors.Invalid: 422,
    errors.Malformed: 400,
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


def problem(
    status: int, title: str, detail: str, faults: list[errors.Problem] | None = None, limit: Json | None = None
) -> Response:
    """Return an `application/problem+json` answer; `limit`: name and value of the tenant's limit that was reached."""
    content: dict[str, Any] = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    if faults is not None:
        content["errors"] = [{"pointer": fault.pointer, "detail": fault.detail} for fault in faults]
    if limit is not None:
        content["limit"] = limit
    # Escaped to ASCII: a pointer may repeat half a surrogate pair that a client has sent.
    return Response(json.dumps(content), status, media_type="application/problem+json")


def install(app: FastAPI) -> None:
    """Install error handlers and the response timer in the application."""
    for kind, answer in _ANSWERS.items():
        app.add_exception_handler(kind, _handler(answer))
    app.add_middleware(ResponseTimer)


def refusal(error: Exception) -> Response:
    """Return the response to an error, wherever it was raised."""
    return next(_ANSWERS[kind] for kind in type(error).__mro__ if kind in _ANSWERS)(error)


def _handler(answer: Callable[[Any], Response]) -> Callable[[Request, Exception], Response]:
    return lambda _request, error: answer(error)


def _on_ours(error: errors.ImprintError) -> Response:
    status = next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
    faults = error.problems if isinstance(error, errors.Invalid) else None
    limit = {"name": error.name, "value": error.value} if isinstance(error, LimitReached | QuotaReached) else None
    answer = problem(status, error.kind, error.detail, faults, limit=limit)
    if isinstance(error, errors.Overloaded):
        answer.headers["Retry-After"] = str(error.retry_after_s)
    if isinstance(error, errors.Later):
        answer.headers["Retry-After"] = str(ceil(error.after.total_seconds()) if error.after else 1)
    if isinstance(error, errors.Unauthorized):
        answer.headers["WWW-Authenticate"] = "Bearer"
    return answer


def _on_shape(error: RequestValidationError) -> Response:
    reported = error.errors()[:PROBLEMS]
    described = ((e["loc"][1:], detail_of(e)) for e in reported)
    # A parameter that two dependencies read is reported by each.
    faults = [errors.Problem("/" + "/".join(map(str, loc)), detail) for loc, detail in dict.fromkeys(described)]
    return problem(422, "Invalid", "; ".join(f"{f.pointer}: {f.detail}" for f in faults), faults)


def detail_of(fault: Mapping[str, Any]) -> str:
    """Return what is wrong, in the words of the validation, or what to do about it where those do not say."""
    if fault["type"] == "timezone_aware":
        return NAIVE_TIME
    if fault["msg"] == _EXTRA:
        return f"`{fault['loc'][-1]}` is not known here; leave it out, or see /docs for what there is"
    return str(fault["msg"]).removeprefix("Value error, ")


_EXTRA: Final = "Extra inputs are not permitted"
"""Text of pydantic for an unknown field, without its name."""


def _on_http(error: HTTPException) -> Response:
    if isinstance(error.__cause__, UnicodeDecodeError | RecursionError):  # FastAPI's 400 does not say what is wrong.
        fault = "is not UTF-8" if isinstance(error.__cause__, UnicodeDecodeError) else "is nested too deeply"
        return problem(422, "Invalid", f"The body {fault}.", [errors.Problem("", fault)])
    answer = problem(error.status_code, str(error.detail), "See /docs for what there is.")
    answer.headers.update(error.headers or {})
    return answer


def _on_database(error: Exception) -> Response:
    log.error("http.database", error=str(error).splitlines()[0])
    answer = problem(503, "Unavailable", "The database could not carry this out now. Nothing was accepted; send again.")
    answer.headers["Retry-After"] = "1"
    return answer


def _on_statement(error: ProgrammingError) -> Response:
    # A tenant that is moved to another cell can suddenly be written no more: `core.cells.freezing`.
    refused = getattr(error.orig, "sqlstate", None) == INSUFFICIENT_PRIVILEGE
    return _on_database(error) if refused else _on_surprise(error)


def _on_value(error: Exception) -> Response:
    log.warning("http.value", **logs.fault(error))
    return problem(422, "Invalid", "A value holds the character U+0000 or is out of range. Nothing was changed.", [])


def _on_surprise(error: Exception) -> Response:
    log.error("http.surprise", exc_info=error)
    answer = problem(500, "Internal error", "Something unexpected went wrong; the log of the server says what.")
    # It is answered outside of every other layer.
    answer.raw_headers[:] = with_protective_headers(answer.raw_headers)
    return answer


_ANSWERS: Final[Mapping[type[Exception], Callable[[Any], Response]]] = {
    errors.ImprintError: _on_ours,
    RequestValidationError: _on_shape,
    HTTPException: _on_http,
    OperationalError: _on_database,
    PoolTimeout: _on_database,
    DataError: _on_value,
    ProgrammingError: _on_statement,
    Exception: _on_surprise,
}
"""The answer to each kind of error; the most specific kind applies."""


PROTECTIVE: Final[Sequence[tuple[bytes, bytes]]] = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
)
"""Headers of every answer that does not set them itself."""


class ResponseTimer:
    """Times every request from its first byte to its last, and adds `PROTECTIVE` to each response; plain ASGI."""

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
                message["headers"] = with_protective_headers(message.get("headers", ()))
            await send(message)

        try:
            await self._app(scope, receive, note)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            metrics.HTTP.labels(scope["method"], route, status).observe(time.perf_counter() - began)


def with_protective_headers(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers, with those of PROTECTIVE that they lack."""
    given = list(headers)
    names = {name for name, _ in given}
    return given + [header for header in PROTECTIVE if header[0] not in names]
