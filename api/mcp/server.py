"""`/mcp`: access control; requests are handled by the protocol library, which is imported with the first of them."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Request, Response
from starlette.types import Receive, Scope, Send

from api.ingress import bodies
from api.ingress.answers import Responses
from api.ingress.dependencies import Body, Deps, any_key
from api.ingress.large_json import Route
from api.ingress.route_bounds import Bounds, with_bounds
from api.ingress.schemas import PREFIX, body
from core import deferred
from core.errors import Forbidden
from core.tenancy.tenants import Caller

router = APIRouter(tags=["mcp"], route_class=Route)

MESSAGE_BYTES: Final = 1024 * 1024

_JSON_RPC: Final = {"application/json": {"schema": {"$ref": f"{PREFIX}JsonRpcMessage"}}}

MCP: Final[Responses] = {
    200: {"description": "The response to a request", "content": _JSON_RPC},
    202: {"description": "A notification was accepted; there is no body"},
    400: {"description": "No message of the protocol", "content": _JSON_RPC},
    406: {"description": "`Accept` does not include `application/json`", "content": _JSON_RPC},
}
"""Maximum size of a message: its JSON is parsed on the event loop. Use `POST /v1/events` for larger ones."""


class ProtocolHandler:
    """The protocol library's handler of requests. It starts with the first message: most processes never get one."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._running: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Answer messages until the end of the context."""
        self._started: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._over = asyncio.Event()
        try:
            yield
        finally:
            self._over.set()
            if self._running is not None:
                await self._running

    async def started(self) -> Any:
        """Return the library's session manager; the first call imports and starts it."""
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await asyncio.shield(self._started)

    async def _run(self) -> None:
        """Start the manager and end it in one task, as it demands."""
        try:
            create = await asyncio.to_thread(deferred.load, "api.mcp.protocol:session_manager")
            manager = create(self._version)
        except Exception as error:  # noqa: BLE001 - told to each caller
            self._started.set_exception(error)
            return
        async with manager.run():
            self._started.set_result(manager)
            await self._over.wait()


class ForwardedResponse(Response):
    """The protocol library's response to a message whose body has already been read."""

    def __init__(self, manager: Any, message: bytes) -> None:
        super().__init__()
        self._manager, self._message = manager, message

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(scope, bodies.replay(self._message, receive), send)


async def known_host(request: Request, deps: Deps) -> None:
    """Refuse requests that a web page made a browser send to a host name of its own (DNS rebinding). Forbidden.

    A server on a loopback address must be called by a loopback name or the host of `IMPRINT_URL`. A server on another
    address has a name that only its proxy knows. A web page must have been loaded from the host that it calls.
    """
    host = _name(f"//{request.headers.get('host', '')}")
    ours = host != "" and host == _name(deps.settings.url or "")
    if _is_loopback(deps.settings.http_host) and not (ours or _is_loopback(host)):
        raise Forbidden(f"This server is not known as {host!r}. Call it as 127.0.0.1, or set IMPRINT_URL to its name.")
    origin = request.headers.get("origin")
    if origin is not None and _name(origin) != host:
        raise Forbidden(f"Web pages from {origin!r} may not call this server.")


@router.post(
    "/mcp",
    dependencies=[Depends(known_host)],
    response_model=None,
    operation_id="callMcp",
    openapi_extra=body("JsonRpcMessage"),
    responses=MCP,
)
@with_bounds(Bounds(body=lambda _settings: MESSAGE_BYTES))
async def post_mcp(caller: Annotated[Caller, Depends(any_key)], request: Request, raw: Body) -> Response:
    """Handle one JSON-RPC message of the Model Context Protocol (streamable HTTP, JSON responses, no sessions)."""
    request.state.caller = caller
    handler: ProtocolHandler = request.app.state.mcp
    return ForwardedResponse(await handler.started(), raw)


def _name(url: str) -> str:
    """Return the host in a URL; empty if there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
