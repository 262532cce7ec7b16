"""The live flow: what comes in, what the rules make of it, and what needs a person."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated, Final, Literal

from fastapi import Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response, StreamingResponse

from api.console.calls import Api, ApiCalls, together
from api.console.charts import lane_chart
from api.console.pages.add import url_of
from api.console.render import Renderer
from api.console.routing import Rendering, go_to, page, router
from api.demo import conversations
from api.http.log.stream import HEADERS, follow_as
from api.ingress.dependencies import Deps, Reader
from api.ingress.following import Filter
from api.ingress.route_bounds import Bounds, with_bounds
from core.types import Json

ROWS: Final = 20
"""Events of one update; of more that came meanwhile the page is given the number."""

UPDATE_SECONDS: Final = 0.5

BUCKETS: Final = 60
"""Marks of a lane."""

Span = Literal["15m", "1h", "6h", "24h", "7d"]

SPANS: Final[Mapping[Span, timedelta]] = {
    "15m": timedelta(minutes=15),
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
}
"""Time spans of the lane chart."""


@page("")
async def get_now(
    request: Request,
    api: ApiCalls,
    pages: Rendering,
    span: Span = "1h",
    added: Annotated[str, Query(max_length=300)] = "",
) -> Response:
    glance, activity, events = await together(
        api.get("/v1/now"), _activity(api, span), api.get("/v1/events", limit=ROWS)
    )
    chart = partial(lane_chart, activity)
    return pages.page(
        "now.html",
        glance=glance,
        chart=chart,
        spans=list(SPANS),
        span=span,
        events=events["items"],
        url=url_of(request),
        added=added,
    )


@page("/glance")
async def get_glance(api: ApiCalls, pages: Rendering) -> Response:
    """Show the figures again, every few seconds."""
    return pages.page("glance.html", glance=await api.get("/v1/now"))


@page("/lanes")
async def get_lanes(api: ApiCalls, pages: Rendering, span: Span = "1h") -> Response:
    """Show the lanes of another time span."""
    chart = partial(lane_chart, await _activity(api, span))
    return pages.page("lanes.html", chart=chart, spans=list(SPANS), span=span)


async def _activity(api: Api, span: Span) -> Json:
    now = datetime.now(UTC)
    since = (now - SPANS[span]).isoformat()
    activity: Json = await api.get("/v1/rules/activity", **{"from": since, "to": now.isoformat(), "buckets": BUCKETS})
    return activity


@router.get("/live")
@with_bounds(Bounds(counted="streams"))
async def get_live(request: Request, deps: Deps, caller: Reader, pages: Rendering) -> StreamingResponse:
    """Follow the log as rows of the live page."""
    followed = await follow_as(deps, caller, request, Filter())
    return StreamingResponse(_updates(followed, pages), media_type="text/event-stream", headers=HEADERS)


async def _updates(followed: AsyncIterator[list[bytes]], pages: Renderer) -> AsyncIterator[bytes]:
    """Gather what comes within half a second into one update, so that a browser keeps pace with any log."""
    rows, left = list[Json](), 0
    template = pages.templates.get_template("event_rows.html")
    t = pages.translation
    following: asyncio.Future[list[bytes]] = asyncio.ensure_future(anext(followed))
    try:
        while True:
            await asyncio.wait({following}, timeout=UPDATE_SECONDS)
            began = asyncio.get_running_loop().time()
            while following.done() and asyncio.get_running_loop().time() - began < UPDATE_SECONDS:
                events = [event for frame in following.result() if (event := _event_of(frame)) is not None]
                left += max(0, len(rows) + len(events) - ROWS)
                rows = [*reversed(events), *rows][:ROWS]
                following = asyncio.ensure_future(anext(followed))
                await asyncio.wait({following}, timeout=0)
            if rows:
                yield _message(await run_in_threadpool(template.render, events=rows, left=left, t=t))
                rows, left = [], 0
                await asyncio.sleep(UPDATE_SECONDS)
    except StopAsyncIteration:
        return
    finally:
        following.cancel()


def _event_of(frame: bytes) -> Json | None:
    for line in frame.split(b"\n"):
        if line.startswith(b"data: "):
            event = json.loads(line[6:])
            return event if "event_type" in event else None
    return None


def _message(html: str) -> bytes:
    return "".join(f"data: {line}\n" for line in html.splitlines()).encode() + b"\n"


@page("/demo", method="POST")
async def post_demo(api: ApiCalls) -> Response:
    """Publish the conversation that `imprint demo` shows; published again, it changes nothing."""
    for batch in conversations.events(conversations.shipped_conversation()):
        await api.post("/v1/events", batch)
    return go_to("/console")
