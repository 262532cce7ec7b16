"""Other spellings of an API key, for routes that speak another service's dialect: `Token`, `X-API-Key`."""

from __future__ import annotations

from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

PREFIX: Final = "/compat/"
"""Paths below which a key may be spelled so. Everywhere else only `Authorization: Bearer` is read."""

_TOKEN: Final = b"token "


def with_bearer(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers of a request, with `Authorization: Bearer` for a key in another spelling."""
    given = next((value for name, value in headers if name == b"authorization"), None)
    if given is None:
        key = next((value for name, value in headers if name == b"x-api-key"), None)
        return headers if key is None else [*headers, (b"authorization", b"Bearer " + key)]
    if given[: len(_TOKEN)].lower() != _TOKEN:
        return headers
    others = [header for header in headers if header[0] != b"authorization"]
    return [*others, (b"authorization", b"Bearer " + given[len(_TOKEN) :])]


class ForeignKeys:
    """ASGI middleware in front of admission control, which knows one spelling of a key."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(PREFIX):
            scope = {**scope, "headers": with_bearer(list(scope["headers"]))}
        await self._app(scope, receive, send)
