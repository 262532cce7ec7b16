"""Replays of events: requesting, reading and cancelling them. A worker carries them out.

A replay is a row; `replay.requested` announces it. Its decisions are apart from those made as the events came.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy import text
from uuid_utils.compat import uuid7

from core import metrics
from core.dispatches import dispatches
from core.dispatches import queries as dispatch_queries
from core.errors import Conflict
from core.events import log
from core.events.log import Announcement
from core.events.publishing import Author
from core.settings.limits import LimitReached
from core.storage.db import Tx, required_row
from core.types import DispatchStatus, Event, Json

RETRY_SECONDS: Final = 10
"""Retry-After at the limit of concurrent replays: one takes seconds to minutes."""

Mode = Literal["shadow", "live"]


@dataclass(frozen=True, slots=True)
class NewReplay:
    """A replay to begin: number and extent of its events, positions in the log, and the parameters of the worker.

    `more`: more events match than it takes. `request`: digest of the idempotency key; None: the request had none.
    `fingerprint`: digest of what was asked for.
    """

    mode: Mode
    params: Json
    events: int
    after: int
    upto: int
    more: bool
    request: str | None
    fingerprint: str


@dataclass(frozen=True, slots=True)
class ReplayStanding:
    """State of a replay: its row, position of its event, its dispatches by status, why a running one stands still."""

    row: Any
    seq: int
    dispatches: Mapping[str, int]
    error: str | None


def request(tx: Tx, tenant_id: str, new: NewReplay, author: Author, *, limit: int) -> tuple[UUID, bool]:
    """Store a replay and announce it to the workers; return its id, and whether it is new.

    The same request again returns the same replay. Conflict: its key was used for another request. LimitReached:
    `limit` replays are running.
    """
    tx.execute(_LOCK, {"tenant": tenant_id})
    earlier = tx.execute(_OF_REQUEST, {"request": new.request}).one_or_none()
    if earlier is not None:
        if earlier.asked != new.fingerprint:
            raise Conflict("This Idempotency-Key was used for a different replay. Use a new key for a new one.")
        return earlier.id, False
    if tx.execute(_COUNT_RUNNING).scalar_one() >= limit:
        raise LimitReached("replays", limit, RETRY_SECONDS)
    replay_id = uuid7()
    values = {
        "tenant": tenant_id,
        "id": replay_id,
        "request": new.request,
        "mode": new.mode,
        "params": json.dumps({**new.params, "more": new.more, "asked": new.fingerprint}, ensure_ascii=False),
        "events": new.events,
        "after": new.after,
        "upto": new.upto,
        "author": json.dumps(author.as_json()),
    }
    tx.execute(_INSERT, values)
    payload = {"replay_id": str(replay_id), "mode": new.mode, "events": new.events, "requested_by": author.name}
    log.announce(tx, tenant_id, [Announcement(str(replay_id), "replay.requested", datetime.now(UTC), payload)])
    return replay_id, True


def is_known(tx: Tx, new: NewReplay) -> bool:
    """Return whether the request has begun a replay already."""
    return tx.execute(_OF_REQUEST, {"request": new.request}).first() is not None


def get(tx: Tx, replay_id: UUID) -> ReplayStanding:
    """Return the state of a replay, or raise NotFound."""
    row = required_row(tx, _GET, {"id": replay_id}, f"There is no replay {replay_id} in this tenant.")
    return _standing(tx, row)


def find(tx: Tx, *, after: UUID | None = None, limit: int = 50) -> Sequence[Any]:
    """Return rows of replays, newest first; `after`: the last id of the page before."""
    return tx.execute(_LIST, {"after": after, "limit": limit}).all()


def cancel(tx: Tx, replay_id: UUID, author: Author) -> ReplayStanding:
    """Cancel a replay with its dispatches that have not ended, and return it. What is done stays done.

    Cancelling again changes nothing. Conflict: it has ended, with all of its dispatches.
    """
    before = get(tx, replay_id)
    if before.row.status == "cancelled":
        return before
    # The row first: the worker locks it before it writes dispatches, so that none can follow.
    tx.execute(_LOCK_ROW, {"id": replay_id})
    reason = f"The replay was called off by {author.name}."
    ended = tx.execute(_CANCEL_DISPATCHES, {"id": replay_id, "error": reason}).all()
    for row in ended:
        metrics.DISPATCHES.labels(row.target, row.queue, DispatchStatus.CANCELLED).inc()
    for row in {(row.alone, row.lane): row for row in ended}.values():
        dispatches.wake_waiting(tx, row)
    if not tx.execute(_CANCEL, {"id": replay_id, "with_dispatches": bool(ended)}).rowcount:
        raise Conflict("The replay has ended, and so have its dispatches; there is nothing left to cancel.")
    return get(tx, replay_id)


@dataclass(frozen=True, slots=True)
class ReplayDecisions:
    """A replay that has decided on an event, with its decisions: rule, version, verdict, reason."""

    id: UUID
    mode: Mode
    status: str
    created_at: datetime
    rules: list[Json]


def of_event(tx: Tx, event: Event) -> Sequence[ReplayDecisions]:
    """Return the replays that have decided on an event, or made a dispatch on it, oldest first."""
    replays = dict[UUID, ReplayDecisions]()
    for row in tx.execute(_OF_EVENT, {"seq": event.seq}):
        replay = replays.setdefault(row.id, ReplayDecisions(row.id, row.mode, row.status, row.created_at, []))
        if row.rule is not None:
            names = ("rule", "version", "verdict", "reason")
            replay.rules.append({name: getattr(row, name) for name in names})
    return list(replays.values())


def _standing(tx: Tx, row: Any) -> ReplayStanding:
    seq = log.seqs_of(tx, [str(row.id)]).get(str(row.id), 0)
    by_status = {count.status: count.times for count in tx.execute(_BY_STATUS, {"id": row.id})}
    running = [seq] if row.status == "running" else []
    return ReplayStanding(
        row, seq, by_status, dispatch_queries.stopped(tx, running, "event_replayer", _NO_RULE).get(seq)
    )


_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended('replays of ' || :tenant, 0))")

_OF_REQUEST = text("SELECT id, params ->> 'asked' AS asked FROM replays WHERE request = :request")

_COUNT_RUNNING = text("SELECT count(*) FROM replays WHERE status = 'running'")

_INSERT = text("""
    INSERT INTO replays (tenant_id, id, request, mode, status, params, events, cursor, upto, author)
    VALUES (:tenant, :id, :request, :mode, 'running', cast(:params AS jsonb), :events, :after, :upto,
            cast(:author AS jsonb))
