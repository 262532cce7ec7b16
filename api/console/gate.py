"""ASGI middleware in front of the console: a login cookie becomes the key that admission control expects."""

from __future__ import annotations

import hmac
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import quote, urlsplit

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.console import logins
from api.console.cookie import NAME, PATH, Login, Sealer

LOGIN: Final = f"{PATH}/login"
STATIC: Final = f"{PATH}/static/"

OPENED: Final = "imprint.console"
"""Key of the request's scope under which the gate leaves a `Login`."""

SAFE: Final = frozenset({"GET", "HEAD"})

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Everything comes from this server, and nothing is written into a page as script or style."""

HEADERS: Final = (
    (b"content-security-policy", POLICY.encode()),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
)


class Gate:
    """Opens the cookie of requests below `/console`, and sends browsers without a login to its page.

    A request that changes something must come from a page of the console: it repeats the token of its login in
    `X-CSRF-Token`, which another site can neither read nor send.
    """

    def __init__(self, app: ASGIApp, sealer: Sealer) -> None:
        self._app = app
        self._sealer = sealer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] != "http" or not (path == PATH or path.startswith(f"{PATH}/")):
            await self._app(scope, receive, send)
            return
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        send = _with_headers(send)
        if path == LOGIN or path.startswith(STATIC):
            if scope["method"] not in SAFE and not _same_origin(headers):
                await _refuse(scope, receive, send)
                return
            await self._app(scope, receive, send)
            return
        login = self._login(headers)
        if login is None or await logins.has_ended(scope["app"].state.deps, login):
            await _to_login(scope, headers)(scope, receive, send)
        elif scope["method"] not in SAFE and not _repeats(headers, login):
            await _refuse(scope, receive, send)
        else:
            await self._app(_as_caller(scope, login), receive, _or_login(send, _to_login(scope, headers)))

    def _login(self, headers: dict[bytes, str]) -> Login | None:
        try:
            cookie = SimpleCookie(headers.get(b"cookie", "")).get(NAME)
        except CookieError:
            return None
        return None if cookie is None else self._sealer.open(cookie.value)


def _as_caller(scope: Scope, login: Login) -> Scope:
    others = [header for header in scope["headers"] if header[0] != b"authorization"]
    return {**scope, "headers": [*others, (b"authorization", f"Bearer {login.key}".encode())], OPENED: login}


def _same_origin(headers: dict[bytes, str]) -> bool:
    """Return whether a form was sent by a page of this host; clients that are no browser send no origin."""
    origin = headers.get(b"origin")
    return origin is None or urlsplit(origin).netloc == headers.get(b"host")


def _repeats(headers: dict[bytes, str], login: Login) -> bool:
    return _same_origin(headers) and hmac.compare_digest(headers.get(b"x-csrf-token", "").encode(), login.csrf.encode())


def _to_login(scope: Scope, headers: dict[bytes, str]) -> Response:
    """Send a browser to the login, and afterwards back; a fragment of a page makes the whole page go there."""
    query = scope.get("query_string", b"").decode("latin-1")
    here = scope["path"] + (f"?{query}" if query else "")
    target = LOGIN if scope["method"] not in SAFE else f"{LOGIN}?next={quote(here, safe='')}"
    if b"hx-request" in headers:
        return Response(status_code=204, headers={"HX-Redirect": LOGIN})
    return RedirectResponse(target, status_code=303)


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    answer = Response("This request did not come from a page of the console. Reload the page and try again.", 403)
    answer.headers["Connection"] = "close"
    await answer(scope, receive, send)


def _with_headers(send: Send) -> Send:
    names = {name for name, _ in HEADERS}

    async def send_on(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = [header for header in message.get("headers", ()) if header[0].lower() not in names]
            message = {**message, "headers": [*given, *HEADERS]}
        await send(message)

    return send_on


def _or_login(send: Send, login: Response) -> Send:
    """Return a `send` that turns a 401 into a way to the login: the key was revoked since."""
    replaced = False

    async def send_on(message: Message) -> None:
        nonlocal replaced
        if message["type"] == "http.response.start" and message["status"] == 401:  # noqa: PLR2004 - Unauthorized
            replaced = True
            await send({"type": "http.response.start", "status": login.status_code, "headers": login.raw_headers})
            await send({"type": "http.response.body", "body": b""})
        elif not replaced:
            await send(message)

    return send_on
