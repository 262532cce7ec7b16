"""What must happen, and what became of it; people say yes or no here, call it off, and have it tried again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi import Body as JsonBody
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from sqlalchemy import text

from api.ingress.dependencies import At, Door, Reader, RuleEditor, Writer, author
from api.ingress.large_json import Route
from api.serializers import dispatch_json
from core import metrics
from core.errors import Conflict, Forbidden, NotFound
from core.events import dispatches
from core.storage.db import Tx
from core.tenancy.tenants import Caller
from core.types import DispatchStatus, Json

router = APIRouter(prefix="/v1", tags=["dispatches"], route_class=Route)

Limit = Annotated[int, Query(ge=1, le=500)]
Verdict = Literal["approved", "rejected"]


class Remark(BaseModel):
    """What someone has to say to their decision."""

    model_config = ConfigDict(extra="forbid")

    comment: Annotated[str | None, Field(max_length=2_000)] = None


class Letters(BaseModel):
    """Which dispatches are meant; `from` and `to` are about when they were given up."""

    model_config = ConfigDict(extra="forbid")

    status: Literal["dead", "cancelled"] = "dead"
    rule: str | None = None
    target: str | None = None
    error_contains: Annotated[str | None, Field(description="Part of its reason, in any case")] = None
    since: Annotated[AwareDatetime | None, Field(alias="from")] = None
    until: Annotated[AwareDatetime | None, Field(alias="to", description="Up to but without this moment")] = None


class Replay(BaseModel):
    """What is to be tried again, and how much of it at once."""

    model_config = ConfigDict(extra="forbid")

    filter: Letters = Letters()
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    dry_run: Annotated[bool, Field(description="Only say what would be tried again")] = False


Remarked = Annotated[Remark | None, JsonBody()]


@router.get("/dispatches")
def get_dispatches(
    at: At,
    who: Reader,
    status: str | None = None,
    rule: str | None = None,
    target: str | None = None,
    hold: str | None = None,
    after: UUID | None = None,
    limit: Limit = 50,
) -> Json:
    """Dispatches, newest first; `hold=approval` are those that wait for somebody's word."""
    values = {"status": status, "rule": rule, "target": target, "hold": hold, "after": after, "limit": limit}
    with at.db.tenant(who.tenant_id) as tx:
        rows = tx.execute(_DISPATCHES, values).all()
    return {"items": [_json(r) for r in rows], "next": str(rows[-1].id) if len(rows) == limit else None}


@router.get("/dispatches/{dispatch_id}")
def get_dispatch(at: At, who: Reader, dispatch_id: UUID) -> Json:
    """One dispatch; where it waits for approval, with the keys that may give it."""
    with at.db.tenant(who.tenant_id) as tx:
        row = _dispatch(tx, dispatch_id)
        return _json(row) | ({"may_decide": _deciders(tx)} if row.hold == "approval" else {})


@router.post("/dispatches/{dispatch_id}/approve")
def post_approve(at: At, who: RuleEditor, dispatch_id: UUID, remark: Remarked = None) -> Json:
    """Say yes to what is held for approval; a worker begins within seconds. Saying so again changes nothing."""
    return _decided(at, who, dispatch_id, "approved", remark)


@router.post("/dispatches/{dispatch_id}/reject")
def post_reject(at: At, who: RuleEditor, dispatch_id: UUID, remark: Remarked = None) -> Json:
    """Say no to what is held for approval, and to what was to come after it. Saying so again changes nothing."""
    return _decided(at, who, dispatch_id, "rejected", remark)


@router.post("/dispatches/{dispatch_id}/cancel")
def post_cancel(at: At, who: Writer, dispatch_id: UUID, remark: Remarked = None) -> Json:
    """Call off what has not ended, and what was to come after it.

    Of one that runs, nothing is written any more from here on; its worker stops it within seconds. What it has told
    other services by then stays told.
    """
    said = f": {remark.comment}" if remark and remark.comment else "."
    with at.db.tenant(who.tenant_id) as tx:
        row = tx.execute(_CANCEL, {"id": dispatch_id, "error": f"Called off by key:{who.key_id}{said}"}).one_or_none()
        if row is None:
            _refuse_cancel(_dispatch(tx, dispatch_id))
        else:
            metrics.DISPATCHES.labels(row.target, DispatchStatus.CANCELLED).inc()
            dispatches.cancel_followers(tx, row)
            dispatches.wake_waiting(tx, row)
        return _json(_dispatch(tx, dispatch_id))