""")

_GET = text("SELECT * FROM replays WHERE id = :id")

_LIST = text("SELECT * FROM replays WHERE cast(:after AS uuid) IS NULL OR id < :after ORDER BY id DESC LIMIT :limit")

_BY_STATUS = text("SELECT status, count(*) AS times FROM dispatches WHERE replay_id = :id GROUP BY status")

_NO_RULE: Final = "No rule carries out `replay.requested`. Enable `replay_on_request`, then begin another replay."

_LOCK_ROW = text("SELECT FROM replays WHERE id = :id FOR UPDATE")

_CANCEL_DISPATCHES = text("""
    WITH open AS MATERIALIZED (
        SELECT id FROM dispatches
        WHERE replay_id = :id AND status IN ('held', 'pending', 'running', 'retrying') ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE dispatches d SET status = 'cancelled', hold = NULL, wake_at = NULL, lease = NULL,
                            ended_at = clock_timestamp(), error = :error
    FROM open WHERE d.id = open.id
    RETURNING d.tenant_id, d.target, d.queue, d.alone, d.lane
""")
"""Locked in the order of their ids, as others lock a dispatch and its followers."""

_CANCEL = text("""
    UPDATE replays SET status = 'cancelled', flow = NULL, ended_at = clock_timestamp()
    WHERE id = :id AND (status = 'running' OR :with_dispatches)
""")

_OF_EVENT = text("""
    SELECT r.id, r.mode, r.status, r.created_at, d.rule, d.version, d.verdict, d.reason
    FROM replays r LEFT JOIN replay_decisions d ON d.replay_id = r.id AND d.event_seq = :seq
    WHERE r.id IN (SELECT replay_id FROM replay_decisions WHERE event_seq = :seq
                   UNION SELECT replay_id FROM dispatches WHERE event_seq = :seq)
    ORDER BY r.id, d.rule
""")
