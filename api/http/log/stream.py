"""The live feed of the log, as server-sent events."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse

from api.ingress import dependencies
from api.ingress.dependencies import Dependencies, Deps, Reader
from api.ingress.following import Filter
from api.ingress.large_json import Route
from api.ingress.route_bounds import Bounds, with_bounds
from core.errors import ImprintError, Invalid, Problem
from core.events import feed, type_patterns
from core.events.feed import Position
from core.tenancy.tenants import Caller

router = APIRouter(prefix="/v1", tags=["events"], route_class=Route)

PATTERNS: Final = 50
"""Types that one follower may name."""

_FRAME: Final = {name: {"type": "string"} for name in ("id", "event", "data")}
"""Fields of each event; before OpenAPI 3.2 the schema of a stream describes one of them."""

SSE: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "Events as they come: `id` is a position, `event` the type, `data` the event as JSON.",
        "content": {"text/event-stream": {"schema": {"type": "object", "properties": _FRAME}}},
    }
}

AFTER: Final = "An `id` of the stream, to follow from there; 0: from the beginning of the log; default: from now on"

HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""A proxy in between must not wait for the end."""


@router.get("/stream", response_class=StreamingResponse, responses=SSE, operation_id="streamEvents")
@with_bounds(Bounds(counted="streams"))
async def get_stream(
    deps: Deps,
    caller: Reader,
    request: Request,
    types: Annotated[str, Query(max_length=2_000, description="Types, separated by commas; `memory.*` is one")] = "",
    session_id: str | None = None,
    user_id: str | None = None,
    after: Annotated[str | None, Query(description=AFTER)] = None,
    last_event_id: Annotated[str | None, Header(description="As `after`, which it overrides")] = None,
    follow: Annotated[bool, Query(description="Whether to wait for more at the end of the log")] = True,
) -> StreamingResponse:
    """Follow the log: every event once, in order, from any position on.

    After an interruption the header `Last-Event-ID` resumes without loss or repetition. Where events behind it have
    left by the tenant's retention, the first frame is `stream.gap` and says up to where.
    """
    cursor = last_event_id or after
    position = feed.parse(cursor, "/after") if cursor else None
    event_filter = Filter(_patterns(types), session_id, user_id)
    if follow:
        frames = await follow_as(deps, caller, request, event_filter, position)
    else:
        begin = await deps.followers.begin(caller.tenant_id, position)
        frames = deps.followers.read_stored(caller.tenant_id, begin, event_filter)
    return StreamingResponse(_joined(frames), media_type="text/event-stream", headers=HEADERS)


async def _joined(pages: AsyncIterator[list[bytes]]) -> AsyncIterator[bytes]:
    """Send a page at once: each part costs the event loop as much as a small request."""
    async for frames in pages:
        yield b"".join(frames)


async def follow_as(
    deps: Dependencies, caller: Caller, request: Request, event_filter: Filter, after: Position | None = None
) -> AsyncIterator[list[bytes]]:
    """Return the frames from a position on (None: from now on), for as long as the key of the request may read."""
    authorization = request.headers.get("authorization", "")

    async def is_allowed() -> bool:
        try:
            reader = await dependencies.identify(deps, authorization)
        except ImprintError:
            return False
        return reader.may("read") and reader.labels is None

    begin = await deps.followers.begin(caller.tenant_id, after)
    return deps.followers.follow(caller.tenant_id, begin, event_filter, is_allowed)


def _patterns(types: str) -> list[str]:
    patterns = [pattern.strip() for pattern in types.split(",") if pattern.strip()]
    if len(patterns) > PATTERNS:
        raise Invalid([Problem("/types", f"names {len(patterns)} types; name at most {PATTERNS}")])
    for pattern in patterns:
        if not re.fullmatch(r"[A-Za-z0-9_.*-]+", pattern):
            raise Invalid(
                [Problem("/types", f"{pattern!r} is no event type; use letters, digits, `_`, `-`, `.` and `*`")]
            )
        if fault := type_patterns.fault(pattern):
            raise Invalid([Problem("/types", f"`{pattern}` {fault}")])
    return patterns