@router.post("/dispatches/{dispatch_id}/retry")
def post_retry(at: At, who: Writer, dispatch_id: UUID) -> Json:
    """Try a dead letter again from its first attempt on; the clock sends it within a second."""
    with at.db.tenant(who.tenant_id) as tx:
        if not _try_again(tx, [dispatch_id], DispatchStatus.DEAD):
            _refuse_retry(_dispatch(tx, dispatch_id))
        row = _dispatch(tx, dispatch_id)
    at.bell.ring()
    return _json(row)


@router.post("/dispatches/replay")
def post_replay(at: At, who: Writer, wanted: Replay) -> Json:
    """Try again all that the filter finds, up to the limit; what a person refused is not among it."""
    with at.db.tenant(who.tenant_id) as tx:
        found = tx.execute(_FIT, wanted.filter.model_dump() | {"limit": wanted.limit}).all()
        ids = [row.id for row in found]
        begun = [] if wanted.dry_run else _try_again(tx, ids, wanted.filter.status)
    at.bell.ring()
    return {
        "matched": found[0].matched if found else 0,
        "replayed": len(begun),
        "ids": ids if wanted.dry_run else begun,
    }


def _decided(at: Door, who: Caller, dispatch_id: UUID, verdict: Verdict, remark: Remark | None) -> Json:
    """Write a verdict down, once: whoever comes second finds it there."""
    comment = remark.comment if remark else None
    by = author(who).name
    error = None if verdict == "approved" else f"Rejected by {by}" + (f": {comment}" if comment else ".")
    values = {"id": dispatch_id, "verdict": verdict, "by": by, "comment": comment, "error": error}
    with at.db.tenant(who.tenant_id) as tx:
        if at.settings.four_eyes and verdict == "approved":
            _require_other_eyes(tx, dispatch_id, by)
        row = tx.execute(_DECIDE, values).one_or_none()
        if row is None:
            _refuse_verdict(_dispatch(tx, dispatch_id), verdict)
        else:
            _follow(tx, row)
        shown = _json(_dispatch(tx, dispatch_id))
    at.bell.ring()
    return shown


def _require_other_eyes(tx: Tx, dispatch_id: UUID, by: str) -> None:
    """Refuse the key that asked for what is held: the one that saved the rule's version, or that ran the rule now."""
    row = tx.execute(_ASKED_BY, {"id": dispatch_id}).one_or_none()
    if row is not None and by in (row.author, row.requested_by):
        raise Forbidden("This key asked for it itself, by saving the rule or running it: another key has to approve.")


def _follow(tx: Tx, row: Any) -> None:
    """What follows from a verdict."""
    metrics.DISPATCHES.labels(row.target, row.status).inc()
    dispatches.tell_verdict(tx, row)
    if row.status == DispatchStatus.CANCELLED:
        dispatches.cancel_followers(tx, row)


def _refuse_verdict(row: Any, verdict: Verdict) -> None:
    """Conflict, unless the same was decided before."""
    decided = (row.approval or {}).get("verdict")
    if decided == verdict:
        return
    if decided is not None:
        raise Conflict(f"It was {decided} by {row.approval['by']} at {_seconds(row.approval['at'])}; that stands.")
    if row.hold == "approval":
        raise Conflict(f"The time to decide was over at {_seconds(row.expires_at.isoformat())}.")
    raise Conflict(f"This dispatch is {row.status}; only one that is held for approval can be {verdict}.")


def _refuse_cancel(row: Any) -> None:
    """Conflict, unless it was cancelled before."""
    if row.status != DispatchStatus.CANCELLED:
        raise Conflict(f"This dispatch is {row.status}; there is nothing left to call off.")


