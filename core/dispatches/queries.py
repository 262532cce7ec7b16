"""Dispatches as the HTTP API and a trace show them: one, a page of them, those of an event, who may decide one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from core.dispatches.dispatches import DECIDERS
from core.errors import NotFound
from core.storage import bounded_rows
from core.storage.db import Tx
from core.types import Event

OUTBOUND: Final = ("webhook", "notify", "celery")
"""Types of action that send something to the outside."""

SEARCHED: Final = 5_000
"""Deliveries that one page looks through."""

GATHER_EVENTS: Final = 100_000
"""Number of later events searched for a flow that gathered an event."""


@dataclass(frozen=True, slots=True)
class DispatchFilter:
    """Filter of dispatches; None: any."""

    status: str | None = None
    rule: str | None = None
    target: str | None = None
    hold: str | None = None
    replay_id: UUID | None = None
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class Decider:
    """A key that may decide about a dispatch."""

    id: str
    name: str | None
    scopes: Sequence[str]


def find(tx: Tx, criteria: DispatchFilter, *, after: UUID | None = None, limit: int = 50) -> Sequence[Any]:
    """Return dispatches with the id and type of their event, newest first; `after`: the last id of the page before."""
    return tx.execute(_LIST, asdict(criteria) | {"after": after, "limit": limit}).all()


def page(
    tx: Tx, criteria: DispatchFilter, *, after: UUID | None = None, limit: int = 50
) -> tuple[Sequence[Any], UUID | None]:
    """Return as many of the same as a page has room for, and the id that the next begins after; None: there is none."""
    rows, is_cut = bounded_rows.read(tx, _LIST, asdict(criteria) | {"after": after, "limit": limit})
    return rows, rows[-1].id if is_cut or len(rows) == limit else None


def get(tx: Tx, dispatch_id: UUID) -> Any:
    """Return a dispatch with the id and type of its event, or raise NotFound."""
    row = find_one(tx, dispatch_id)
    if row is None:
        raise NotFound(f"There is no dispatch {dispatch_id} in this tenant.")
    return row


def find_one(tx: Tx, dispatch_id: UUID | None) -> Any:
    """Return a dispatch with the id and type of its event, or None."""
    return tx.execute(_GET, {"id": dispatch_id}).one_or_none()


def of_event(tx: Tx, event: Event) -> Sequence[Any]:
    """Return the dispatches an event caused, itself or as one of those that a debounce or a count had gathered."""
    values = {"seq": event.seq, "until": event.seq + GATHER_EVENTS, "id": event.id}
    return tx.execute(_OF_EVENT, values).all()


def stopped(tx: Tx, seqs: Sequence[int], target: str, no_rule: str) -> dict[int, str]:
    """Return why an agent does not carry out what these events request; `no_rule`: what is said where no rule does."""
    rows = tx.execute(_STOPPED, {"seqs": list(seqs), "target": target, "no_rule": no_rule}) if seqs else ()
    return {row.seq: row.error for row in rows}


def deliveries(
    tx: Tx, rule: str | None, status: str | None, *, after: UUID | None = None, limit: int = 50
) -> tuple[Sequence[Any], UUID | None]:
    """Return what was sent to the outside, newest first, and where to go on.

    Filters look through `SEARCHED` rows at a time, so that a page may be short and yet not be the last.
    """
    values = {"rule": rule, "status": status, "after": after, "limit": limit, "searched": SEARCHED}
    rows, is_cut = bounded_rows.read(tx, _DELIVERIES, values)
    if is_cut or len(rows) == limit:
        return rows, rows[-1].id
    bounds = tx.execute(_SEARCHED_TO, {"after": after, "searched": SEARCHED}).one()
    return rows, bounds.last if bounds.seen == SEARCHED else None


def held_about(tx: Tx, target: str, memory_ids: Sequence[UUID]) -> dict[UUID, list[UUID]]:
    """Return by memory the dispatches to an agent that wait for approval and whose event is about it, oldest first.

    Of those that wait, the newest `SEARCHED` are looked through.
    """
    subjects = {f"memory:{memory_id}": memory_id for memory_id in memory_ids}
    values = {"target": target, "subjects": list(subjects), "searched": SEARCHED}
    held: dict[UUID, list[UUID]] = {}
    for row in tx.execute(_HELD_ABOUT, values):
        held.setdefault(subjects[row.subject], []).append(row.id)
    return held


def deciders(tx: Tx) -> list[Decider]:
    """Return the keys that may decide about a dispatch held for approval."""
    return [Decider(row.id, row.name, row.scopes) for row in tx.execute(_DECIDERS, {"scopes": list(DECIDERS)})]


_GET = text("""
    SELECT d.*, e.id AS event_id, e.event_type, edited.id AS edited_as FROM dispatches d
    LEFT JOIN events e ON e.tenant_id = d.tenant_id AND e.seq = d.event_seq
    LEFT JOIN dispatches edited ON edited.tenant_id = d.tenant_id AND edited.edit_of = d.id
    WHERE d.id = :id
