"""Sweeps over the ledger: dispatches due, expired, released or cancelled."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import text

from core import metrics
from core.dispatches import dispatches
from core.events import log
from core.events.log import Cause, Emission
from core.spacing import Spacing, TrailingBound
from core.storage.db import Tx, run_together
from core.storage.multiquery import BoundStatement
from core.types import DispatchStatus
from workers.dispatch import failures, fair_share
from workers.dispatch.fair_share import Readied
from workers.dispatch.insertion import ready_waiting
from workers.dispatch.model import MOST_OVERRUNS, LedgerPolicy
from workers.dispatch.relay import DispatchRef

FIRST: Final = datetime(1, 1, 1, tzinfo=UTC)
"""Before any time at which something is due."""

SHARES: Final = 5
"""Tenants among which a sweep is shared at least."""


@dataclass(frozen=True, slots=True)
class Looks:
    """Bounds and intervals of a sweeping process: where it begins, and how often it reads all open dispatches."""

    owed: TrailingBound[datetime] = field(default_factory=lambda: TrailingBound(FIRST))
    ready: Spacing = field(default_factory=Spacing)
    glances: Spacing = field(default_factory=Spacing)


def due(tx: Tx, policy: LedgerPolicy, limit: int = 500, looks: Looks | None = None) -> list[DispatchRef]:
    """Return dispatches to send again: never begun, due for a retry, or with a lost worker.

    A dispatch whose worker died at every attempt becomes a dead letter, because it may be the cause. Each tenant gets
    its share of a sweep, and of what is sent. `looks`: of the process that sweeps again and again.
    """
    looks = looks or Looks()
    values = {"attempts": policy.attempts, "overruns": MOST_OVERRUNS, "share": limit // SHARES, "limit": limit}
    with looks.owed.look() as since:
        rows, ((began,),) = run_together(tx, (_OWED, values | {"since": since}), (_BEGAN, {}))
    if len(rows) < limit // SHARES:  # No tenant has more that is due.
        looks.owed.saw(began)
    readied: list[Readied] = []
    for row in rows:
        if row.overran:
            metrics.DISPATCH_OVERRUNS.labels(row.target).inc()
        if row.status == DispatchStatus.DEAD:
            emit_dead(tx, row, row.error)
            failures.count_dead(row.target, row.queue, failures.OVERRAN if row.overran else failures.LOST)
            readied += ready_waiting(tx, row)
        else:
            readied.append((row.tenant_id, row.queue, row.id))
    if looks.ready.is_due:
        with looks.ready.look():
            readied += fair_share.with_room(tx, policy.shares, fair_share.ready(tx))
    return fair_share.offer(tx, policy.shares, readied)


def expire(tx: Tx, limit: int = 500) -> int:
    """Cancel dispatches that nobody approved in time, with those after them; return how many. Clocks may share it."""
    rows = tx.execute(_EXPIRE, {"limit": limit}).all()
    for row in rows:
        metrics.DISPATCHES.labels(row.target, row.queue, DispatchStatus.CANCELLED).inc()
        dispatches.emit_approval(tx, row)
        dispatches.cancel_followers(tx, row)
    return len(rows)


def release(tx: Tx, policy: LedgerPolicy, limit: int = 500) -> list[DispatchRef]:
    """Release dispatches whose time has come. Several clocks may run it."""
    rows = tx.execute(_RELEASE, {"limit": limit}).all()
    for row in rows:
        metrics.DISPATCHES.labels(row.target, row.queue, DispatchStatus.PENDING).inc()
    return fair_share.offer(tx, policy.shares, [(row.tenant_id, row.queue, row.id) for row in rows])


def cancel_waiting(tx: Tx, tenant_id: str, lane: str, limit: int, reason: str) -> int:
    """Cancel all but the newest of the dispatches that wait in a lane; return how many.

    Those for which there is room, `limit` less what runs, are about to begin, and stay.
    """
    values = {"tenant": tenant_id, "lane": lane, "limit": limit, "reason": reason}
    rows = tx.execute(_CANCEL_WAITING, values).all()
    for row in rows:
        metrics.DISPATCHES.labels(row.target, row.queue, DispatchStatus.CANCELLED).inc()
        dispatches.cancel_followers(tx, row)
    return len(rows)


def emit_dead(tx: Tx, row: Any, reason: str) -> None:
    """Emit `dispatch.dead`."""
    if row.event_seq is None:
        return
    payload = {"dispatch_id": str(row.id), "target": row.target, "rule": row.rule, "reason": reason}
    event = dispatches.event_of(tx, row)
    emission = Emission("dispatch.dead", payload, subject=f"dispatch:{row.id}")
    log.emit(tx, row.tenant_id, Cause(event, row.id), [emission])


_CANCEL_WAITING = text("""
    WITH waiting AS (
        SELECT id, row_number() OVER (ORDER BY id) AS place, row_number() OVER (ORDER BY id DESC) AS newest
        FROM dispatches
        WHERE tenant_id = :tenant AND lane = :lane AND ended_at IS NULL
          AND status = 'pending' AND attempt = 0 AND after IS NULL
    )
    UPDATE dispatches d SET status = 'cancelled', wake_at = NULL, ended_at = clock_timestamp(), error = :reason
    FROM waiting w
    WHERE d.tenant_id = :tenant AND d.id = w.id AND d.status = 'pending' AND d.attempt = 0
      AND w.newest > 1 AND w.place > :limit - (
          SELECT count(*) FROM dispatches
          WHERE tenant_id = :tenant AND lane = :lane AND ended_at IS NULL AND status = 'running')
    RETURNING d.*
