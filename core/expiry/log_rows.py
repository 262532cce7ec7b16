"""Removes events, decisions and dispatches that have been kept for as long as they should, in the order of the log.

A sweep begins at the oldest row and ends at the first that is too young, so that it reads what leaves, and what must
stay of that age: what there is work on, dead letters, and events of messages that are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from core.events import expiries
from core.events.expiries import Kind, Removed
from core.storage.db import Tx, first_id
from core.tenancy.retention import Retention

ROWS: Final = 1_000
"""Rows read, and removed, in one transaction."""


@dataclass(frozen=True, slots=True)
class RemovedPage:
    """Rows removed, by kind, and the last row that was read; None: there is nothing more to read."""

    counts: Counter[str]
    last: str | None


def remove_dispatches(tx: Tx, tenant_id: str, retention: Retention, after: str | None) -> RemovedPage:
    """Remove finished dispatches behind one; what they have paid for keeps their rule and agent."""
    now = _now(tx)
    cutoff = now - timedelta(days=retention.traces_days or 0)
    values = {
        "after": UUID(after) if after else UUID(int=0),
        "end": first_id(cutoff),
        "cutoff": cutoff,
        "dead_cutoff": _dead_cutoff(now, retention),
        "rows": ROWS,
    }
    read = tx.execute(_DISPATCHES, values).all()
    gone = [row for row in read if row.leaves]
    if gone:
        values = {"ids": [row.id for row in gone]}
        tx.execute(_SIGN_CALLS, values)
        tx.execute(_DELETE_DISPATCHES, values)
    return _page(read, len(read), "id", _record(tx, tenant_id, "dispatches", gone))


def remove_decisions(tx: Tx, tenant_id: str, retention: Retention, after: str | None) -> RemovedPage:
    """Remove decisions on the events behind a position in the log."""
    cutoff = _now(tx) - timedelta(days=retention.traces_days or 0)
    values = {"after": int(after or 0), "cutoff": cutoff, "rows": ROWS}
    read = tx.execute(_DECISIONS, values).all()
    gone, counts = [row for row in read if row.leaves], Counter[str]()
    if gone:
        deleted = tx.execute(_DELETE_DECISIONS, {"seqs": [row.seq for row in gone], "cutoff": cutoff}).all()
        counts = _record(tx, tenant_id, "decisions", deleted)
    return _page(read, sum(row.decisions for row in read), "seq", counts)


def remove_replays(tx: Tx, tenant_id: str, retention: Retention, _after: str | None) -> RemovedPage:
    """Remove replays that have ended, after their decisions."""
    cutoff = _now(tx) - timedelta(days=retention.traces_days or 0)
    decided = tx.execute(_DELETE_REPLAYED, {"cutoff": cutoff, "rows": ROWS}).all()
    if len(decided) < ROWS:
        tx.execute(_DELETE_REPLAYS, {"cutoff": cutoff})
    return RemovedPage(_record(tx, tenant_id, "decisions", decided), "" if len(decided) == ROWS else None)


def remove_bulk_jobs(tx: Tx, _tenant_id: str, retention: Retention, _after: str | None) -> RemovedPage:
    """Remove bulk jobs that have ended, after their rows."""
    cutoff = _now(tx) - timedelta(days=retention.traces_days or 0)
    gone = tx.execute(_DELETE_BULK_ROWS, {"cutoff": cutoff, "rows": ROWS}).rowcount
    if gone < ROWS:
        tx.execute(_DELETE_BULK_JOBS, {"cutoff": cutoff})
    return RemovedPage(Counter(), "" if gone == ROWS else None)


def remove_queries(tx: Tx, tenant_id: str, retention: Retention, _after: str | None) -> RemovedPage:
    """Remove the queries from `memory.recalled`, like messages by whole days of UTC.

    The record says up to when there are none, so that no day is read twice.
    """
    today = _now(tx).astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    cutoff = today - timedelta(days=retention.queries_days or 0)
    since = expiries.newest(tx, "queries") or _EARLIEST
    if since >= cutoff:
        return RemovedPage(Counter(), None)
    gone = tx.execute(_WITHOUT_QUERIES, {"since": since, "cutoff": cutoff, "rows": ROWS}).rowcount
    done = gone < ROWS
    expiries.record(tx, tenant_id, Removed("queries", gone, cutoff if done else since))
    return RemovedPage(Counter({"queries": gone} if gone else {}), None if done else "")


def remove_events(tx: Tx, tenant_id: str, retention: Retention, after: str | None) -> RemovedPage:
    """Remove events behind a position in the log, with the finished dispatches and the decisions that they led to."""
    now = _now(tx)
    values = {
        "after": int(after or 0),
        "cutoff": now - timedelta(days=retention.events_days or 0),
        "dead_cutoff": _dead_cutoff(now, retention),
        "rows": ROWS,
    }
    read = tx.execute(_EVENTS, values).all()
    counts = _remove_events(tx, tenant_id, [row for row in read if row.leaves], values)
    return _page(read, len(read), "seq", counts)


def count_events(tx: Tx, retention: Retention, most: int) -> int:
    """Count events that are old enough to leave, at most `most`."""
    if retention.events_days is None:
        return 0
    values = {"cutoff": _now(tx) - timedelta(days=retention.events_days), "most": most}
    return int(tx.execute(_OLD_EVENTS, values).scalar_one())


def count_dispatches(tx: Tx, retention: Retention, most: int) -> int:
    """Count finished dispatches that are old enough to leave, at most `most`."""
    if retention.traces_days is None:
        return 0
    now = _now(tx)
    cutoff = now - timedelta(days=retention.traces_days)
    values = {"end": first_id(cutoff), "cutoff": cutoff, "dead_cutoff": _dead_cutoff(now, retention), "most": most}
    return int(tx.execute(_OLD_DISPATCHES, values).scalar_one())


def _remove_events(tx: Tx, tenant_id: str, gone: Sequence[Any], values: dict[str, Any]) -> Counter[str]:
    """Remove events with their traces, except those whose dispatches somebody has just begun to repeat."""
    if not gone:
        return Counter()
    traces = tx.execute(_TRACES, values | {"seqs": [row.seq for row in gone]}).all()
    begun = {row.event_seq for row in traces if not row.has_ended}
    gone = [row for row in gone if row.seq not in begun]
    ids = {"ids": [row.id for row in traces if row.event_seq not in begun]}
    seqs = {"seqs": [row.seq for row in gone], "cutoff": None}
    tx.execute(_SIGN_CALLS, ids)
    dispatches = tx.execute(_DELETE_DISPATCHES, ids).all()
    decisions = [*tx.execute(_DELETE_DECISIONS, seqs).all(), *tx.execute(_DELETE_REPLAYED_EVENTS, seqs).all()]
    tx.execute(_DELETE_EVENTS, seqs)
    return (
        _record(tx, tenant_id, "dispatches", dispatches)
        + _record(tx, tenant_id, "decisions", decisions)
        + _record(tx, tenant_id, "events", gone)
    )


def _page(read: Sequence[Any], rows: int, key: str, counts: Counter[str]) -> RemovedPage:
    """Return what left, and where to go on if as many rows as are read at once were old enough."""
    return RemovedPage(counts, str(getattr(read[-1], key)) if rows == ROWS else None)


def _record(tx: Tx, tenant_id: str, kind: Kind, gone: Sequence[Any]) -> Counter[str]:
    if not gone:
        return Counter()
    position = (None, None)
    if kind == "events":
        position = max((row.written_in, row.seq) for row in gone)
    expiries.record(tx, tenant_id, Removed(kind, len(gone), max(row.at for row in gone), *position))
    return Counter({kind: len(gone)})


def _now(tx: Tx) -> datetime:
    now: datetime = tx.execute(text("SELECT clock_timestamp()")).scalar_one()
    return now


def _dead_cutoff(now: datetime, retention: Retention) -> datetime | None:
    return None if retention.dead_letters_days is None else now - timedelta(days=retention.dead_letters_days)


_EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)

_WITHOUT_QUERIES = text("""
    UPDATE events SET payload = payload - 'queries' || '{"expired": true}' WHERE seq IN (
        SELECT seq FROM events
        WHERE time >= :since AND time < :cutoff AND event_type = 'memory.recalled' AND source = 'imprint'
          AND jsonb_exists(payload, 'queries') LIMIT :rows)
