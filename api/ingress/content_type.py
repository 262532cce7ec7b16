"""A body without an explicit content type is JSON on every route, because `curl -d` sends such bodies."""

from __future__ import annotations

from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

JSON: Final = b"application/json"

NO_TYPE: Final = frozenset({b"", b"application/x-www-form-urlencoded"})
"""Content type that clients send by default. No route of the API takes a form; the console does."""

_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})

FORMS: Final = "/console/"


def with_json_type(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers of a request, with `application/json` if the content type is missing or that of a form."""
    given = [value for name, value in headers if name.lower() == b"content-type"]
    if any(value.partition(b";")[0].strip().lower() not in NO_TYPE for value in given):
        return headers
    return [*(header for header in headers if header[0].lower() != b"content-type"), (b"content-type", JSON)]


class JsonByDefault:
    """ASGI middleware that treats untyped bodies as JSON; without it, routes would treat them differently."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] in _WITH_BODY and not scope["path"].startswith(FORMS):
            scope = {**scope, "headers": with_json_type(list(scope["headers"]))}
        await self._app(scope, receive, send)
