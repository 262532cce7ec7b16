"""Logging in and out, the language, the assets, and going straight to what was typed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import quote, urlsplit

from fastapi import Depends, Query, Request
from fastapi.responses import FileResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from api.console import logins
from api.console.calls import ApiCalls
from api.console.cookie import NAME, PATH, SECONDS, Sealer
from api.console.gate import LOGIN, OPENED
from api.console.render import HERE, LANGUAGE_COOKIE, LANGUAGES
from api.console.routing import Form, Rendering, at, go_to, page, router
from api.ingress import dependencies
from api.ingress.dependencies import Deps, any_caller
from api.ingress.route_bounds import Bounds, with_bounds
from core import errors
from core.tenancy.tenants import Caller

LOGIN_BYTES: Final = 4_096
YEAR_SECONDS: Final = 365 * 24 * 3600

_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".LICENSE": "text/plain"}
_UUID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)

Next = Annotated[str, Query(max_length=2_000)]


@router.get("/login")
@with_bounds(Bounds(public=True))
async def get_login(pages: Rendering, next: Next = PATH) -> Response:  # noqa: A002
    return pages.page("login.html", next=_inside(next), refused=None)


@router.post("/login")
@with_bounds(Bounds(public=True, public_body=LOGIN_BYTES))
async def post_login(request: Request, deps: Deps, pages: Rendering, form: Form) -> Response:
    key, target = form.get("key", "").strip(), _inside(form.get("next", PATH))
    try:
        await dependencies.identify(deps, f"Bearer {key}")
    except errors.Unauthorized:
        refused = pages.translation("login.refused")
        return pages.page("login.html", 401, next=target, refused=refused)
    sealer: Sealer = request.app.state.sealer
    answer = RedirectResponse(target, status_code=303)
    secure = request.url.scheme == "https"
    answer.set_cookie(NAME, sealer.seal(key), SECONDS, path=PATH, secure=secure, httponly=True, samesite="lax")
    return answer


@page("/logout", method="POST")
async def post_logout(request: Request, deps: Deps, caller: Annotated[Caller, Depends(any_caller)]) -> Response:
    await run_in_threadpool(logins.end, deps, caller, request.scope[OPENED])
    answer = go_to(LOGIN)
    answer.delete_cookie(NAME, path=PATH)
    return answer


@page("/language/{tag}")
async def get_language(request: Request, tag: str) -> Response:
    if tag not in LANGUAGES:
        raise HTTPException(404)
    answer = RedirectResponse(_inside(urlsplit(request.headers.get("referer", "")).path), status_code=303)
    answer.set_cookie(LANGUAGE_COOKIE, tag, YEAR_SECONDS, path=PATH, httponly=True, samesite="lax")
    return answer


@router.get("/static/{name:path}")
@with_bounds(Bounds(public=True))
async def get_static(name: str) -> Response:
    folder = HERE / "static"
    path = (folder / name).resolve()
    if not path.is_relative_to(folder) or not path.is_file() or Path(name).suffix not in _TYPES:
        raise HTTPException(404)
    headers = {"Cache-Control": f"public, max-age={YEAR_SECONDS}, immutable"}
    return FileResponse(path, headers=headers, media_type=_TYPES[Path(name).suffix])


@page("/go")
async def get_go(api: ApiCalls, q: Annotated[str, Query(max_length=300)] = "") -> Response:
    """Go to the memory, event or dispatch of an id, else search for the words."""
    text = q.strip()
    if _UUID.fullmatch(text):
        for resource, area in (("memories", "memories"), ("dispatches", "work")):
            if await api.find(at(resource, text)):
                return RedirectResponse(f"/console/{area}/{text}", status_code=303)
    if text and " " not in text and await api.find(at("events", text)):
        return RedirectResponse(f"/console/events/{quote(text, safe='')}", status_code=303)
    return RedirectResponse(f"/console/search?query={quote(text)}", status_code=303)


def _inside(path: str) -> str:
    """Return the path if it leads into the console, else the first page."""
    return path if path == PATH or (path.startswith(f"{PATH}/") and "\\" not in path) else PATH
