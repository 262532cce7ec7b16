"""Publishing, reading and following events."""

from __future__ import annotations

import time
from collections.abc import Sequence
from operator import attrgetter
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from api.http.log import trace
from api.http.log.answers import (
    AcceptedBatch,
    ChainedDispatch,
    ChainedEvent,
    EventChain,
    EventPage,
    EventTrace,
    LoggedEvent,
    Settled,
)
from api.ingress import dependencies
from api.ingress import raw_access as unscreened
from api.ingress.answers import answers, shown
from api.ingress.dependencies import Body, Dependencies, Deps, Publisher, Reader, WholeDeps
from api.ingress.large_json import Route
from api.ingress.raw_access import Raw
from api.ingress.route_bounds import Bounds, with_bounds
from api.ingress.schemas import EVENTS_BODY
from api.serializers import dispatch_json, event_json, sent_to
from core import metrics
from core.errors import Invalid, Problem
from core.events import chains, log, occurrences, parsing, type_patterns
from core.events.log import EventFilter
from core.events.parsing import Incoming
from core.sessions import ingest
from core.sessions.ingest import Accepted
from core.settings.limits import LimitReached
from core.spacing import REST
from core.tenancy.tenants import Caller
from core.types import Json
from rules.engine.similarity import Meanings

router = APIRouter(prefix="/v1", tags=["events"], route_class=Route)

OnError = Literal["refuse", "skip"]

ON_ERROR = Query(
    description="`refuse`: a faulty event refuses the batch. `skip`: the others are accepted, and `errors` lists it"
)

BACKLOG_SECONDS = 1.0
"""Seconds for which a count of waiting events is cached; longer where counting them takes long."""


@router.post(
    "/events",
    status_code=202,
    response_model=None,
    openapi_extra=EVENTS_BODY,
    operation_id="publishEvents",
    responses=answers(AcceptedBatch, 202),
)
@with_bounds(Bounds(body=attrgetter("request_bytes")))
def post_events(
    deps: Deps, caller: Publisher, request: Request, raw: Body, on_error: Annotated[OnError, ON_ERROR] = "refuse"
) -> Response:
    """Accept an event, an array, NDJSON or CloudEvents 1.0; the answer follows the commit."""
    try:
        batch, problems = _batch(deps, caller, request, raw, skip=on_error == "skip")
        done = accept(deps, caller, batch)
    except Invalid:
        _note_refused(deps, caller, "invalid")
        raise
    answer: Json = {
        "accepted": len(batch) - done.duplicates,
        "duplicates": done.duplicates,
        "events": [{"id": i, "duplicate": d} for i, d in done.ids],
        "settle_token": deps.settle_tokens.of(caller.tenant_id, done.last_seq),
    }
    if on_error == "skip":
        answer["errors"] = [{"pointer": problem.pointer, "detail": problem.detail} for problem in problems]
    # Not through the model: it would check a thousand rows we made.
    return dependencies.json_response(answer, status_code=202)


def _batch(
    deps: Dependencies, caller: Caller, request: Request, raw: bytes, *, skip: bool
) -> tuple[Sequence[Incoming], list[Problem]]:
    """Return the events of a request, and with `skip` what is wrong with the others. Invalid: nothing is right."""
    limits = {"batch": deps.settings.batch_events, "event_bytes": deps.settings.event_bytes}
    if not skip:
        return parsing.parse(raw, request.headers, **limits), []
    checked = parsing.parse_each(raw, request.headers, **limits)
    batch, nameless = ingest.with_users(deps.db.as_reader(None), caller.tenant_id, checked.events)
    problems = [*checked.problems, *(Problem(f"/{checked.positions[n]}", ingest.NAMELESS) for n in nameless)]
    good = [event for n, event in enumerate(batch) if n not in set(nameless)]
    if problems and not good:
        raise Invalid(parsing.listed(problems))
    return good, parsing.listed(problems)


def accept(deps: Dependencies, caller: Caller, batch: Sequence[Incoming]) -> Accepted:
    """Accept checked events, and count them. LimitReached: too many are waiting."""
    parsing.require_held_labels(batch, caller.labels)
    _refuse_if_overloaded(deps, caller)
    # As the service: a message that the key cannot read is a duplicate all the same.
    done = ingest.accept(deps.db.as_reader(None), caller.tenant_id, batch)
    deps.bell.notify()
    metrics.EVENTS_ACCEPTED.labels("http").inc(len(batch) - done.duplicates)
    metrics.EVENTS_DUPLICATE.labels("http").inc(done.duplicates)
    return done


def _note_refused(deps: Dependencies, caller: Caller, reason: str) -> None:
    metrics.EVENTS_REFUSED.labels("http", reason).inc()
    deps.occurrences.note(caller.tenant_id, occurrences.REFUSED, {"door": "http", "reason": reason}, refused=1)


