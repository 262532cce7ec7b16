"""Dispatch helpers shared by HTTP and workers: cause, approval event, cancelling followers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import text

from core import metrics
from core.events import log
from core.events.log import Cause, Emission
from core.storage.db import Tx
from core.types import DispatchStatus, Event

DECIDERS: Sequence[str] = ("rules", "admin")
"""Keys with one of these scopes may say yes or no to a dispatch that is held for approval."""


def event_of(tx: Tx, dispatch: Any) -> Event:
    """The event a dispatch reacts to, in the chain of the dispatch: one that gathered several begins at the first."""
    event = log.at(tx, dispatch.event_seq)
    return replace(
        event,
        root_seq=dispatch.root_seq,
        correlation_id=dispatch.correlation_id,
        hop=dispatch.hop,
        lineage=tuple(dispatch.lineage),
    )


def tell_verdict(tx: Tx, dispatch: Any) -> None:
    """Say aloud, in the chain of its cause, what was decided about a dispatch that was held for approval."""
    if dispatch.event_seq is None:
        return
    said = dispatch.approval
    payload = {
        "dispatch_id": str(dispatch.id),
        "rule": dispatch.rule,
        "verdict": said["verdict"],
        "by": said["by"],
        "comment": said["comment"],
    }
    emission = Emission("approval.decided", payload, subject=f"dispatch:{dispatch.id}")
    log.emit(tx, dispatch.tenant_id, Cause(event_of(tx, dispatch), dispatch.id), [emission])


def cancel_followers(tx: Tx, dispatch: Any) -> None:
    """Cancel every action that a cancelled one had to come before, and those behind them, with the reason."""
    reason = f"{dispatch.target} ({dispatch.id}), which had to be done first, was cancelled: {dispatch.error}"
    values = {"tenant": dispatch.tenant_id, "id": dispatch.id, "error": reason}
    for row in tx.execute(_CANCEL_FOLLOWERS, values):
        metrics.DISPATCHES.labels(row.target, DispatchStatus.CANCELLED).inc()


def wake_waiting(tx: Tx, ended: Any) -> None:
    """Have the clock look at once at what waits for the place of a dispatch that was ended from outside."""
    if ended.alone is not None or ended.lane is not None:
        values = {"tenant": ended.tenant_id, "alone": ended.alone, "lane": ended.lane}
        tx.execute(_WAKE_WAITING, values)


_CANCEL_FOLLOWERS = text("""
    WITH RECURSIVE followers AS (
        SELECT id FROM dispatches WHERE tenant_id = :tenant AND after = :id AND status = 'held'
        UNION
        SELECT d.id FROM dispatches d JOIN followers f ON d.after = f.id
        WHERE d.tenant_id = :tenant AND d.status = 'held'
    )
    UPDATE dispatches d SET status = 'cancelled', hold = NULL, ended_at = clock_timestamp(), error = :error
    FROM followers f WHERE d.tenant_id = :tenant AND d.id = f.id AND d.status = 'held'
    RETURNING d.target
""")

_WAKE_WAITING = text("""
    WITH oldest AS MATERIALIZED (
        SELECT id FROM dispatches
        WHERE tenant_id = :tenant AND status = 'pending' AND turn IS NULL AND (alone = :alone OR lane = :lane)
        ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    UPDATE dispatches d SET wake_at = clock_timestamp() FROM oldest WHERE d.tenant_id = :tenant AND d.id = oldest.id
""")
