"""Spans of requests; only installed where traces are on."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPMethod, HTTPStatus
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core import tracing

PROBES: Final = frozenset({"/healthz", "/readyz"})
"""Paths without spans: their callers ask every few seconds, and nothing follows."""

METHODS: Final = frozenset(HTTPMethod)

OTHER_METHOD: Final = "_OTHER"
"""Name of any other method, by the semantic conventions: callers choose them freely."""

CONTEXT: Final = (tracing.PARENT.encode(), tracing.STATE.encode())


class TracedRequests:
    """ASGI application that continues the caller's trace: each request is a span, from its first byte to its last."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in PROBES:
            await self._app(scope, receive, send)
            return
        status = HTTPStatus.INTERNAL_SERVER_ERROR.value

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        method = scope["method"] if scope["method"] in METHODS else OTHER_METHOD
        attributes = {"http.request.method": method, "url.scheme": scope["scheme"]}
        with tracing.span(method, "server", _context(scope["headers"]), attributes=attributes) as span:
            try:
                await self._app(scope, receive, note)
            finally:
                route = getattr(scope.get("route"), "path", None)
                span.rename(method if route is None else f"{method} {route}")
                span.note({"http.route": route, "http.response.status_code": status})
                if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                    span.fail(str(status))


def _context(headers: Iterable[tuple[bytes, bytes]]) -> tracing.Carrier | None:
    """Return the trace context that the headers of a request name."""
    named: dict[str, str] = {}
    for header, value in headers:
        if header in CONTEXT:
            name, text = header.decode(), value.decode("latin-1")
            named[name] = f"{named[name]},{text}" if name in named else text
    return tracing.received(named)