""")

_LIST = text("""
    SELECT d.*, e.id AS event_id, e.event_type FROM dispatches d
    LEFT JOIN events e ON e.tenant_id = d.tenant_id AND e.seq = d.event_seq
    WHERE (cast(:status AS text) IS NULL OR d.status = :status) AND (cast(:rule AS text) IS NULL OR d.rule = :rule)
      AND (cast(:target AS text) IS NULL OR d.target = :target) AND (cast(:hold AS text) IS NULL OR d.hold = :hold)
      AND (cast(:replay_id AS uuid) IS NULL OR d.replay_id = :replay_id)
      AND (cast(:fingerprint AS text) IS NULL OR d.status = 'dead' AND d.fingerprint = :fingerprint)
      AND (cast(:after AS uuid) IS NULL OR d.id < :after) AND d.root_seq >= 0
    ORDER BY d.id DESC LIMIT :limit
""")
"""The last condition always holds: lists of open dispatches take the index of these (`dispatches_open`)."""

_SENT = "action_type IN ('webhook', 'notify', 'celery') AND (cast(:after AS uuid) IS NULL OR id < :after)"

_DELIVERIES = text(f"""
    SELECT d.*, e.id AS event_id, e.event_type
    FROM (SELECT * FROM dispatches WHERE {_SENT} ORDER BY id DESC LIMIT :searched) AS d
    LEFT JOIN events e ON e.tenant_id = d.tenant_id AND e.seq = d.event_seq
    WHERE (cast(:rule AS text) IS NULL OR d.rule = :rule) AND (cast(:status AS text) IS NULL OR d.status = :status)
    ORDER BY d.id DESC LIMIT :limit
""")

_SEARCHED_TO = text(f"""
    SELECT count(*) AS seen, (array_agg(id ORDER BY id))[1] AS last
    FROM (SELECT id FROM dispatches WHERE {_SENT} ORDER BY id DESC LIMIT :searched) AS d
""")

_OF_EVENT = text("""
    SELECT * FROM dispatches
    WHERE event_seq = :seq OR (event_seq > :seq AND event_seq <= :until AND jsonb_exists(params -> 'gathered', :id))
    ORDER BY id
""")

_STOPPED = text("""
    SELECT event_seq AS seq, error FROM dispatches
    WHERE event_seq = ANY(:seqs) AND target = :target AND status IN ('dead', 'cancelled')
    UNION ALL
    SELECT e.seq, cast(:no_rule AS text) FROM events e
    WHERE e.seq = ANY(:seqs) AND e.routed_at IS NOT NULL
      AND NOT EXISTS (SELECT FROM dispatches d WHERE d.event_seq = e.seq)
""")

_HELD_ABOUT = text("""
    SELECT d.id, e.subject
    FROM (SELECT * FROM dispatches WHERE hold = 'approval' ORDER BY id DESC LIMIT :searched) AS d
    CROSS JOIN LATERAL (
        SELECT e.subject FROM events e WHERE e.tenant_id = d.tenant_id AND e.seq = d.event_seq LIMIT 1) AS e
    WHERE d.target = :target AND e.subject = ANY(:subjects)
    ORDER BY d.id
""")
"""Event by event: a join might look for the subjects in the whole log, where no index has them."""

_DECIDERS = text("""
    SELECT id, name, scopes FROM api_keys
    WHERE revoked_at IS NULL AND scopes && cast(:scopes AS text[]) ORDER BY id
""")
