"""Liveness of processes."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from typing import Annotated, Final, NamedTuple

import structlog
from pydantic import Field
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from core import logs
from core.loop import Loop
from core.storage.db import Database, Tx
from core.storage.multiquery import BoundStatement
from core.types import Json

log = structlog.get_logger()

VERSION: Final = metadata.version("imprint-service")
"""Version of this process."""

STARTED: Final = datetime.now(UTC)
"""Time when this process read its code, within a second of its start."""

BEAT_SECONDS = 3.3
"""A third of the time after which a process counts as stopped: each beat is a commit on an idle machine, too."""

TENANTS_SECONDS = 1.0
"""Interval at which a change of the number of tenants with work is reported, by which these share the processes."""

STALE_SECONDS = 10
"""A process without a heartbeat for this long counts as stopped."""

REQUIRED_PROCESSES = ("router", "clock", "worker-io", "worker-cpu")
"""Kinds of process that are all needed to work off accepted events."""


class ProcessPart(NamedTuple):
    """A process, or what it does as one of its kind; that of a worker: its queue and how many it takes at once."""

    name: str
    queue: str | None = None
    processes: int | None = None


class Heartbeat:
    """Writes a heartbeat row from a thread of its own until closed; then the rows of workers go.

    A worker reports its `queue`, its number of processes, and how many of them its machine has cores for; the router
    reports how many `tenants` have work. `also`: what else the process is; all of it is one transaction.
    """

    def __init__(
        self,
        db: Database,
        process: str,
        queue: str | None = None,
        processes: int | None = None,
        tenants: Callable[[], int] | None = None,
        also: Iterable[ProcessPart] = (),
    ) -> None:
        self._db = db
        now = datetime.now(UTC)
        self._said = [_row(part, now) for part in (ProcessPart(process, queue, processes), *also)]
        self._tenants = tenants
        self._counted: int | None = None
        self._beaten = float("-inf")
        every = TENANTS_SECONDS if tenants else BEAT_SECONDS
        self._loop = Loop("heartbeat", self._beat, every, expected=(DBAPIError,), last=self._leave)
        self._loop.start()

    def close(self) -> None:
        self._loop.close()

    def _beat(self) -> None:
        now, tenants = time.monotonic(), self._tenants and self._tenants()
        if tenants == self._counted and now - self._beaten < BEAT_SECONDS - TENANTS_SECONDS / 2:
            return
        self._db.ask_queues(*((_BEAT, {**row, "tenants": tenants}) for row in self._said))
        self._counted, self._beaten = tenants, now

    def _leave(self) -> None:
        """Delete the rows of workers: one that was stopped on purpose is not down, and its host may have gone."""
        workers = [row["name"] for row in self._said if row["processes"] is not None]
        if workers:
            try:
                self._db.ask_queues((_LEAVE, {"names": workers}))
            except DBAPIError as error:
                log.warning("heartbeat.stays", **logs.fault(error))


def _row(part: ProcessPart, since: datetime) -> Mapping[str, object]:
    cores = part.processes and min(part.processes, os.cpu_count() or 1)
    named = {"name": part.name, "queue": part.queue, "processes": part.processes}
    return {**named, "cores": cores, "since": since, "version": VERSION}


def node(queue: str) -> str:
    """Return the name by which Celery knows the worker of a queue on this host."""
    return f"{queue}@{socket.gethostname()}"


def missing_processes(tx: Tx) -> list[str]:
    """Return the kinds of process without a current heartbeat."""
    beating = {row.process for row in tx.execute(_BEATING, {"seconds": STALE_SECONDS})}
    return [name for name in REQUIRED_PROCESSES if name not in beating]


def processes_by_queue(tx: Tx) -> dict[str, int]:
    """Return the number of processes that serve each queue now."""
    return {row.queue: row.processes for row in tx.execute(*PROCESSES)}


@dataclass(frozen=True, slots=True)
class ProcessHealth:
    """A kind of process, or one worker."""

    name: str
    alive: Annotated[bool, Field(description="Whether it has said so within ten seconds")]
    seen_at: datetime | None
    since: Annotated[
        datetime | None, Field(description="When it started; of several of a kind, the one that said so last")
    ]
    version: str | None
    queue: Annotated[str | None, Field(description="Of a worker: the queue that it serves")]
    processes: Annotated[int | None, Field(description="Of a worker: how many processes it has")]


def beats(tx: Tx) -> Sequence[ProcessHealth]:
    """Return the heartbeats of today, also of what has stopped, by name."""
    return [ProcessHealth(*row) for row in tx.execute(_ALL, {"seconds": STALE_SECONDS})]


def keeping(gauges: Json) -> BoundStatement:
    """Return the statement that keeps what the clock has counted in the whole installation, for `gauges`."""
    return _KEEP, {"gauges": json.dumps(gauges)}


def gauges(tx: Tx) -> Json | None:
    """Return what the clock counted last; None: no clock has yet."""
    counts: Json | None = tx.execute(text("SELECT gauges FROM heartbeats WHERE process = 'clock'")).scalar_one_or_none()
    return counts


def delete_all(tx: Tx) -> None:
    """Delete all heartbeats: those of an earlier run say nothing about this one."""
    tx.execute(text("DELETE FROM heartbeats"))


_BEAT = text("""
    INSERT INTO heartbeats (process, at, queue, processes, cores, tenants, since, version)
    VALUES (:name, clock_timestamp(), :queue, :processes, :cores, :tenants, :since, :version)
    ON CONFLICT (process) DO UPDATE SET at = excluded.at, tenants = excluded.tenants, since = excluded.since,
                                        version = excluded.version
""")

_LEAVE = text("DELETE FROM heartbeats WHERE process = ANY(:names)")

_ALL = text("""
    SELECT process, at > clock_timestamp() - make_interval(secs => :seconds) AS alive, at, since, version,
           queue, processes
    FROM heartbeats WHERE at > clock_timestamp() - interval '1 day' ORDER BY process
""")

_KEEP = text("UPDATE heartbeats SET gauges = cast(:gauges AS jsonb) WHERE process = 'clock'")

_BEATING = text("SELECT process FROM heartbeats WHERE at > clock_timestamp() - make_interval(secs => :seconds)")

PROCESSES: Final[BoundStatement] = (
    text("""
    SELECT queue, sum(processes)::int AS processes FROM heartbeats
    WHERE queue IS NOT NULL AND at > clock_timestamp() - make_interval(secs => :seconds) GROUP BY queue
"""),
    {"seconds": STALE_SECONDS},
)
"""Asks for the number of processes that serve each queue now."""

MOST_WORKERS: Final = 500
"""Workers that are shown, those that are alive first: where hosts come and go, each has another name."""

WORKERS: Final[BoundStatement] = (
    text("""
    SELECT regexp_replace(process, ':[0-9]+$', '') AS node,
           bool_or(at > clock_timestamp() - make_interval(secs => :seconds)) AS alive
    FROM heartbeats WHERE processes IS NOT NULL AND at > clock_timestamp() - interval '1 day'
    GROUP BY 1 ORDER BY alive DESC, max(at) DESC LIMIT :most
"""),
    {"seconds": STALE_SECONDS, "most": MOST_WORKERS},
)
"""Asks for the workers of today by node name, and whether each is alive."""
