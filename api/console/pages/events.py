"""Events: the log, and the trace of one event."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from fastapi.responses import Response

from api.console.calls import ApiCalls, together
from api.console.routing import Rendering, Text, at, page
from core.types import Json

VERDICTS: Final = ("fired", "gathered", "held", "unreadable", "not decided yet", "no match")
"""Order of the rules of a trace: what acted, what was held back and by what, the others."""


@page("/events")
async def get_events(
    api: ApiCalls,
    pages: Rendering,
    type: Text = "",  # noqa: A002 - the parameter of the API
    session_id: Text = "",
    user_id: Text = "",
    after: Text = "",
) -> Response:
    listing = await api.get("/v1/events", type=type, session_id=session_id, user_id=user_id, after=after, limit=50)
    return pages.page("events.html", events=listing["items"], following=listing["next"])


@page("/events/{event_id:path}")
async def get_event(api: ApiCalls, pages: Rendering, event_id: str) -> Response:
    path = at("events", event_id)
    trace, chain = await together(api.get(f"{path}/trace"), api.get(f"{path}/chain"))
    return pages.page(
        "event.html",
        trace=trace,
        rules=sorted(trace["rules"], key=lambda rule: (VERDICTS.index(rule["verdict"]), rule["rule"])),
        changes=_by_dispatch(trace["changes"]),
        chain=_below(chain["followed_by"], event_id),
        truncated=chain["truncated"],
    )


def _by_dispatch(changes: Sequence[Json]) -> dict[str, list[Json]]:
    by_dispatch: defaultdict[str, list[Json]] = defaultdict(list)
    for change in changes:
        by_dispatch[change["dispatch_id"]].append(change)
    return by_dispatch


def _below(items: Sequence[Json], event_id: str) -> list[Json]:
    """Return the events that followed directly from one, each with those below it."""
    causes: defaultdict[str, list[Json]] = defaultdict(list)
    for event in items:
        causes[event["causation_id"]].append(event)
    for event in items:
        event["below"] = causes[event["id"]]
    return causes[event_id]
