"""Publishing, reading and following events."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel

from api import trace
from api.http.door import At, Body, Door, Publisher, Reader
from api.shapes import event_json
from core import events, intake, metrics
from core.db import Tx
from core.errors import Invalid, Overloaded
from core.types import Json
from rules.meaning import Meanings

router = APIRouter(prefix="/v1", tags=["events"])

BACKLOG_SECONDS = 1.0
"""How long a count of what waits for the router is believed."""

SETTLE_SECONDS = 0.05
"""How often a waiting settle looks again."""


class AcceptedEvent(BaseModel):
    id: str
    duplicate: bool


class Accepted(BaseModel):
    """What became of a batch. `settle_token` names this place in the log for `GET /v1/settle`."""

    accepted: int
    duplicates: int
    events: list[AcceptedEvent]
    settle_token: str


class Settled(BaseModel):
    settled: bool
    pending: int


@router.post("/events", status_code=202, response_model=Accepted)
def post_events(at: At, who: Publisher, request: Request, raw: Body) -> Response:
    """Accept one event, an array, NDJSON or CloudEvents 1.0; answered after the commit."""
    settings = at.settings
    try:
        batch = intake.parse(raw, request.headers, batch=settings.batch_events, event_bytes=settings.event_bytes)
    except Invalid:
        metrics.EVENTS_REFUSED.labels("http", "invalid").inc()
        raise
    with at.db.tenant(who.tenant_id) as tx:
        _refuse_if_overloaded(at, who.tenant_id, tx)
        done = events.accept(tx, who.tenant_id, batch)
    at.bell.ring()
    fresh = len(batch) - done.duplicates
    metrics.EVENTS_ACCEPTED.labels("http").inc(fresh)
    metrics.EVENTS_DUPLICATE.labels("http").inc(done.duplicates)
    answer = {
        "accepted": fresh,
        "duplicates": done.duplicates,
        "events": [{"id": i, "duplicate": d} for i, d in done.ids],
        "settle_token": events.settle_token(done.last_seq),
    }
    return JSONResponse(answer, status_code=202)  # Not through the model: it would check a thousand rows we made.


def _refuse_if_overloaded(at: Door, tenant_id: str, tx: Tx) -> None:
    """Above the backlog limit nothing is accepted; it is counted once a second, for counting is not free."""
    limit, now = at.settings.backlog_events, time.monotonic()
    counted_at, backlog = at.backlogs.get(tenant_id, (float("-inf"), 0))
    if now - counted_at > BACKLOG_SECONDS:
        backlog = events.backlog(tx, limit)
        at.backlogs[tenant_id] = now, backlog
    if backlog >= limit:
        metrics.EVENTS_REFUSED.labels("http", "overloaded").inc()
        raise Overloaded


@router.get("/events")
def get_events(
    at: At,
    who: Reader,
    type: Annotated[str | None, Query(description="A type, or a wildcard such as memory.*")] = None,  # noqa: A002
    session_id: str | None = None,
    user_id: str | None = None,
    after: Annotated[int | None, Query(description="The `next` of the page before")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> Json:
    """Events, newest first."""
    with at.db.tenant(who.tenant_id) as tx:
        found = events.find(tx, event_type=type, session_id=session_id, user_id=user_id, before=after, limit=limit)
    following = str(found[-1].seq) if len(found) == limit else None
    return {"items": [event_json(event) for event in found], "next": following}


@router.get("/events/{event_id}")
def get_event(at: At, who: Reader, event_id: str) -> Json:
    """One event."""
    with at.db.tenant(who.tenant_id) as tx:
        return event_json(events.get(tx, event_id))


@router.get("/events/{event_id}/trace")
def get_trace(at: At, who: Reader, event_id: str) -> Json:
    """What an event set off: each rule with its condition tree, dispatches, changes, and the events that followed."""
    return trace.of(at.db, who.tenant_id, event_id, Meanings(at.embedder))


@router.get("/settle")
async def get_settle(
    at: At,
    who: Reader,
    token: str,
    timeout: Annotated[float, Query(ge=0, le=60)] = 20,  # noqa: ASYNC109 - the contract's own word
    flush: bool = False,
) -> Settled:
    """Wait until everything up to the token, and all that followed from it, has ended.

    With `flush` no debounce is waited for, neither an open one nor one that opens on the way.
    """
    # Async, for this one waits: forty waiting callers would otherwise hold every thread that there is.
    seq, end = events.settle_seq(token), time.monotonic() + timeout
    while True:
        if flush:
            await run_in_threadpool(_flush, at, who.tenant_id, seq)
        pending = await run_in_threadpool(_pending, at, who.tenant_id, seq)
        if pending == 0 or time.monotonic() >= end:
            return Settled(settled=pending == 0, pending=pending)
        await asyncio.sleep(SETTLE_SECONDS)


def _flush(at: Door, tenant_id: str, seq: int) -> None:
    with at.db.tenant(tenant_id) as tx:
        flushed = events.flush(tx, seq)
    if flushed:
        at.bell.ring()


def _pending(at: Door, tenant_id: str, seq: int) -> int:
    with at.db.tenant(tenant_id) as tx:
        return events.pending(tx, seq)
