"""Dispatches: reading, approving, rejecting, cancelling and retrying them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi import Body as JsonBody
from pydantic import AwareDatetime, Field

from api.http.work.answers import DispatchOfEvent, DispatchPage, ReplayedDispatches, ShownDispatch
from api.ingress.answers import answers
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Dependencies, Deps, Limit, Reader, RuleEditor, Writer, author
from api.ingress.large_json import Route
from api.serializers import dispatch_json
from core.dispatches import control as dispatch_control
from core.dispatches import queries as dispatch_queries
from core.dispatches import retries as dispatch_retries
from core.dispatches.control import SignedRemark, Verdict
from core.dispatches.queries import DispatchFilter
from core.dispatches.retries import RetryFilter
from core.tenancy.tenants import Caller
from core.types import Json

router = APIRouter(prefix="/v1", tags=["dispatches"], route_class=Route)


class Remark(RequestBody):
    """Comment of a person on their decision."""

    comment: Annotated[str | None, Field(max_length=2_000)] = None


class Letters(RequestBody):
    """Filter for dispatches; `from` and `to` refer to the time when they were given up."""

    status: Literal["dead", "cancelled"] = "dead"
    rule: str | None = None
    target: str | None = None
    fingerprint: Annotated[
        str | None, Field(pattern="^[0-9a-f]{16}$", description="Only dead letters of this group")
    ] = None
    error_contains: Annotated[str | None, Field(description="Substring of the error, case-insensitive")] = None
    since: Annotated[AwareDatetime | None, Field(alias="from")] = None
    until: Annotated[AwareDatetime | None, Field(alias="to", description="Exclusive")] = None


class Replay(RequestBody):
    """Request to retry dispatches: filter and limit."""

    filter: Letters = Letters()
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    dry_run: Annotated[bool, Field(description="Only return the dispatches that would be retried")] = False


Remarked = Annotated[Remark | None, JsonBody()]


@router.get("/dispatches", operation_id="listDispatches", responses=answers(DispatchPage))
def get_dispatches(
    deps: Deps,
    caller: Reader,
    status: str | None = None,
    rule: str | None = None,
    target: str | None = None,
    hold: str | None = None,
    replay_id: UUID | None = None,
    fingerprint: Annotated[str | None, Query(pattern="^[0-9a-f]{16}$", description="Dead letters of a group")] = None,
    after: UUID | None = None,
    limit: Limit = 50,
) -> Json:
    """List dispatches, newest first.

    `hold=approval` selects those waiting for approval, `replay_id` those of a replay.
    """
    dispatch_filter = DispatchFilter(status, rule, target, hold, replay_id, fingerprint)
    with deps.db.tenant(caller.tenant_id) as tx:
        rows, following = dispatch_queries.page(tx, dispatch_filter, after=after, limit=limit)
    return {"items": [dispatch_with_event(r) for r in rows], "next": None if following is None else str(following)}


@router.get("/dispatches/{dispatch_id}", operation_id="getDispatch", responses=answers(ShownDispatch))
def get_dispatch(deps: Deps, caller: Reader, dispatch_id: UUID) -> Json:
    """Return a dispatch; if it waits for approval, with the keys that may approve it."""
    with deps.db.tenant(caller.tenant_id) as tx:
        row = dispatch_queries.get(tx, dispatch_id)
        deciders = dispatch_queries.deciders(tx) if row.hold == "approval" else None
    return (
        dispatch_with_event(row)
        | {"edited_as": row.edited_as}
        | ({} if deciders is None else {"may_decide": [asdict(decider) for decider in deciders]})
    )


@router.post(
    "/dispatches/{dispatch_id}/approve",
    operation_id="approveDispatch",
    responses=answers(DispatchOfEvent, refusals=(409,)),
)
def post_approve(deps: Deps, caller: RuleEditor, dispatch_id: UUID, remark: Remarked = None) -> Json:
    """Approve a dispatch; a worker starts it within seconds. Repeated approvals have no effect."""
    return _decide(deps, caller, dispatch_id, "approved", remark)


@router.post(
    "/dispatches/{dispatch_id}/reject",
    operation_id="rejectDispatch",
    responses=answers(DispatchOfEvent, refusals=(409,)),
)
def post_reject(deps: Deps, caller: RuleEditor, dispatch_id: UUID, remark: Remarked = None) -> Json:
    """Reject a dispatch and the actions that would have followed it. Repeated rejections have no effect."""
    return _decide(deps, caller, dispatch_id, "rejected", remark)


@router.post(
    "/dispatches/{dispatch_id}/cancel",
    operation_id="cancelDispatch",
    responses=answers(DispatchOfEvent, refusals=(409,)),
)
def post_cancel(deps: Deps, caller: Writer, dispatch_id: UUID, remark: Remarked = None) -> Json:
    """Cancel a dispatch that has not ended, and the actions that would have followed it.

    A running dispatch writes nothing from now on, and its worker stops it within seconds. Requests that it has already
    sent to other services cannot be taken back.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        return dispatch_with_event(dispatch_control.cancel(tx, dispatch_id, _signed(caller, remark)))


@router.post(
    "/dispatches/{dispatch_id}/retry", operation_id="retryDispatch", responses=answers(DispatchOfEvent, refusals=(409,))
)
def post_retry(deps: Deps, caller: Writer, dispatch_id: UUID) -> Json:
    """Retry a dead dispatch from its first attempt; the clock sends it within a second."""
    with deps.db.tenant(caller.tenant_id) as tx:
        row = dispatch_retries.retry(tx, dispatch_id)
    deps.bell.notify()
    return dispatch_with_event(row)


@router.post("/dispatches/replay", operation_id="replayDispatches", responses=answers(ReplayedDispatches))
def post_replay(deps: Deps, caller: Writer, request: Replay) -> Json:
    """Retry all dispatches that match the filter, up to the limit, except those that a person rejected."""
    retry_filter = RetryFilter(**request.filter.model_dump())
    with deps.db.tenant(caller.tenant_id) as tx:
        done = dispatch_retries.replay(tx, retry_filter, request.limit, dry_run=request.dry_run)
    deps.bell.notify()
    return {"matched": done.matched, "replayed": len(done.begun), "ids": done.ids if request.dry_run else done.begun}


def _decide(deps: Dependencies, caller: Caller, dispatch_id: UUID, verdict: Verdict, remark: Remark | None) -> Json:
    signed = _signed(caller, remark)
    with deps.db.tenant(caller.tenant_id) as tx:
        row = dispatch_control.decide(tx, dispatch_id, verdict, signed, four_eyes=deps.settings.four_eyes)
    deps.bell.notify()
    return dispatch_with_event(row)


def _signed(caller: Caller, remark: Remark | None) -> SignedRemark:
    return SignedRemark(author(caller), remark.comment if remark else None)


def dispatch_with_event(row: Any) -> Json:
    """Return a dispatch with its event as JSON, without secrets."""
    return dispatch_json(row) | {"event_id": row.event_id, "event_type": row.event_type}
