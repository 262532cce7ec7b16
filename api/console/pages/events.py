"""Events: the log, and the trace of one event."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import Response

from api.console.calls import ApiCalls
from api.console.routing import Rendering, at, page
from core.types import Json

Text = Annotated[str, Query(max_length=300)]


@page("/events")
async def get_events(
    request: Request,
    api: ApiCalls,
    pages: Rendering,
    type: Text = "",  # noqa: A002 - the parameter of the API
    session_id: Text = "",
    user_id: Text = "",
    after: Text = "",
) -> Response:
    found = await api.get("/v1/events", type=type, session_id=session_id, user_id=user_id, after=after, limit=50)
    return pages.page(request, "events.html", events=found["items"], following=found["next"])


@page("/events/{event_id:path}")
async def get_event(request: Request, api: ApiCalls, pages: Rendering, event_id: str) -> Response:
    trace = await api.get(f"{at('events', event_id)}/trace")
    changes: dict[str, list[Json]] = {one["id"]: [] for one in trace["dispatches"]}
    for change in trace["changes"]:
        changes.setdefault(change["dispatch_id"], []).append(change)
    return pages.page(request, "event.html", trace=trace, changes=changes)