def _refuse_retry(row: Any) -> None:
    if row.status != DispatchStatus.DEAD:
        raise Conflict(f"This dispatch is {row.status}; only a dead one can be tried again.")
    raise Conflict("No agent was to work on this one. Publish the event again, with what its reason says put right.")


def _try_again(tx: Tx, ids: Sequence[UUID], status: str) -> list[UUID]:
    """Begin anew what can be, of these in that status; answers which. An undecided event goes to the router again."""
    values = {"ids": list(ids), "status": status}
    # What comes before one of these may end just now, and must find it waiting or be found at its end.
    tx.execute(_LOCK_CHAINS, values)
    begun = list(tx.execute(_AGAIN, values))
    for row in begun:
        metrics.DISPATCHES.labels(row.target, row.status).inc()
    decided_again = list(tx.execute(_DECIDE_AGAIN, values).scalars()) if status == DispatchStatus.DEAD else []
    return [*(row.id for row in begun), *decided_again]


def _dispatch(tx: Tx, dispatch_id: UUID) -> Any:
    row = tx.execute(_DISPATCH, {"id": dispatch_id}).one_or_none()
    if row is None:
        raise NotFound(f"There is no dispatch {dispatch_id} in this tenant.")
    return row


def _deciders(tx: Tx) -> list[Json]:
    rows = tx.execute(_DECIDERS, {"scopes": list(dispatches.DECIDERS)})
    return [{"id": row.id, "name": row.name, "scopes": row.scopes} for row in rows]


def _json(row: Any) -> Json:
    return dispatch_json(row) | {"event_id": row.event_id, "event_type": row.event_type}


def _seconds(moment: str) -> str:
    return datetime.fromisoformat(moment).isoformat(timespec="seconds")


_REPEATABLE = """
    ((d.action_type IN ('run_agent', 'emit', 'notify', 'webhook', 'celery') AND d.target <> 'hop_limit')
     OR (d.action_type = 'decide' AND d.rule IS NULL AND d.event_seq IS NOT NULL
         AND NOT EXISTS (SELECT FROM decisions c WHERE c.event_seq = d.event_seq)))
    AND (d.approval IS NULL OR d.approval ->> 'verdict' = 'approved')
"""
"""Letters of the bus and of stopped chains have nobody who could try again, and a no stays a no. An event on which the
rules failed as a whole has no decisions yet, so that deciding again doubles nothing."""

_DISPATCH = text("""
    SELECT d.*, e.id AS event_id, e.event_type FROM dispatches d
    LEFT JOIN events e ON e.tenant_id = d.tenant_id AND e.seq = d.event_seq
    WHERE d.id = :id
""")

_DISPATCHES = text("""
    SELECT d.*, e.id AS event_id, e.event_type FROM dispatches d
    LEFT JOIN events e ON e.tenant_id = d.tenant_id AND e.seq = d.event_seq
    WHERE (cast(:status AS text) IS NULL OR d.status = :status) AND (cast(:rule AS text) IS NULL OR d.rule = :rule)
      AND (cast(:target AS text) IS NULL OR d.target = :target) AND (cast(:hold AS text) IS NULL OR d.hold = :hold)
      AND (cast(:after AS uuid) IS NULL OR d.id < :after)
    ORDER BY d.id DESC LIMIT :limit
""")

_DECIDERS = text("""
    SELECT id, name, scopes FROM api_keys
    WHERE revoked_at IS NULL AND scopes && cast(:scopes AS text[]) ORDER BY id
""")

_DECIDE = text("""
    UPDATE dispatches SET
        status = CASE WHEN :verdict = 'approved' THEN 'pending' ELSE 'cancelled' END,
        hold = NULL,
        wake_at = CASE WHEN :verdict = 'approved' THEN clock_timestamp() END,
        ended_at = CASE WHEN :verdict = 'rejected' THEN clock_timestamp() END,
        error = :error,
        approval = coalesce(approval, '{}') || jsonb_build_object(
            'verdict', cast(:verdict AS text), 'by', cast(:by AS text), 'comment', cast(:comment AS text),
            'at', clock_timestamp())
    WHERE id = :id AND status = 'held' AND hold = 'approval' AND (expires_at IS NULL OR expires_at > clock_timestamp())
    RETURNING *
""")
"""Of several who decide at once, one finds it held."""