def _refuse_if_overloaded(deps: Dependencies, caller: Caller) -> None:
    """Refuse events above the backlog limit; the backlog is counted at most once a second, because counting costs."""
    tenant_id, limit, now = caller.tenant_id, caller.limits.events_waiting, time.monotonic()
    counted_until, backlog = deps.backlogs.get(tenant_id, (float("-inf"), 0))
    if now > counted_until:
        with deps.db.as_reader(None).tenant(tenant_id) as tx:
            backlog = log.backlog(tx, limit)
        took = time.monotonic() - now
        deps.backlogs[tenant_id] = now + max(BACKLOG_SECONDS, REST * took), backlog
    if backlog >= limit:
        _note_refused(deps, caller, "overloaded")
        raise LimitReached("events_waiting", limit)


@router.get("/events", operation_id="listEvents", responses=answers(EventPage))
def get_events(
    deps: Deps,
    caller: Reader,
    type: Annotated[str | None, Query(description="An event type, or a pattern such as memory.*")] = None,  # noqa: A002
    session_id: str | None = None,
    user_id: str | None = None,
    after: Annotated[int | None, Query(description="`next` of the previous page")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    raw: Raw = False,
) -> Json:
    """List events, newest first.

    A page looks through 10,000 events for a type, so that it may be short or empty and yet have a `next`.
    """
    if type is not None and (fault := type_patterns.fault(type)):
        raise Invalid([Problem("/type", f"`{type}` {fault}")])
    if raw:
        unscreened.allow(deps, caller, "events", session_id=session_id, user_id=user_id)
    with deps.db.tenant(caller.tenant_id) as tx:
        page = log.page(tx, EventFilter(type, session_id, user_id, after), limit)
    following = None if page.following is None else str(page.following)
    return {"items": [event_json(event, raw=raw) for event in page.events], "next": following}


@router.get("/events/{event_id}", operation_id="getEvent", responses=answers(LoggedEvent))
def get_event(deps: Deps, caller: Reader, event_id: str, raw: Raw = False) -> Json:
    """Return an event."""
    if raw:
        unscreened.allow(deps, caller, "event")
    with deps.db.tenant(caller.tenant_id) as tx:
        return event_json(log.get(tx, event_id), raw=raw)


@router.get("/events/{event_id}/trace", operation_id="traceEvent", responses=answers(EventTrace))
def get_trace(deps: WholeDeps, caller: Reader, event_id: str) -> Json:
    """Trace the effects of an event: rules with their condition trees, dispatches, changes, and subsequent events."""
    return trace.of(deps.db, caller.tenant_id, event_id, Meanings(deps.embedder))


@router.get("/settle", operation_id="settle")
@with_bounds(Bounds(counted="settles"))
async def get_settle(
    deps: Deps,
    caller: Reader,
    token: str,
    timeout: Annotated[float, Query(ge=0, le=60)] = 20,  # noqa: ASYNC109 - the contract's own word
    flush: bool = False,
) -> Settled:
    """Wait until all events up to the token, and everything that follows from them, have been processed.

    With `flush`, open debounces and those opened meanwhile end at once. This changes when rules act, so the key also
    needs the scope `publish`.
    """
    # Async, for this one waits: forty waiting callers would otherwise hold every thread that there is.
    seq = deps.settle_tokens.seq(caller.tenant_id, token)
    if flush:
        dependencies.require_scope(caller, "publish")
    pending = await deps.settling.wait(caller.tenant_id, seq, timeout, flush=flush)
    if deps.replica is not None:  # So that the answer has a position behind the work that was waited for.
        await run_in_threadpool(deps.db.ask_queues)
    return Settled(settled=pending == 0, pending=pending)


@router.get("/events/{event_id}/chain", operation_id="getEventChain", responses=answers(EventChain))
def get_chain(deps: WholeDeps, caller: Reader, event_id: str) -> Json:
    """Return the actions that an event caused, the events that followed from it, their actions, and so on.

    At most 200 events and 500 actions, the nearest first; `truncated` says that there are more. Replays are left out.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        event = log.get(tx, event_id)
        chain = chains.of(tx, event)
    return {
        "dispatches": [_dispatch(row) for row in chain.dispatches.get(event.seq, ())],
        "followed_by": [_link(row, chain.dispatches.get(row.seq, ())) for row in chain.links],
        "truncated": chain.truncated,
    }


def _link(row: Any, dispatches: Any) -> Json:
    return shown(ChainedEvent, row, dispatches=[_dispatch(dispatch) for dispatch in dispatches])


def _dispatch(row: Any) -> Json:
    dispatch = dispatch_json(row)
    return shown(ChainedDispatch, row, error=dispatch["error"], to=sent_to(dispatch["params"]))
