"""Approving, rejecting and cancelling a dispatch, each together with the actions that were to follow it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import text

from core import metrics
from core.dispatches import dispatches
from core.dispatches import queries as dispatch_queries
from core.errors import Conflict, Forbidden
from core.events.publishing import Author
from core.storage.db import Tx
from core.types import DispatchStatus

Verdict = Literal["approved", "rejected"]


@dataclass(frozen=True, slots=True)
class SignedRemark:
    """Caller who decides about a dispatch, with their comment."""

    author: Author
    comment: str | None = None


def decide(tx: Tx, dispatch_id: UUID, verdict: Verdict, remark: SignedRemark, *, four_eyes: bool) -> Any:
    """Record a verdict on a dispatch held for approval, and return it. Recording the same again changes nothing.

    NotFound, Conflict: it is not held for approval. Forbidden: with `four_eyes`, the author requested the action.
    """
    by, comment = remark.author.name, remark.comment
    error = None if verdict == "approved" else f"Rejected by {by}" + (f": {comment}" if comment else ".")
    values = {"id": dispatch_id, "verdict": verdict, "by": by, "comment": comment, "error": error}
    if four_eyes and verdict == "approved":
        _require_another_key(tx, dispatch_id, by)
    row = tx.execute(_DECIDE, values).one_or_none()
    if row is None:
        _require_decided(dispatch_queries.get(tx, dispatch_id), verdict)
    else:
        _carry_out(tx, row)
    return dispatch_queries.get(tx, dispatch_id)


def cancel(tx: Tx, dispatch_id: UUID, remark: SignedRemark) -> Any:
    """Cancel a dispatch that has not ended, and those that were to follow it; return it. Conflict: it has ended."""
    reason = f": {remark.comment}" if remark.comment else "."
    values = {"id": dispatch_id, "error": f"Called off by {remark.author.name}{reason}"}
    row = tx.execute(_CANCEL, values).one_or_none()
    if row is None:
        row = dispatch_queries.get(tx, dispatch_id)
        if row.status != DispatchStatus.CANCELLED:
            raise Conflict(f"This dispatch is {row.status}; there is nothing left to cancel.")
    else:
        metrics.DISPATCHES.labels(row.target, row.queue, DispatchStatus.CANCELLED).inc()
        dispatches.cancel_followers(tx, row)
        dispatches.wake_waiting(tx, row)
    return dispatch_queries.get(tx, dispatch_id)


def _require_another_key(tx: Tx, dispatch_id: UUID, by: str) -> None:
    """Refuse the key that requested the action: by saving the rule's version, running, replaying or editing it."""
    row = tx.execute(_REQUESTED_BY, {"id": dispatch_id}).one_or_none()
    if row is not None and by in (row.author, row.requested_by, row.replayed_by, row.edited_by):
        raise Forbidden("This key saved, ran, replayed or edited the action itself; another key must approve.")


def _carry_out(tx: Tx, row: Any) -> None:
    """Count and announce a verdict; cancel what was to follow a rejected dispatch."""
    metrics.DISPATCHES.labels(row.target, row.queue, row.status).inc()
    dispatches.emit_approval(tx, row)
    if row.status == DispatchStatus.CANCELLED:
        dispatches.cancel_followers(tx, row)


def _require_decided(row: Any, verdict: Verdict) -> None:
    """Raise Conflict unless the same was decided before."""
    decided = (row.approval or {}).get("verdict")
    if decided == verdict:
        return
    if decided is not None:
        raise Conflict(
            f"It was {decided} by {row.approval['by']} at {_seconds(row.approval['at'])}; this decision is final."
        )
    if row.hold == "approval":
        raise Conflict(f"The approval expired at {_seconds(row.expires_at.isoformat())}.")
    raise Conflict(f"This dispatch is {row.status}; only a dispatch that is held for approval can be {verdict}.")


def _seconds(moment: str) -> str:
    return datetime.fromisoformat(moment).isoformat(timespec="seconds")


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
"""Only one of several concurrent decisions finds the row held."""

_CANCEL = text("""
    UPDATE dispatches SET status = 'cancelled', hold = NULL, wake_at = NULL, lease = NULL,
                          ended_at = clock_timestamp(), error = :error
    WHERE id = :id AND status IN ('held', 'pending', 'running', 'retrying')
    RETURNING *
""")

_REQUESTED_BY = text("""
    SELECT v.author, e.payload ->> 'requested_by' AS requested_by, r.author ->> 'name' AS replayed_by, d.edited_by
    FROM dispatches d
    LEFT JOIN rule_versions v ON v.tenant_id = d.tenant_id AND v.name = d.rule AND v.version = d.rule_version
    LEFT JOIN events e ON e.tenant_id = d.tenant_id AND e.seq = d.event_seq AND e.event_type = 'clock.ticked'
    LEFT JOIN replays r ON r.tenant_id = d.tenant_id AND r.id = d.replay_id
    WHERE d.id = :id
""")