""")

_FINISHED: Final = """
    (d.status IN ('done', 'cancelled', 'shadow') AND d.ended_at IS NOT NULL
     OR d.status = 'dead' AND coalesce(d.ended_at < cast(:dead_cutoff AS timestamptz), false))
    AND NOT EXISTS (SELECT FROM dispatches f WHERE f.after = d.id AND f.ended_at IS NULL)
"""
"""Condition that a dispatch has ended, and no other waits for it."""

_DISPATCHES = text(f"""
    SELECT d.id, least(d.created_at, d.ended_at) AS at,
           d.ended_at < :cutoff AND {_FINISHED} AS leaves
    FROM dispatches d WHERE d.id > :after AND d.id < :end ORDER BY d.id LIMIT :rows
""")
"""By the primary key, which is in the order of time."""

_SIGN_CALLS = text("""
    UPDATE model_calls c SET rule = d.rule, target = d.target FROM dispatches d
    WHERE d.id = ANY(:ids) AND c.dispatch_id = d.id AND c.target IS NULL
""")
"""Fills in rule and agent of older calls: newer ones are recorded with both."""

_DELETE_DISPATCHES = text("""
    DELETE FROM dispatches WHERE id = ANY(:ids) AND ended_at IS NOT NULL RETURNING created_at AS at
""")

_TRACES = text(f"""
    SELECT d.id, d.event_seq, {_FINISHED} AS has_ended FROM dispatches d
    WHERE d.event_seq = ANY(cast(:seqs AS bigint[])) ORDER BY d.id FOR UPDATE
