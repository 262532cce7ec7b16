"""The header `Imprint-Position`: what an answer has seen of the database, and what the next one is to show.

Installed only where a replica may answer: it could lack what its caller has written through the primary.
"""

from __future__ import annotations

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.storage import positions

HEADER: Final = "Imprint-Position"

_NAME: Final = HEADER.lower().encode()


class LogPositions:
    """ASGI application that collects the positions of each request, and adds the last one to its answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = next((value.decode("latin-1") for name, value in scope["headers"] if name == _NAME), None)
        with positions.of_request(sent) as request:

            async def note(message: Message) -> None:
                if message["type"] == "http.response.start" and request.reached:
                    position = positions.written(request.reached).encode()
                    message["headers"] = [*message.get("headers", ()), (_NAME, position)]
                await send(message)

            await self._app(scope, receive, note)