""")
"""A dispatch that follows another action of its rule belongs to a rule that has begun."""

NOW: Final[BoundStatement] = text("SELECT clock_timestamp() AS now, true AS expiring, true AS owing"), {}
"""Stands for a glance while that would read much that is dead: the sweeps themselves begin behind it."""

GLANCE: Final[BoundStatement] = (
    text("""
    SELECT clock_timestamp() AS now,
        EXISTS (SELECT FROM dispatches
                WHERE status = 'held' AND hold = 'approval' AND expires_at <= clock_timestamp()) AS expiring,
        EXISTS (SELECT FROM dispatches
                WHERE status = 'held' AND hold = 'time' AND expires_at <= clock_timestamp())
        OR EXISTS (SELECT FROM dispatches
                   WHERE status IN ('pending', 'running', 'retrying') AND wake_at IS NOT NULL)
        OR EXISTS (SELECT FROM dispatches WHERE status = 'pending' AND turn = 'ready') AS owing
"""),
    {},
)
"""Asks for the database's time, whether any approval has expired, and whether anything may be to be sent.

On an idle machine this is all that a turn asks of the ledger. `owing` does not compare `wake_at`, which no index has
first: one step says whether anything is open."""

_EXPIRE = text("""
    WITH due AS (
        SELECT tenant_id, id FROM dispatches
        WHERE status = 'held' AND hold = 'approval' AND expires_at <= statement_timestamp()
        ORDER BY expires_at LIMIT :limit FOR UPDATE SKIP LOCKED
    )
    UPDATE dispatches d SET
        status = 'cancelled', hold = NULL, ended_at = clock_timestamp(),
        error = 'Nobody approved it in time.',
        approval = coalesce(d.approval, '{}') || jsonb_build_object(
            'verdict', 'expired', 'by', 'clock', 'comment', NULL, 'at', clock_timestamp())
    FROM due WHERE d.tenant_id = due.tenant_id AND d.id = due.id
    RETURNING d.*
