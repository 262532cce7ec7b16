"""Figures of a live page: lag, work under way, freshness, processes, and what needs a person.

It is asked every few seconds on installations of any size: every figure comes from an index, and counts end at `MOST`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import text

from core.agents import EXTRACTORS
from core.events.log import OPEN_DISPATCH
from core.maintenance.heartbeat import REQUIRED_PROCESSES, STALE_SECONDS, processes_by_queue
from core.storage.db import Tx

MOST: Final = 1_000
"""Rows of one kind that are counted; a page says "1,000 or more"."""

LOOKED_BACK: Final = 1_000
"""Latest dispatches among which the last extraction is looked for."""


@dataclass(frozen=True, slots=True)
class Count:
    """A number of rows; `more`: there may be others."""

    count: int
    more: bool = False


@dataclass(frozen=True, slots=True)
class Lag:
    """Events that the router has not read. `seconds`: how long the oldest has waited."""

    waiting: Count
    oldest_at: datetime | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Work:
    """Dispatches by status; `more`: of those that wait or run, only some were counted."""

    pending: int
    running: int
    retrying: int
    more: bool
    held: Count
    dead: Count


@dataclass(frozen=True, slots=True)
class Freshness:
    """Times when the last event came, the last memory was made, and the last extraction ended.

    `unindexed`: sessions with messages that are not searchable yet.
    """

    event_at: datetime | None
    memory_at: datetime | None
    extracted_at: datetime | None
    unindexed: Count


@dataclass(frozen=True, slots=True)
class Process:
    """A kind of process, and when one of them last said that it works."""

    name: str
    alive: bool
    seen_at: datetime | None


@dataclass(frozen=True, slots=True)
class NeedsPerson:
    """Counts of what waits for a person. `endpoints`: addresses that are disabled because they failed for days."""

    approvals: Count
    dead: Count
    disputed: Count
    quarantined: Count
    endpoints: Count


@dataclass(frozen=True, slots=True)
class Glance:
    """The state of a tenant's memory, and of the processes that all tenants share."""

    at: datetime
    router: Lag
    dispatches: Work
    freshness: Freshness
    processes: Sequence[Process]
    workers: Mapping[str, int]
    needs_person: NeedsPerson


def of(tx: Tx) -> Glance:
    """Return the state of the tenant now."""
    row = tx.execute(_GLANCE, {"most": MOST, "back": LOOKED_BACK, "extractors": sorted(EXTRACTORS)}).one()
    open_: dict[str, int] = {count.status: count.n for count in tx.execute(_OPEN, {"most": MOST})}
    dead = _count(row.dead)
    return Glance(
        row.now,
        Lag(_count(row.waiting), row.oldest_at, round(row.lag, 3)),
        Work(
            pending=open_.get("pending", 0),
            running=open_.get("running", 0),
            retrying=open_.get("retrying", 0),
            more=sum(open_.values()) >= MOST,
            held=_count(row.held),
            dead=dead,
        ),
        Freshness(row.event_at, row.memory_at, row.extracted_at, _count(row.unindexed)),
        _processes(tx),
        processes_by_queue(tx),
        NeedsPerson(_count(row.approvals), dead, _count(row.disputed), _count(row.quarantined), _count(row.endpoints)),
    )


def _count(number: int) -> Count:
    return Count(number, number >= MOST)


def _processes(tx: Tx) -> list[Process]:
    values = {"names": list(REQUIRED_PROCESSES), "seconds": STALE_SECONDS}
    seen = {row.process: row for row in tx.execute(_PROCESSES, values)}
    return [
        Process(name, seen[name].alive, seen[name].at) if name in seen else Process(name, alive=False, seen_at=None)
        for name in REQUIRED_PROCESSES
    ]


_GLANCE = text("""
    SELECT clock_timestamp() AS now, oldest.received_at AS oldest_at,
           coalesce(cast(extract(epoch FROM clock_timestamp() - oldest.received_at) AS float8), 0) AS lag,
           (SELECT count(*) FROM (SELECT FROM events WHERE routed_at IS NULL LIMIT :most) AS n) AS waiting,
           (SELECT count(*) FROM (SELECT FROM dispatches WHERE hold IS NOT NULL LIMIT :most) AS n) AS held,
           (SELECT count(*) FROM (SELECT FROM dispatches WHERE hold = 'approval' LIMIT :most) AS n) AS approvals,
           (SELECT count(*) FROM (SELECT FROM dispatches WHERE status = 'dead' LIMIT :most) AS n) AS dead,
           (SELECT count(*) FROM (SELECT FROM memories WHERE status = 'active' AND trust = 'disputed'
                                  LIMIT :most) AS n) AS disputed,
           (SELECT count(*) FROM (SELECT FROM memories WHERE status = 'active' AND trust = 'quarantined'
                                  LIMIT :most) AS n) AS quarantined,
           (SELECT count(*) FROM (SELECT FROM endpoints WHERE disabled_at IS NOT NULL LIMIT :most) AS n) AS endpoints,
           (SELECT count(*) FROM (SELECT FROM sessions WHERE indexed_to < message_count LIMIT :most) AS n) AS unindexed,
           (SELECT received_at FROM events ORDER BY seq DESC LIMIT 1) AS event_at,
           (SELECT recorded_at FROM memories ORDER BY id DESC LIMIT 1) AS memory_at,
           (SELECT max(ended_at)
            FROM (SELECT target, status, ended_at FROM dispatches ORDER BY id DESC LIMIT :back) AS l
            WHERE status = 'done' AND target = ANY(:extractors)) AS extracted_at
    FROM (SELECT) AS one
    LEFT JOIN LATERAL (SELECT received_at FROM events WHERE routed_at IS NULL ORDER BY seq LIMIT 1) AS oldest ON true
""")
"""One look into each index. Ids of memories and dispatches grow with time."""

_OPEN = text(f"""
    SELECT status, count(*) AS n FROM (
        SELECT status FROM dispatches WHERE {OPEN_DISPATCH} LIMIT :most
    ) AS o GROUP BY status
""")

_PROCESSES = text("""
    SELECT process, at, at > clock_timestamp() - make_interval(secs => :seconds) AS alive
    FROM heartbeats WHERE process = ANY(:names)
""")
