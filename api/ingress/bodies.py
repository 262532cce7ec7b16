"""Base model of request bodies; reading a body within limits, and refusing a request with an unread body."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

from fastapi import Response
from pydantic import BaseModel, ConfigDict
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from core.errors import TooLarge, TooSlow

SLOWEST: Final = 64 * 1024
"""Minimum bytes per second of a body that takes longer than the deadline."""

DRAINED_BYTES: Final = 1024 * 1024
DRAINED_SECONDS: Final = 2.0
"""Seconds for which the body of a refused request is read and discarded before the connection is closed.

A connection that is closed with unread bytes is reset, and many clients then lose the answer.
"""

Headers = Iterable[tuple[bytes, bytes]]


class RequestBody(BaseModel):
    """Base of request bodies: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


def announced_size(headers: Headers) -> int | None:
    """Return the size of the body by its headers, in bytes: 0 without a body, None if it comes in chunks."""
    size: int | None = 0
    for name, value in headers:
        if name == b"transfer-encoding":
            return None
        if name == b"content-length":
            size = int(value) if value.isdigit() else None
    return size


async def read(receive: Receive, most: int, seconds: float, hold: Callable[[int], None]) -> bytes:
    """Return the body; `hold` is called with the number of bytes of each part.

    Raises:
        TooLarge: it has more than `most` bytes; TooSlow: it took longer than `seconds`, and than `SLOWEST` allows.
        ClientDisconnect: the client has disconnected.
    """
    parts, size = list[bytes](), 0
    began = asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout_at(began + seconds) as deadline:
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                part = message.get("body", b"")
                size += len(part)
                require(size, most)
                hold(len(part))
                parts.append(part)
                if not message.get("more_body", False):
                    return parts[0] if len(parts) == 1 else b"".join(parts)
                deadline.reschedule(began + seconds + size / SLOWEST)
    except TimeoutError:
        raise TooSlow from None


def require(size: int | None, most: int) -> None:
    """Refuse a body that is larger than its route allows. TooLarge."""
    if size is not None and size > most:
        raise TooLarge(f"A request to this route may have at most {most} bytes. Send it in parts.")


def replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that replays a body already read, and then passes on the messages of the server."""
    unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return unread.pop() if unread else await receive()

    return receive_again


async def refuse(answer: Response, scope: Scope, receive: Receive, send: Send, *, unread: bool) -> None:
    """Send an answer to a request; with an unread body the connection is closed afterwards."""
    if not unread:
        await answer(scope, receive, send)
        return
    answer.headers["Connection"] = "close"
    await send({"type": "http.response.start", "status": answer.status_code, "headers": answer.raw_headers})
    await send({"type": "http.response.body", "body": answer.body, "more_body": True})
    await _drain(receive)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _drain(receive: Receive) -> None:
    left = DRAINED_BYTES
    try:
        async with asyncio.timeout(DRAINED_SECONDS):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return
    except TimeoutError:
        return
