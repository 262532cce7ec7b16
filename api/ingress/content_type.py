"""A body without a content type of its own is JSON, on every route: it is what `curl -d` sends."""

from __future__ import annotations

from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

JSON: Final = b"application/json"

_NO_TYPE: Final = frozenset({b"", b"application/x-www-form-urlencoded"})
"""Content type that clients send by default. No route takes a form."""


def with_json_type(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers of a request, with `application/json` where they give its body no type, or that of a form."""
    given = [value for name, value in headers if name.lower() == b"content-type"]
    if any(value.partition(b";")[0].strip().lower() not in _NO_TYPE for value in given):
        return headers
    return [*(header for header in headers if header[0].lower() != b"content-type"), (b"content-type", JSON)]


class JsonByDefault:
    """ASGI middleware that reads untyped bodies as JSON; without it, routes differ in what they make of them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] in {"POST", "PUT", "PATCH"}:
            scope = {**scope, "headers": with_json_type(list(scope["headers"]))}
        await self._app(scope, receive, send)
