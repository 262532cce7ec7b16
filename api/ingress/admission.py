"""Admission control before every route: key, scope and limits, before a byte of the body is stored."""

from __future__ import annotations

import asyncio
from typing import Final

import structlog
from fastapi import FastAPI
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.ingress import audience, bodies, dependencies, error_responses, shared_counts
from api.ingress.bodies import Headers
from api.ingress.dependencies import ADMITTED, Admitted, Dependencies
from api.ingress.fair_share import LARGE_BYTES, FairTurns, LargeBodies
from api.ingress.in_flight import InFlight
from api.ingress.route_bounds import RouteAccess, RouteTable
from api.ingress.shared_counts import ProcessCounts
from core.errors import HeadersTooLarge, TooLarge
from core.tenancy.tenants import Caller

HEADERS: Final = 100
WAITING: Final = frozenset({"settles", "streams", "pages"})
"""Limits whose requests wait for others' work, or for requests of their own."""

HEADER_BYTES: Final = 32 * 1024
"""Maximum bytes of all headers of a request, names and values."""


class AdmissionControl:
    """Admission control as plain ASGI, because every request passes it.

    In this order: size of the headers, route, key, scope, limits of the tenant, size of the body, a turn to work.
    A refused request is answered here and never reaches the application.
    """

    def __init__(
        self, app: ASGIApp, deps: Dependencies, table: RouteTable, counts: ProcessCounts | None = None
    ) -> None:
        self._app = app
        self._deps = deps
        self._table = table
        self._counts = counts or shared_counts.alone()
        self._in_flight = InFlight(counts)
        self._turns = FairTurns(deps.settings.database_pool, self._counts.has_company)
        self._large = LargeBodies(self._counts.has_company)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        size = bodies.announced_size(scope["headers"])
        unread, admission = size != 0, _Admission(self._in_flight, self._counts, self._turns, self._large)
        try:
            access, caller = await self._admit(scope, size)
            most = access.body_bytes(self._deps.settings)
            bodies.require(size, most)
            if caller is not None:
                admission.enter(caller, access)
            if unread:
                seconds = self._deps.settings.http_body_seconds
                body = await bodies.read(receive, most, seconds, admission.hold)
                receive, unread = bodies.replay(body, receive), False
            await admission.wait()
        except ClientDisconnect:
            admission.end()
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is answered, as what an endpoint raises is
            admission.end()
            await bodies.refuse(error_responses.refusal(error), scope, receive, send, unread=unread)
        except BaseException:
            admission.end()
            raise
        else:
            try:
                await self._app(scope, receive, admission.watch(send))
            finally:
                admission.end()

    async def _admit(self, scope: Scope, size: int | None) -> tuple[RouteAccess, Caller | None]:
        """Return the access rules of the route, and the caller if they satisfy them; None: the route is public."""
        _require_short(scope["headers"])
        access = self._table.find(scope["method"], scope["path"])
        scope["route"] = access.route
        if access.public:
            if size != 0 and not access.body_bytes(self._deps.settings):
                raise TooLarge("This route takes no body.")
            return access, None
        sent = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"authorization"), "")
        caller = await dependencies.identify(self._deps, sent)
        structlog.contextvars.bind_contextvars(tenant=caller.tenant_id)
        dependencies.require_scope(caller, access.scope)
        audience.require_route(caller, scope["method"], access.route.path)
        scope[ADMITTED] = Admitted(caller, access.scope)
        return access, caller


class _Admission:
    """The share of a tenant's limits and of the process's turns that a request holds, released once."""

    __slots__ = ("_access", "_began", "_caller", "_counts", "_held", "_in_flight", "_large", "_line", "_turn", "_turns")

    def __init__(self, in_flight: InFlight, counts: ProcessCounts, turns: FairTurns, large: LargeBodies) -> None:
        self._in_flight, self._counts, self._turns, self._large = in_flight, counts, turns, large
        self._line: asyncio.Lock | None = None
        self._began = 0.0
        self._caller: Caller | None = None
        self._access: RouteAccess | None = None
        self._held, self._turn = 0, False

    def enter(self, caller: Caller, access: RouteAccess) -> None:
        self._in_flight.enter(caller, access.counted)
        self._caller, self._access = caller, access

    def hold(self, size: int) -> None:
        if self._caller is not None:
            self._in_flight.hold(self._caller, size)
            self._held += size

    async def wait(self) -> None:
        """Wait for a turn. What only waits for others needs none: it holds nothing."""
        if self._caller is not None and self._access is not None and self._access.counted not in WAITING:
            self._counts.see(self._caller.tenant_id)
            if kind := self._kind(self._caller.tenant_id, self._access):
                self._line = await self._large.take(self._caller.tenant_id, kind)
                self._began = asyncio.get_running_loop().time()
            await self._turns.take(self._caller.tenant_id)
            self._turn = True

    def _kind(self, tenant_id: str, access: RouteAccess) -> str:
        """Return with which requests of the tenant this one takes turns; empty: with none."""
        if self._held >= LARGE_BYTES:
            return access.counted
        return "costly" if access.costly and self._counts.has_company(tenant_id) else ""

    def watch(self, send: Send) -> Send:
        """Return a `send` that ends the turn with the first byte of the answer: a slow reader holds no thread."""
        if not self._turn:
            return send

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._end_turn()
            await send(message)

        return send_on

    def end(self) -> None:
        self._end_turn()
        if self._caller is not None and self._access is not None:
            self._in_flight.drop(self._caller, self._held)
            self._in_flight.leave(self._caller, self._access.counted)
            self._caller = None

    def _end_turn(self) -> None:
        if self._line is not None and self._caller is not None:
            took = asyncio.get_running_loop().time() - self._began
            self._large.give_back(self._caller.tenant_id, self._line, took)
            self._line = None
        if self._turn and self._caller is not None:
            self._turn = False
            self._turns.give_back(self._caller.tenant_id)


def _require_short(headers: Headers) -> None:
    count = size = 0
    for name, value in headers:
        count += 1
        size += len(name) + len(value)
    if count > HEADERS or size > HEADER_BYTES:
        raise HeadersTooLarge(
            f"A request may have at most {HEADERS} headers with a total of {HEADER_BYTES} bytes. Send fewer."
        )


def install(app: FastAPI, deps: Dependencies, table: RouteTable, counts: ProcessCounts | None) -> None:
    """Install admission control before the application, inside the response timer."""
    app.add_middleware(AdmissionControl, deps=deps, table=table, counts=counts)
    error_responses.install(app)
