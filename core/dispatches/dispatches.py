"""Dispatches, as HTTP and workers share them: row, event, approval, followers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol
from uuid import UUID

from sqlalchemy import text

from core import metrics
from core.events import log
from core.events.log import Cause, Emission
from core.storage.db import Tx
from core.types import DispatchStatus, Event, Json

DECIDERS: Sequence[str] = ("rules", "admin")
"""A key with one of these scopes may approve or reject a dispatch that is held for approval."""


class Approvable(Protocol):
    """Summary of a dispatch that waits for approval, whether it is stored yet or not."""

    @property
    def tenant_id(self) -> str: ...
    @property
    def id(self) -> UUID: ...
    @property
    def rule(self) -> str | None: ...
    @property
    def rule_version(self) -> int | None: ...
    @property
    def target(self) -> str: ...
    @property
    def expires_at(self) -> datetime | None: ...


class DispatchRow(Approvable, Protocol):
    """A row of `dispatches`: the columns that are read here."""

    event_seq: int | None
    root_seq: int
    correlation_id: str
    hop: int
    alone: str | None
    lane: str | None
    lineage: Sequence[str]
    approval: Json | None
    error: str | None


def event_of(tx: Tx, dispatch: DispatchRow) -> Event:
    """Return the event that a dispatch reacts to, with the chain of the dispatch.

    The chain of a dispatch that gathered several events begins at the first of them.
    """
    if dispatch.event_seq is None:
        raise ValueError(f"Dispatch {dispatch.id} reacts to no event.")
    # By tenant: the router's role sees all, and a tenant that was moved brings its positions from another database.
    position = dispatch.tenant_id, dispatch.event_seq
    return in_chain(log.gathered(tx, {position: True})[position], dispatch)


def in_chain(event: Event, dispatch: DispatchRow) -> Event:
    """Return the event of a dispatch in the chain of the dispatch."""
    return replace(
        event,
        root_seq=dispatch.root_seq,
        correlation_id=dispatch.correlation_id,
        hop=dispatch.hop,
        lineage=tuple(dispatch.lineage),
    )


def ask_for_approval(tx: Tx, dispatch: Approvable, event: Event, displayed: Json) -> None:
    """Emit `approval.requested` for a dispatch that waits for one; `displayed`: its parameters as they are shown."""
    payload = {
        "dispatch_id": str(dispatch.id),
        "rule": dispatch.rule,
        "version": dispatch.rule_version,
        "target": dispatch.target,
        "params": displayed,
        "expires_at": dispatch.expires_at and dispatch.expires_at.isoformat(),
        "may_decide": {"scopes": list(DECIDERS)},
    }
    emission = Emission("approval.requested", payload, subject=f"dispatch:{dispatch.id}")
    log.emit(tx, dispatch.tenant_id, Cause(event, dispatch.id), [emission])


def emit_approval(tx: Tx, dispatch: DispatchRow) -> None:
    """Emit `approval.decided` for a dispatch that was held for approval, in the chain of its event."""
    if dispatch.event_seq is None or dispatch.approval is None:
        return
    approval = dispatch.approval
    payload = {
        "dispatch_id": str(dispatch.id),
        "rule": dispatch.rule,
        "verdict": approval["verdict"],
        "by": approval["by"],
        "comment": approval["comment"],
    }
    emission = Emission("approval.decided", payload, subject=f"dispatch:{dispatch.id}")
    log.emit(tx, dispatch.tenant_id, Cause(event_of(tx, dispatch), dispatch.id), [emission])


def cancel_followers(tx: Tx, dispatch: DispatchRow) -> None:
    """Cancel all held dispatches that had to follow a cancelled one, directly or not, with the reason."""
    reason = f"{dispatch.target} ({dispatch.id}), which had to be done first, was cancelled: {dispatch.error}"
    values = {"tenant": dispatch.tenant_id, "id": dispatch.id, "error": reason}
    for row in tx.execute(_CANCEL_FOLLOWERS, values):
        metrics.DISPATCHES.labels(row.target, row.queue, DispatchStatus.CANCELLED).inc()


def wake_waiting(tx: Tx, ended: DispatchRow) -> None:
    """Make the oldest dispatch due that waits for the key or lane of one that was ended from outside."""
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
    RETURNING d.target, d.queue
""")

_WAKE_WAITING = text("""
    WITH oldest AS MATERIALIZED (
        SELECT id FROM dispatches
        WHERE tenant_id = :tenant AND status = 'pending' AND turn IS NULL AND (alone = :alone OR lane = :lane)
        ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    UPDATE dispatches d SET wake_at = clock_timestamp() FROM oldest WHERE d.tenant_id = :tenant AND d.id = oldest.id
""")
