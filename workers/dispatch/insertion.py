"""Inserts dispatches, and readies those that waited for another to end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import text

from core import metrics
from core.agents import NORMAL, PRIORITIES
from core.storage.db import Tx, recordset
from core.types import DispatchStatus
from workers.dispatch import failures, fair_share
from workers.dispatch.fair_share import FairShare, Readied
from workers.dispatch.model import NewDispatch
from workers.dispatch.relay import DispatchRef

BATCH_CHARACTERS = 16_000_000
"""Characters of new dispatches in one statement: PostgreSQL accepts no value of a gigabyte."""


def insert(tx: Tx, new: Sequence[NewDispatch], resend_s: float) -> list[DispatchRef]:
    """Insert dispatches and mark what may be sent; the last statement of its transaction (`fair_share.offer`)."""
    return fair_share.offer(tx, FairShare(resend_s), insert_rows(tx, new))


def insert_rows(tx: Tx, new: Sequence[NewDispatch]) -> list[Readied]:
    """Insert dispatches; return those that may be sent, for the offer that ends the transaction."""
    if not new:
        return []
    for rows in _batches(new):
        tx.execute(_INSERT, {"rows": rows})
    for d in new:
        if d.status is DispatchStatus.DEAD:
            failures.count_dead(d.target, d.queue, failures.REFUSED)
        else:
            metrics.DISPATCHES.labels(d.target, d.queue, d.status).inc()
    return [(d.tenant_id, d.queue, d.id) for d in new if d.status is DispatchStatus.PENDING]


def _batches(new: Sequence[NewDispatch]) -> Iterator[str]:
    """Yield the dispatches as JSON lists that are small enough for one statement."""
    batch, size = list[str](), 0
    for dispatch in new:
        values = {name: getattr(dispatch, name) for name in NewDispatch.__slots__}
        row = recordset([values | {"priority": PRIORITIES.get(dispatch.target, NORMAL)}])[1:-1]
        if batch and size + len(row) > BATCH_CHARACTERS:
            yield f"[{','.join(batch)}]"
            batch, size = [], 0
        batch.append(row)
        size += len(row)
    yield f"[{','.join(batch)}]"


_INSERT = text("""
    INSERT INTO dispatches (tenant_id, id, event_seq, root_seq, correlation_id, hop, rule, rule_version, action_type,
                            target, params, queue, alone, status, error, lineage, after, lane, lane_limit, hold,
                            expires_at, replay_id, priority, lists_others, trace, approval, turn, ended_at)
    SELECT tenant_id, id, event_seq, root_seq, correlation_id, hop, rule, rule_version, action_type,
           target, params, queue, alone, status, error, lineage, after, lane, lane_limit, hold, expires_at,
           replay_id, priority, lists_others, trace,
           CASE WHEN hold = 'approval' THEN jsonb_build_object('requested_at', clock_timestamp()) END,
           CASE WHEN status = 'pending' THEN 'ready' END,
           CASE WHEN status IN ('dead', 'shadow') THEN clock_timestamp() END
    FROM json_to_recordset(cast(:rows AS json)) AS d (
        tenant_id text, id uuid, event_seq bigint, root_seq bigint, correlation_id text, hop int, rule text,
        rule_version int, action_type text, target text, params jsonb, queue text, alone text, status text,
        error text, lineage text[], after uuid, lane text, lane_limit int, hold text, expires_at timestamptz,
        replay_id uuid, priority int, lists_others boolean, trace jsonb)
""")


def ready_waiting(tx: Tx, ended: Any) -> list[Readied]:
    """Ready the oldest dispatch that waited for this one to end, because that was exclusive or its lane was full."""
    rows: list[Any] = []
    if ended.alone is not None:
        rows += tx.execute(_WAITING_ALONE, {"tenant": ended.tenant_id, "alone": ended.alone})
    if ended.lane is not None:
        values = {"tenant": ended.tenant_id, "lane": ended.lane, "limit": ended.lane_limit}
        rows += tx.execute(_WAITING_IN_LANE, values)
    return [(ended.tenant_id, row.queue, row.id) for row in rows]


_WAITING_ALONE = text("""
    WITH oldest AS MATERIALIZED (
        SELECT id FROM dispatches WHERE tenant_id = :tenant AND alone = :alone AND status = 'pending'
        ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    UPDATE dispatches d SET turn = 'ready', wake_at = NULL FROM oldest WHERE d.tenant_id = :tenant AND d.id = oldest.id
    RETURNING d.id, d.queue
""")
"""A locked row is being claimed, and will find the place free; waiting for it would be a deadlock."""

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
"""As many as there is room for: another that ended at the same time may have readied the same one."""