""")

_RELEASE = text("""
    WITH due AS (
        SELECT tenant_id, id FROM dispatches
        WHERE status = 'held' AND hold = 'time' AND expires_at <= statement_timestamp()
        ORDER BY expires_at LIMIT :limit FOR UPDATE SKIP LOCKED
    )
    UPDATE dispatches d SET status = 'pending', hold = NULL, turn = 'ready', wake_at = NULL
    FROM due WHERE d.tenant_id = due.tenant_id AND d.id = due.id
    RETURNING d.tenant_id, d.target, d.queue, d.id
""")

_BEGAN = text("SELECT now()")

_LOST = "CASE WHEN j.overran THEN 'deadline' ELSE 'worker' END"

UNDER_WAY: Final = "status IN ('pending', 'running', 'retrying')"

OVERRAN: Final = "(status = 'running' AND wake_at >= deadline_at)"
"""SQL: a lease that reaches the deadline of its attempt was renewed until the process was ended."""

LAST_ATTEMPT: Final = "(status = 'running' AND attempt >= :attempts)"
"""SQL: no further attempt follows."""

LAST_OVERRUN: Final = f"({OVERRAN} AND overruns + 1 >= :overruns)"
"""SQL: it would overrun again."""

_OWED = text(f"""
    WITH RECURSIVE moment AS MATERIALIZED (SELECT clock_timestamp() AS now), owing AS (
        (SELECT tenant_id FROM dispatches
         WHERE {UNDER_WAY}
           AND wake_at >= :since AND wake_at <= (SELECT now FROM moment) ORDER BY tenant_id LIMIT 1)
        UNION ALL
        SELECT n.tenant_id FROM owing, LATERAL (
            SELECT tenant_id FROM dispatches
            WHERE {UNDER_WAY}
              AND wake_at >= :since AND wake_at <= (SELECT now FROM moment) AND tenant_id > owing.tenant_id
            ORDER BY tenant_id LIMIT 1
        ) AS n
    ), due AS (
        SELECT d.* FROM (SELECT tenant_id FROM owing ORDER BY random()) AS o, LATERAL (
            SELECT tenant_id, id, {OVERRAN} AS overran, {LAST_ATTEMPT} AS hopeless, {LAST_OVERRUN} AS overran_last
            FROM dispatches
            WHERE tenant_id = o.tenant_id AND {UNDER_WAY}
              AND wake_at >= :since AND wake_at <= (SELECT now FROM moment)
            ORDER BY wake_at LIMIT :share FOR UPDATE SKIP LOCKED
        ) AS d LIMIT :limit
    ), judged AS (
        SELECT due.tenant_id, due.id, due.overran, CASE
            WHEN due.overran_last THEN
                d.target || ' took longer than it may, at each of ' || d.overruns + 1
                || ' attempts, and its process had to be ended.'
            WHEN due.hopeless THEN 'Its worker died or hung at each of ' || d.attempt || ' attempts.' END AS reason
        FROM due JOIN dispatches d ON d.tenant_id = due.tenant_id AND d.id = due.id
    )
    UPDATE dispatches d SET
        failures = CASE WHEN d.status = 'running' THEN {failures.WITH_ANOTHER.format(stage=_LOST, kind="NULL")}
                        ELSE failures END,
        status = CASE WHEN j.reason IS NULL THEN 'pending' ELSE 'dead' END,
        turn = CASE WHEN j.reason IS NULL THEN 'ready' END,
        ended_at = CASE WHEN j.reason IS NOT NULL THEN clock_timestamp() END,
        error = coalesce(j.reason, d.error),
        overruns = d.overruns + CASE WHEN j.overran THEN 1 ELSE 0 END,
        lease = NULL, wake_at = NULL, sends = d.sends + 1
    FROM judged j WHERE d.tenant_id = j.tenant_id AND d.id = j.id
    RETURNING d.*, j.overran
""")
"""Dispatches that should have been begun, finished or renewed by now, some of each tenant; SKIP LOCKED lets several
clocks share them."""
