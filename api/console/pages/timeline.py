"""The memories of a user, or group, over time."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Annotated

from fastapi import Query
from fastapi.responses import Response

from api.console.calls import ApiCalls
from api.console.pages.memories import CATEGORIES
from api.console.routing import Rendering, Text, page
from api.console.timelines import SPANS, laid_out, window


@page("/timeline")
async def get_timeline(
    api: ApiCalls,
    pages: Rendering,
    user_id: Text = "",
    group_id: Text = "",
    axis: Annotated[str, Query(pattern="^(true|known)$")] = "true",
    category: Text = "",
    span: Annotated[str, Query(max_length=20)] = "",
    until: Annotated[str, Query(pattern=r"^(\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]))?$")] = "",
    limit: Annotated[int, Query(ge=1, le=300)] = 60,
) -> Response:
    now = datetime.now(UTC)
    seen = window(span, until, now)
    timeline = None
    if user_id or group_id:
        timeline = await api.get(
            "/v1/memories/timeline",
            user_id=user_id,
            group_id=group_id,
            axis=axis,
            category=category,
            limit=limit,
            **{"from": seen.since and seen.since.isoformat(), "to": seen.until and seen.until.isoformat()},
        )
    return pages.page(
        "timeline.html",
        found=timeline,
        drawing=partial(laid_out, timeline, seen, now) if timeline and timeline["items"] else None,
        categories=CATEGORIES,
        spans=SPANS,
        span=span if span in SPANS else "",
        axis=axis,
        until=until,
        earlier=seen.moved(-0.5),
        later=seen.moved(0.5) if until else None,
    )