_CANCEL = text("""
    UPDATE dispatches SET status = 'cancelled', hold = NULL, wake_at = NULL, lease = NULL,
                          ended_at = clock_timestamp(), error = :error
    WHERE id = :id AND status IN ('held', 'pending', 'running', 'retrying')
    RETURNING *
""")

_FIT = text(f"""
    WITH RECURSIVE fit AS (
        SELECT d.id, d.after FROM dispatches d
        WHERE d.status = :status AND {_REPEATABLE}
          AND (cast(:rule AS text) IS NULL OR d.rule = :rule)
          AND (cast(:target AS text) IS NULL OR d.target = :target)
          AND (cast(:error_contains AS text) IS NULL OR strpos(lower(d.error), lower(:error_contains)) > 0)
          AND (cast(:since AS timestamptz) IS NULL OR d.ended_at >= :since)
          AND (cast(:until AS timestamptz) IS NULL OR d.ended_at < :until)
    ), places AS (
        SELECT fit.id, 0 AS place FROM fit LEFT JOIN dispatches before ON before.id = fit.after
        WHERE before.id IS NULL OR before.status <> 'cancelled'
        UNION ALL
        SELECT fit.id, places.place + 1 FROM fit JOIN places ON fit.after = places.id
    )
    SELECT id, count(*) OVER () AS matched FROM places ORDER BY place, id LIMIT :limit
""")
"""Oldest first, but none before the action that must be done before it, and none whose turn would never come."""

_LOCK_CHAINS = text("""
    SELECT FROM dispatches
    WHERE id = ANY(:ids) OR id IN (SELECT after FROM dispatches WHERE id = ANY(:ids))
    ORDER BY id FOR NO KEY UPDATE
""")
"""In one order, so that two who try the same again wait for each other and never both."""

_AGAIN = text(f"""
    WITH RECURSIVE again AS (
        SELECT d.id, d.after FROM dispatches d
        WHERE d.id = ANY(:ids) AND d.status = :status AND d.action_type <> 'decide' AND {_REPEATABLE}
    ), placed AS (
        SELECT again.id, coalesce(before.status = 'done', true) AS ready
        FROM again LEFT JOIN dispatches before ON before.id = again.after
        WHERE before.id IS NULL OR before.status <> 'cancelled'
        UNION
        SELECT again.id, false FROM again JOIN placed ON again.after = placed.id
    )
    UPDATE dispatches d SET
        status = CASE WHEN placed.ready THEN 'pending' ELSE 'held' END,
        hold = CASE WHEN placed.ready THEN NULL ELSE 'turn' END,
        wake_at = CASE WHEN placed.ready THEN clock_timestamp() END,
        error = CASE WHEN d.status = 'dead' THEN d.error END,
        attempt = 0, sends = 0, ended_at = NULL
    FROM placed WHERE d.id = placed.id
    RETURNING d.id, d.target, d.status
""")
"""As of now, with all of them locked: what was to come before one may have been called off since it was looked for."""

_DECIDE_AGAIN = text(f"""
    WITH letters AS (
        UPDATE dispatches d SET status = 'done', ended_at = clock_timestamp(), result = '{{"decided_again": true}}'
        WHERE d.id = ANY(:ids) AND d.status = :status AND d.action_type = 'decide' AND {_REPEATABLE}
        RETURNING d.id, d.event_seq
    )
    UPDATE events e SET routed_at = NULL FROM letters WHERE e.seq = letters.event_seq
    RETURNING letters.id
""")

_ASKED_BY = text("""
    SELECT v.author, e.payload ->> 'requested_by' AS requested_by
    FROM dispatches d
    LEFT JOIN rule_versions v ON v.tenant_id = d.tenant_id AND v.name = d.rule AND v.version = d.rule_version
    LEFT JOIN events e ON e.tenant_id = d.tenant_id AND e.seq = d.event_seq AND e.event_type = 'clock.ticked'
    WHERE d.id = :id
""")
