"""Retrying dead and cancelled dispatches: one, or all that match a filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy import text

from core import metrics
from core.dispatches import queries as dispatch_queries
from core.errors import Conflict
from core.storage.db import Tx
from core.types import DispatchStatus


@dataclass(frozen=True, slots=True)
class RetryFilter:
    """Filter of dispatches to retry or discard; `since` and `until` are about when they ended."""

    status: Literal["dead", "cancelled"] = "dead"
    rule: str | None = None
    target: str | None = None
    fingerprint: str | None = None
    error_contains: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Replayed:
    """Number of matching dispatches, ids of the page that was read, and those started again."""

    matched: int
    ids: Sequence[UUID]
    begun: Sequence[UUID]


def retry(tx: Tx, dispatch_id: UUID) -> Any:
    """Begin a dead dispatch again from its first attempt, and return it. Conflict: it is not dead or not repeatable."""
    if not repeat(tx, [dispatch_id], DispatchStatus.DEAD):
        _refuse(dispatch_queries.get(tx, dispatch_id))
    return dispatch_queries.get(tx, dispatch_id)


def redeliver(tx: Tx, dispatch_id: UUID) -> Any:
    """Send a webhook, message or task again under the same id, whether it arrived or was given up; return it.

    Conflict: it is none of these, or has not ended.
    """
    row = dispatch_queries.get(tx, dispatch_id)
    if row.action_type not in dispatch_queries.OUTBOUND:
        raise Conflict(f"This dispatch sends nothing to anyone (it is a {row.action_type}); retry it instead.")
    if row.status not in {DispatchStatus.DONE, DispatchStatus.DEAD} or not repeat(tx, [dispatch_id], row.status):
        raise Conflict(f"This dispatch is {row.status}; only one that is done or dead can be sent again.")
    return dispatch_queries.get(tx, dispatch_id)


def replay(tx: Tx, criteria: RetryFilter, limit: int, *, dry_run: bool) -> Replayed:
    """Begin again all that match, up to the limit; with `dry_run` only find them. Rejected ones never match."""
    rows = tx.execute(_MATCHING, asdict(criteria) | {"limit": limit}).all()
    ids = [row.id for row in rows]
    begun = [] if dry_run else repeat(tx, ids, criteria.status)
    return Replayed(rows[0].matched if rows else 0, ids, begun)


def repeat(tx: Tx, ids: Sequence[UUID], status: str) -> list[UUID]:
    """Begin again those of the ids that are in the status and repeatable; return them in the given order.

    The dead letter of an event that could not be decided sends the event to the router again.
    """
    values = {"ids": list(ids), "status": status}
    # A predecessor may end just now: it must find its follower waiting, or be found ended itself.
    tx.execute(LOCK_CHAINS, values)
    begun = list(tx.execute(_REPEAT, values))
    for row in begun:
        metrics.DISPATCHES.labels(row.target, row.queue, row.status).inc()
    decided_again = list(tx.execute(_DECIDE_AGAIN, values).scalars()) if status == DispatchStatus.DEAD else []
    started = {row.id for row in begun} | set(decided_again)
    return [dispatch_id for dispatch_id in ids if dispatch_id in started]


def _refuse(row: Any) -> None:
    if row.status != DispatchStatus.DEAD:
        raise Conflict(f"This dispatch is {row.status}; only a dead one can be retried.")
    raise Conflict("This dispatch has no agent to retry. Correct what its reason says and publish the event again.")


RETRYABLE: Final = """
    ((d.action_type IN ('run_agent', 'emit', 'notify', 'webhook', 'celery') AND d.target <> 'hop_limit')
     OR (d.action_type = 'decide' AND d.rule IS NULL AND d.event_seq IS NOT NULL AND d.replay_id IS NULL
         AND NOT EXISTS (SELECT FROM decisions c WHERE c.event_seq = d.event_seq)))
    AND (d.approval IS NULL OR d.approval ->> 'verdict' = 'approved')
"""
"""Dead letters of the bus and of chains over the hop limit name no agent, and a rejection is final. An event on which
all rules failed has no decisions yet, so that deciding it again doubles nothing; a replay is begun again instead."""

REPEATABLE: Final = f"""
    {RETRYABLE} AND NOT EXISTS (SELECT FROM dispatches edited WHERE edited.edit_of = d.id)
"""
"""A dispatch that was retried with other parameters is cancelled, and goes on as that retry."""

FITTING: Final = """
    (cast(:rule AS text) IS NULL OR d.rule = :rule)
    AND (cast(:target AS text) IS NULL OR d.target = :target)
    AND (cast(:fingerprint AS text) IS NULL OR d.fingerprint = :fingerprint)
    AND (cast(:error_contains AS text) IS NULL OR strpos(lower(d.error), lower(:error_contains)) > 0)
    AND (cast(:since AS timestamptz) IS NULL OR d.ended_at >= :since)
    AND (cast(:until AS timestamptz) IS NULL OR d.ended_at < :until)
"""
"""SQL: a dispatch `d` fits a `RetryFilter`, but for its status."""

_MATCHING = text(f"""
    WITH RECURSIVE fit AS (
        SELECT d.id, d.after FROM dispatches d
        WHERE d.status = :status AND {REPEATABLE}
          AND {FITTING}
    ), places AS (
        SELECT fit.id, 0 AS place FROM fit LEFT JOIN dispatches before ON before.id = fit.after
        WHERE before.id IS NULL OR before.status <> 'cancelled'
        UNION ALL
        SELECT fit.id, places.place + 1 FROM fit JOIN places ON fit.after = places.id
    )
    SELECT id, count(*) OVER () AS matched FROM places ORDER BY place, id LIMIT :limit
""")
"""Oldest first, but none before its predecessor, and none whose predecessor is cancelled and does not match."""

LOCK_CHAINS = text("""
    SELECT FROM dispatches
    WHERE id = ANY(:ids) OR id IN (SELECT after FROM dispatches WHERE id = ANY(:ids))
    ORDER BY id FOR NO KEY UPDATE
""")
"""Locks in id order, so that concurrent retries of the same chain wait for each other without deadlock."""

_REPEAT = text(f"""
    WITH RECURSIVE again AS (
        SELECT d.id, d.after FROM dispatches d
        WHERE d.id = ANY(:ids) AND d.status = :status AND d.action_type <> 'decide' AND {REPEATABLE}
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
    RETURNING d.id, d.target, d.queue, d.status
""")
"""Read again under the lock: a predecessor may have been cancelled since the dispatches were found."""

_DECIDE_AGAIN = text(f"""
    WITH letters AS (
        UPDATE dispatches d SET status = 'done', ended_at = clock_timestamp(), result = '{{"decided_again": true}}'
        WHERE d.id = ANY(:ids) AND d.status = :status AND d.action_type = 'decide' AND {REPEATABLE}
        RETURNING d.id, d.event_seq
    )
    UPDATE events e SET routed_at = NULL FROM letters WHERE e.seq = letters.event_seq
    RETURNING letters.id
""")
