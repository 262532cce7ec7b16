"""The live flow: what comes in, what the rules make of it, and what needs a person."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, Final

from fastapi import Request
from fastapi.responses import Response, StreamingResponse

from api.console.calls import ApiCalls, together
from api.console.render import Renderer, language_of, translate
from api.console.routing import Rendering, page, router
from api.http.stream import HEADERS, follow_as
from api.ingress.dependencies import Deps, Reader
from api.ingress.following import Filter
from api.ingress.route_bounds import Bounds, with_bounds
from core.types import Json

ROWS: Final = 20
"""Events of one update; of more that came meanwhile the page is given the number."""

UPDATE_SECONDS: Final = 0.5


@page("")
async def get_now(request: Request, api: ApiCalls, pages: Rendering) -> Response:
    stats, events, dead, held = await together(
        api.get("/v1/stats"),
        api.get("/v1/events", limit=ROWS),
        api.get("/v1/dispatches", status="dead", limit=10),
        api.get("/v1/dispatches", hold="approval", status="held", limit=10),
    )
    return pages.page(
        request,
        "now.html",
        stats=stats,
        rules=_by_rule(stats["decisions"]),
        open=_waiting(stats["dispatches"]),
        events=events["items"],
        dead=dead["items"],
        held=held["items"],
    )


@router.get("/live")
@with_bounds(Bounds(counted="streams"))
async def get_live(request: Request, deps: Deps, caller: Reader, pages: Rendering) -> StreamingResponse:
    """Follow the log as rows of the live page."""
    frames = await follow_as(deps, caller, request, Filter())
    return StreamingResponse(_updates(frames, pages, request), media_type="text/event-stream", headers=HEADERS)


async def _updates(frames: AsyncIterator[bytes], pages: Renderer, request: Request) -> AsyncIterator[bytes]:
    """Gather what comes within half a second into one update, so that a browser keeps pace with any log."""
    rows, left = list[Json](), 0
    template = pages.templates.get_template("event_rows.html")
    t = partial(translate, pages.catalogues[language_of(request)])
    following: asyncio.Future[bytes] = asyncio.ensure_future(anext(frames))
    try:
        while True:
            await asyncio.wait({following}, timeout=UPDATE_SECONDS)
            began = asyncio.get_running_loop().time()
            while following.done() and asyncio.get_running_loop().time() - began < UPDATE_SECONDS:
                event = _event_of(following.result())
                if event is not None:
                    left += len(rows) == ROWS
                    rows = [event, *rows][:ROWS]
                following = asyncio.ensure_future(anext(frames))
                await asyncio.wait({following}, timeout=0)
            if rows:
                yield _message(template.render(events=rows, left=left, t=t))
                rows, left = [], 0
                await asyncio.sleep(UPDATE_SECONDS)
    except StopAsyncIteration:
        return
    finally:
        following.cancel()


def _event_of(frame: bytes) -> Json | None:
    for line in frame.split(b"\n"):
        if line.startswith(b"data: "):
            found = json.loads(line[6:])
            return found if "event_type" in found else None
    return None


def _message(html: str) -> bytes:
    return "".join(f"data: {line}\n" for line in html.splitlines()).encode() + b"\n"


def _by_rule(decisions: list[Json]) -> list[dict[str, Any]]:
    """Return counts of verdicts by rule, the busiest first."""
    found: dict[str, dict[str, Any]] = {}
    for one in decisions:
        entry = found.setdefault(one["rule"], {"rule": one["rule"], "total": 0, "verdicts": {}})
        entry["verdicts"][one["verdict"]] = one["count"]
        entry["total"] += one["count"]
    return sorted(found.values(), key=lambda entry: -entry["total"])


def _waiting(dispatches: list[Json]) -> dict[str, int]:
    """Return the number of dispatches by status."""
    found: dict[str, int] = {}
    for one in dispatches:
        found[one["status"]] = found.get(one["status"], 0) + one["count"]
    return found