""")

_DECISIONS = text("""
    SELECT c.event_seq AS seq, count(*) AS decisions, NOT EXISTS (
               SELECT FROM dispatches d
               WHERE d.event_seq = c.event_seq AND (d.ended_at IS NULL OR d.status = 'dead')) AS leaves
    FROM (SELECT * FROM decisions WHERE event_seq > :after ORDER BY event_seq LIMIT :rows) AS c
    WHERE c.at < :cutoff GROUP BY c.event_seq ORDER BY c.event_seq
""")

_DELETE_DECISIONS = text("""
    DELETE FROM decisions WHERE event_seq = ANY(cast(:seqs AS bigint[]))
      AND (cast(:cutoff AS timestamptz) IS NULL OR at < :cutoff) RETURNING at
""")

_DELETE_REPLAYED = text("""
    WITH gone AS (
        DELETE FROM replay_decisions WHERE (replay_id, event_seq, rule) IN (
            SELECT c.replay_id, c.event_seq, c.rule FROM replays r JOIN replay_decisions c ON c.replay_id = r.id
            WHERE r.ended_at < :cutoff LIMIT :rows)
        RETURNING replay_id)
    SELECT r.ended_at AS at FROM gone JOIN replays r ON r.id = gone.replay_id
""")

_DELETE_REPLAYED_EVENTS = text("""
    WITH gone AS (DELETE FROM replay_decisions WHERE event_seq = ANY(cast(:seqs AS bigint[])) RETURNING replay_id)
    SELECT r.created_at AS at FROM gone JOIN replays r ON r.id = gone.replay_id
""")

_DELETE_REPLAYS = text("""
    DELETE FROM replays r
    WHERE r.ended_at < :cutoff AND NOT EXISTS (SELECT FROM replay_decisions c WHERE c.replay_id = r.id)
""")

_DELETE_BULK_ROWS = text("""
    DELETE FROM bulk_rows WHERE (job_id, place) IN (
        SELECT r.job_id, r.place FROM bulk_jobs j JOIN bulk_rows r ON r.job_id = j.id
        WHERE j.ended_at < :cutoff LIMIT :rows)
""")

_DELETE_BULK_JOBS = text("""
    DELETE FROM bulk_jobs j
    WHERE j.ended_at < :cutoff AND NOT EXISTS (SELECT FROM bulk_rows r WHERE r.job_id = j.id)
""")

_SPOKEN_AND_KEPT: Final = """
    (e.event_type IN ('message.added', 'tool.result.added') AND NOT jsonb_exists_any(e.payload, '{expired, erased}')
     AND EXISTS (SELECT FROM sessions s WHERE s.id = e.session_id AND s.oldest_at IS NOT NULL))
"""
"""Condition that an event brought a message that is kept: it knows when the message came, and repeats of it."""

_ON_RECORD: Final = """
    (e.event_type IN ('session.erased', 'document.deleted', 'memory.erased') AND e.source = 'imprint'
     AND e.received_at > clock_timestamp() - interval '15 days')
"""
"""Condition that an event says what was erased, and a record may yet be made of it (`core.erasure.ledger`)."""

_EVENTS = text(f"""
    SELECT e.seq, e.written_in, least(e.time, e.received_at) AS at,
           e.routed_at IS NOT NULL AND NOT {_SPOKEN_AND_KEPT} AND NOT {_ON_RECORD}
           AND NOT EXISTS (SELECT FROM dispatches d WHERE d.event_seq = e.seq AND NOT ({_FINISHED}))
           AND NOT EXISTS (SELECT FROM dispatches d
                           WHERE d.root_seq = e.seq AND d.status IN ('pending', 'running', 'retrying'))
           AND NOT EXISTS (SELECT FROM dispatches d WHERE d.root_seq = e.seq AND d.status = 'held')
           AND e.seq NOT IN (SELECT coalesce(u.root_seq, u.seq) FROM events u WHERE u.routed_at IS NULL)
           AND e.seq NOT IN (SELECT unnest(f.event_seqs || f.root_seq) FROM flows f) AS leaves
    FROM (SELECT * FROM events WHERE seq > :after ORDER BY seq LIMIT :rows) AS e
    WHERE e.received_at < :cutoff ORDER BY e.seq
""")
"""Of the oldest rows those that are old enough, so that nothing is asked about any other."""

_OLD_EVENTS = text("""
    SELECT count(*) FROM (SELECT received_at FROM events ORDER BY seq LIMIT :most) AS oldest
    WHERE received_at < :cutoff
""")

_OLD_DISPATCHES = text(f"""
    SELECT count(*) FROM (SELECT * FROM dispatches WHERE id < :end ORDER BY id LIMIT :most) AS d
    WHERE d.ended_at < :cutoff AND {_FINISHED}
""")

_DELETE_EVENTS = text("DELETE FROM events WHERE seq = ANY(cast(:seqs AS bigint[]))")
