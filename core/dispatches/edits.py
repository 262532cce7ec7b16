"""Retrying a dead dispatch with other parameters.

The retry is a dispatch of its own, in the place of the first: same event, chain, rule, key and lane, and what waited
for the first waits for it. The first stays as it was, cancelled, so that of both only one can take effect.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import text
from uuid_utils.compat import uuid7

from core import metrics
from core.dispatches import dispatches, retries
from core.dispatches import queries as dispatch_queries
from core.errors import Conflict
from core.events.publishing import Author
from core.storage.db import Tx
from core.types import DispatchStatus, Json


@dataclass(frozen=True, slots=True)
class EditedParams:
    """Parameters of a retry, and how they are shown to those who may have to approve it."""

    params: Json
    displayed: Json


def retry(tx: Tx, dispatch_id: UUID, edited: EditedParams, author: Author, *, approval_seconds: float) -> Any:
    """Begin a dead dispatch again with other parameters, and return the retry.

    What needed an approval needs another one: nobody has approved these parameters. Conflict: it is not dead, was
    retried with other parameters already, or what it has to follow was cancelled.
    """
    # As in other retries: a predecessor may end just now.
    tx.execute(retries.LOCK_CHAINS, {"ids": [dispatch_id]})
    values = {
        "id": dispatch_id,
        "new": uuid7(),
        "params": json.dumps(edited.params, ensure_ascii=False),
        "by": author.name,
        "seconds": approval_seconds,
    }
    row = tx.execute(_INSERT, values).one_or_none()
    if row is None:
        raise _refusal(tx, dispatch_id)
    tx.execute(_SUPERSEDE, values)
    tx.execute(_FOLLOW, values)
    metrics.DISPATCHES.labels(row.target, row.queue, row.status).inc()
    metrics.DISPATCHES.labels(row.target, row.queue, DispatchStatus.CANCELLED).inc()
    if row.hold == "approval":
        dispatches.ask_for_approval(tx, row, dispatches.event_of(tx, row), edited.displayed)
    return dispatch_queries.get(tx, row.id)


def require_editable(row: Any) -> None:
    """Refuse a dispatch that cannot be retried with other parameters. Conflict."""
    if row.status != DispatchStatus.DEAD:
        raise Conflict(f"This dispatch is {row.status}; only a dead one can be retried.")
    if row.action_type not in {"run_agent", *dispatch_queries.OUTBOUND, "emit"} or row.target == "hop_limit":
        raise Conflict("This dispatch has no parameters of its own. Correct what its reason says and retry it.")
    if "due" in row.params and row.action_type == "notify":
        raise Conflict("This dispatch sends notices that are stored, whose text cannot be edited. Retry it as it is.")


def _refusal(tx: Tx, dispatch_id: UUID) -> Conflict:
    row = dispatch_queries.get(tx, dispatch_id)
    if row.status != DispatchStatus.DEAD:
        return Conflict(f"This dispatch is {row.status}; only a dead one can be retried.")
    return Conflict("What this dispatch has to follow was cancelled. Retry that first.")


_INSERT = text("""
    INSERT INTO dispatches (tenant_id, id, event_seq, root_seq, correlation_id, hop, rule, rule_version, action_type,
                            target, params, queue, priority, alone, lineage, lane, lane_limit, replay_id, after, status,
                            hold, wake_at, expires_at, approval, edit_of, edited_by, lists_others, trace)
    SELECT d.tenant_id, :new, d.event_seq, d.root_seq, d.correlation_id, d.hop, d.rule, d.rule_version, d.action_type,
           d.target, cast(:params AS jsonb), d.queue, d.priority, d.alone, d.lineage, d.lane, d.lane_limit, d.replay_id,
           d.after, CASE WHEN w.waits IS NULL THEN 'pending' ELSE 'held' END, w.waits,
           CASE WHEN w.waits IS NULL THEN clock_timestamp() END,
           CASE WHEN w.waits = 'approval' THEN clock_timestamp() + make_interval(secs => :seconds) END,
           CASE WHEN w.waits = 'approval' THEN jsonb_build_object('requested_at', clock_timestamp()) END,
           d.id, cast(:by AS text), true, d.trace
    FROM dispatches d
    LEFT JOIN dispatches before ON before.id = d.after
    CROSS JOIN LATERAL (SELECT CASE
        WHEN d.approval IS NOT NULL THEN 'approval' WHEN before.status <> 'done' THEN 'turn' END AS waits) AS w
    WHERE d.id = :id AND d.status = 'dead' AND (before.id IS NULL OR before.status <> 'cancelled')
    RETURNING *
""")

_SUPERSEDE = text("""
    UPDATE dispatches SET status = 'cancelled', wake_at = NULL,
        error = 'Retried with other parameters as dispatch ' || cast(:new AS text) || '. It had failed: '
                || coalesce(error, '')
    WHERE id = :id
""")

_FOLLOW = text("UPDATE dispatches SET after = :new WHERE after = :id AND status = 'held'")
