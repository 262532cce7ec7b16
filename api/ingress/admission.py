"""The layer in front of every route: who asks, whether they may, and how much, before a byte of a body is kept."""

from __future__ import annotations

from typing import Final

import structlog
from fastapi import FastAPI
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.ingress import bodies, dependencies, error_responses
from api.ingress.bodies import Headers
from api.ingress.dependencies import ADMITTED, Admitted, Door
from api.ingress.fair_share import Turns
from api.ingress.in_flight import InFlight
from api.ingress.route_bounds import Access, Table
from core.errors import HeadersTooLarge, TooLarge
from core.tenancy.tenants import Caller

HEADERS: Final = 100
HEADER_BYTES: Final = 32 * 1024
"""Of all headers of a request, names and values together."""


class Gate:
    """Plain ASGI, for it lies on every path.

    In this order: size of the headers, route, key, scope, limits of the tenant, size of the body, a turn to work.
    Whatever is refused is answered here, and the application never sees it.
    """

    def __init__(self, app: ASGIApp, at: Door, table: Table) -> None:
        self._app = app
        self._at = at
        self._table = table
        self._in_flight = InFlight()
        self._turns = Turns(at.settings.database_pool)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        size = bodies.announced(scope["headers"])
        unread, visit = size != 0, _Visit(self._in_flight, self._turns)
        try:
            access, who = await self._admitted(scope, size)
            if who is not None:
                visit.enter(who, access)
                if unread:
                    seconds = self._at.settings.http_body_seconds
                    body = await bodies.read(receive, access.body_bytes, seconds, visit.hold)
                    receive, unread = bodies.again(body, receive), False
                await visit.wait()
        except ClientDisconnect:
            visit.end()
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is answered, as what an endpoint raises is
            visit.end()
            await bodies.refuse(error_responses.refusal(error), scope, receive, send, unread=unread)
        except BaseException:
            visit.end()
            raise
        else:
            try:
                await self._app(scope, receive, visit.watched(send))
            finally:
                visit.end()

    async def _admitted(self, scope: Scope, size: int | None) -> tuple[Access, Caller | None]:
        """What the route asks, and who asks, if they may; None: the route is for everybody."""
        _require_short(scope["headers"])
        access = self._table.find(scope["method"], scope["path"])
        scope["route"] = access.route
        if access.public:
            if size != 0:
                raise TooLarge("This route takes no body.")
            return access, None
        who = await dependencies.identify(self._at, _authorization(scope["headers"]))
        structlog.contextvars.bind_contextvars(tenant=who.tenant_id)
        dependencies.require_scope(who, access.scope)
        bodies.require(size, access.body_bytes)
        scope[ADMITTED] = Admitted(who, access.scope)
        return access, who


class _Visit:
    """What one request takes of its tenant's limits and of the process's turns, given back once."""

    __slots__ = ("_access", "_held", "_in_flight", "_turn", "_turns", "_who")

    def __init__(self, in_flight: InFlight, turns: Turns) -> None:
        self._in_flight, self._turns = in_flight, turns
        self._who: Caller | None = None
        self._access: Access | None = None
        self._held, self._turn = 0, False

    def enter(self, who: Caller, access: Access) -> None:
        self._in_flight.enter(who, access.counted)
        self._who, self._access = who, access

    def hold(self, size: int) -> None:
        if self._who is not None:
            self._in_flight.hold(self._who, size)
            self._held += size

    async def wait(self) -> None:
        """Wait for a turn. A settle needs none: it waits for others' work and holds nothing meanwhile."""
        if self._who is not None and self._access is not None and self._access.counted != "settles":
            await self._turns.take(self._who.tenant_id)
            self._turn = True

    def watched(self, send: Send) -> Send:
        """A `send` that ends the turn with the first byte of the answer: a slow reader holds no thread."""
        if not self._turn:
            return send

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._end_turn()
            await send(message)

        return watched

    def end(self) -> None:
        self._end_turn()
        if self._who is not None and self._access is not None:
            self._in_flight.drop(self._who, self._held)
            self._in_flight.leave(self._who, self._access.counted)
            self._who = None

    def _end_turn(self) -> None:
        if self._turn and self._who is not None:
            self._turn = False
            self._turns.give_back(self._who.tenant_id)


def _require_short(headers: Headers) -> None:
    count = size = 0
    for name, value in headers:
        count += 1
        size += len(name) + len(value)
    if count > HEADERS or size > HEADER_BYTES:
        raise HeadersTooLarge(f"A request may have {HEADERS} headers of {HEADER_BYTES} bytes together. Send fewer.")


def _authorization(headers: Headers) -> str:
    return next((value.decode("latin-1") for name, value in headers if name == b"authorization"), "")


def install(app: FastAPI, at: Door, table: Table) -> None:
    """Put the layer in front of the application, behind what measures every request."""
    app.add_middleware(Gate, at=at, table=table)
    error_responses.install(app)
