"""Insert dispatches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import text

from core import metrics
from core.storage.db import Tx, recordset
from core.types import DispatchStatus
from workers.dispatch import fair_share
from workers.dispatch.fair_share import Key, Shares
from workers.dispatch.model import NewDispatch
from workers.dispatch.relay import Owed

PARCEL_CHARACTERS = 16_000_000
"""How much of the new dispatches goes out in one statement: PostgreSQL takes no value of a gigabyte."""


def insert(tx: Tx, new: Sequence[NewDispatch], resend_s: float) -> list[Owed]:
    """Write dispatches and send what may be sent; the last thing in its transaction, as `turns.offer` says."""
    return fair_share.offer(tx, Shares(resend_s), write(tx, new))


def write(tx: Tx, new: Sequence[NewDispatch]) -> list[Key]:
    """Write dispatches; answers for which tenants and queues there is now something to send."""
    if not new:
        return []
    for rows in _batches(new):
        tx.execute(_INSERT, {"rows": rows})
    for d in new:
        metrics.DISPATCHES.labels(d.target, d.status).inc()
    return [(d.tenant_id, d.queue) for d in new if d.status is DispatchStatus.PENDING]


def _batches(new: Sequence[NewDispatch]) -> Iterator[str]:
    """Dispatches as JSON lists of a size that one statement can carry."""
    parcel, size = list[str](), 0
    for dispatch in new:
        row = recordset([{name: getattr(dispatch, name) for name in NewDispatch.__slots__}])[1:-1]
        if parcel and size + len(row) > PARCEL_CHARACTERS:
            yield f"[{','.join(parcel)}]"
            parcel, size = [], 0
        parcel.append(row)
        size += len(row)
    yield f"[{','.join(parcel)}]"


_INSERT = text("""
    INSERT INTO dispatches (tenant_id, id, event_seq, root_seq, correlation_id, hop, rule, rule_version, action_type,
                            target, params, queue, alone, status, error, lineage, after, lane, lane_limit, hold,
                            expires_at, approval, turn, ended_at)
    SELECT tenant_id, id, event_seq, root_seq, correlation_id, hop, rule, rule_version, action_type,
           target, params, queue, alone, status, error, lineage, after, lane, lane_limit, hold, expires_at,
           CASE WHEN hold = 'approval' THEN jsonb_build_object('requested_at', clock_timestamp()) END,
           CASE WHEN status = 'pending' THEN 'ready' END,
           CASE WHEN status IN ('dead', 'shadow') THEN clock_timestamp() END
    FROM json_to_recordset(cast(:rows AS json)) AS d (
        tenant_id text, id uuid, event_seq bigint, root_seq bigint, correlation_id text, hop int, rule text,
        rule_version int, action_type text, target text, params jsonb, queue text, alone text, status text,
        error text, lineage text[], after uuid, lane text, lane_limit int, hold text, expires_at timestamptz)
""")


def waiting(tx: Tx, ended: Any) -> list[Key]:
    """Make ready the oldest that waited for this one to end: because it ran alone, or because its lane was full."""
    rows: list[Any] = []
    if ended.alone is not None:
        rows += tx.execute(_WAITING_ALONE, {"tenant": ended.tenant_id, "alone": ended.alone})
    if ended.lane is not None:
        values = {"tenant": ended.tenant_id, "lane": ended.lane, "limit": ended.lane_limit}
        rows += tx.execute(_WAITING_IN_LANE, values)
    return [(ended.tenant_id, row.queue) for row in rows]


_WAITING_ALONE = text("""
    WITH oldest AS MATERIALIZED (
        SELECT id FROM dispatches WHERE tenant_id = :tenant AND alone = :alone AND status = 'pending'
        ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    UPDATE dispatches d SET turn = 'ready', wake_at = NULL FROM oldest WHERE d.tenant_id = :tenant AND d.id = oldest.id
    RETURNING d.id, d.queue
""")
"""One that is locked is being claimed, and will find the place free; to wait for it would be a deadlock."""


_WAITING_IN_LANE = text("""
    WITH oldest AS MATERIALIZED (
        SELECT id FROM dispatches WHERE tenant_id = :tenant AND lane = :lane AND ended_at IS NULL AND status = 'pending'
        ORDER BY id LIMIT greatest(0, :limit - (
            SELECT count(*) FROM dispatches
            WHERE tenant_id = :tenant AND lane = :lane AND ended_at IS NULL AND status = 'running'))
        FOR UPDATE SKIP LOCKED
    )
    UPDATE dispatches d SET turn = 'ready', wake_at = NULL FROM oldest WHERE d.tenant_id = :tenant AND d.id = oldest.id
    RETURNING d.id, d.queue
""")
"""As many as there is room for: one that ended at the same time may have called the same one."""
