"""Reads on a standby of the database, where it may answer; else on the primary.

Each transaction begins by asking the standby what it has replayed, in the round trip that opens it. A thread looks
every `LOOK_SECONDS` whether it is fit: a standby of the same cluster, for a role that row-level security binds, and not
far behind. While it is not, nobody waits for it.
"""

from __future__ import annotations

import math
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import psycopg
import structlog
from psycopg import errors
from psycopg.rows import class_row
from sqlalchemy import Engine, event, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from core import logs, metrics
from core.baton import REQUESTS
from core.config import Settings
from core.loop import Loop
from core.storage import db as storage
from core.storage import positions
from core.storage.db import REPLAY_STATE, Database

log = structlog.get_logger()

T = TypeVar("T")

LOOK_SECONDS: Final = 2.0
"""Between two looks at the replica, each over a connection of its own."""

ANSWER_SECONDS: Final = 2.0
"""Time for a connection at a look, and for the answer."""

STALE_SECONDS: Final = 10.0
"""A replica further behind is not read from, even for callers who know no position."""

WAIT_SECONDS: Final = 0.25
"""Longest wait of a read for the replica to replay what its caller has seen.

Longer than a primary keeps in memory what does not wait for its disk (`wal_writer_delay`, 200 ms).
"""

POLL_SECONDS: Final = 0.005

IMPATIENT_SECONDS: Final = 1.0
"""After a wait in vain nobody waits for so long."""

FAR_BYTES: Final = 64 << 20
"""More than is replayed during a wait: such positions belong to another log, or to a replica that has stopped."""

OUTCOMES: Final = ("replica", "behind", "unfit", "failed")
"""Of reads: on the replica; on the primary, because the replica is behind, is not fit, or has failed meanwhile."""

for _outcome in OUTCOMES:
    metrics.REPLICA_READS.labels(_outcome)


class UnfitError(Exception):
    """The server is not the standby that was looked at."""


class BehindError(Exception):
    """The replica has not replayed what the caller has seen."""


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """What a look sees. `cluster`: identity of cluster and database; `bound`: row-level security binds the role."""

    cluster: str
    replays: bool
    position: int
    started: str
    bound: bool


@dataclass(frozen=True, slots=True)
class _Server:
    """A standby from its start to its end. Another one has other connections, and so other cached rows."""

    db: Database
    started: str
    wires: dict[psycopg.Connection[Any], socket.socket]
    """Of its connections: an own descriptor, which nobody else can have by the time that it is shut down."""

    def watch(self, engine: Engine) -> None:
        """Keep a wire of each connection that a pool opens."""

        def connected(driver: psycopg.Connection[Any], *_: Any) -> None:
            self.wires[driver] = socket.socket(fileno=os.dup(driver.fileno()))

        def closed(driver: psycopg.Connection[Any], *_: Any) -> None:
            if (wire := self.wires.pop(driver, None)) is not None:
                wire.close()

        event.listen(engine, "connect", connected)
        event.listen(engine, "close", closed)

    def another(self) -> Database:
        """Open a pool of one connection, on which it can hang up as well."""
        opened = storage.connect(self.db.engine.url, 1, dispensable=True)
        self.watch(opened.engine)
        return opened

    def hang_up(self) -> None:
        """End what threads wait for: the server may have stopped without a word."""
        for wire in list(self.wires.values()):
            _shut_down(wire)


class Replica:
    """The replica of a database, and whether it may answer."""

    def __init__(self, url: URL, pool: int, primary: Database) -> None:
        self._url = url
        self._pool = pool
        self._primary = primary
        self._server: _Server | None = None
        self._last: _Server | None = None
        self._cluster = ""
        self._marks: deque[tuple[float, int]] = deque(maxlen=round(STALE_SECONDS / LOOK_SECONDS) + 2)
        self._patient_from = 0.0
        self._fault: str | None = None
        self._loop = Loop("replica", self.look, LOOK_SECONDS)

    def start(self) -> None:
        """Look at it from now on, in a thread."""
        self._loop.start()

    def close(self) -> None:
        """Look no more, and close its connections."""
        self._loop.close(2 * ANSWER_SECONDS)
        self._server = None
        if self._last is not None:
            self._last.db.close()

    @property
    def is_fit(self) -> bool:
        """Return whether it may answer now."""
        return self._server is not None

    def like(self, db: Database, after: int = 0) -> Database | None:
        """Return its pool for the reader of `db`, to be read after a position; None: it must not answer now."""
        server, request = self._server, positions.current()
        if server is None:
            return None

        def gate(state: Any) -> None:
            if not state.replays or state.started != server.started:
                raise UnfitError("it was promoted" if not state.replays else "another server answers")
            if state.position < after:
                raise BehindError(state.position)
            if request is not None:
                request.note(state.position)

        seconds = db.statement_seconds
        return replace(server.db, sight=db.sight, statement_seconds=seconds, gate=gate, another=server.another)

    def read(self, db: Database, work: Callable[[Database], T]) -> T:
        """Return what `work` reads from the replica, or from `db`, the primary, where the replica must not answer.

        `work` only reads, and may begin again. Malformed: the position that the caller sends.
        """
        after = self._sought(db)
        reader, outcome = self.like(db, after), "unfit"
        if reader is not None:
            try:
                with positions.uncollected():
                    read = self._patiently(reader, after, work)
            except BehindError:
                outcome = "behind"
            except (UnfitError, DBAPIError, PoolTimeout) as error:
                if _took_too_long(error):
                    raise
                outcome = "failed"
                self._failed(reader, error)
            else:
                metrics.REPLICA_READS.labels("replica").inc()
                return read
        metrics.REPLICA_READS.labels(outcome).inc()
        return work(db)

    def _sought(self, db: Database) -> int:
        """Return the position from which the caller can read; 0: any."""
        request = positions.current()
        if request is None or request.after is None:
            return 0
        if request.after != positions.NEWEST:
            return positions.parse(request.after)
        if self.is_fit:
            try:
                db.ask_queues()  # Its answer has the primary's position.
            except (OperationalError, PoolTimeout):
                if not request.leniently:
                    raise
        return request.reached

    def _patiently(self, reader: Database, after: int, work: Callable[[Database], T]) -> T:
        try:
            return work(reader)
        except BehindError as behind:
            (position,) = behind.args
            if after - position > FAR_BYTES or time.monotonic() < self._patient_from:
                raise
        self._wait(reader, after)
        return work(reader)

    def _wait(self, reader: Database, after: int) -> None:
        """Wait until the replica has replayed the log so far. BehindError: not soon."""
        until, position = time.monotonic() + WAIT_SECONDS, 0
        while time.monotonic() < until:
            with REQUESTS.passed_on():
                time.sleep(POLL_SECONDS)
            ((state,),) = reader.ask_queues((_STATE, {}))
            position = state.position
            if position >= after:
                return
        self._patient_from = time.monotonic() + IMPATIENT_SECONDS
        raise BehindError(position)

    def _failed(self, reader: Database, error: Exception) -> None:
        """Give the replica up where it has gone; anything else, such as a conflict with what it replays, passes."""
        log.warning("replica.read_failed", **logs.fault(error))
        server = self._server
        if server is not None and server.db.engine is reader.engine and _is_gone(error):
            self._give_up("it is gone")
            self._loop.wake()

    def look(self) -> None:
        """Look whether the replica is fit, and use it or give it up."""
        self._look_at_primary()
        try:
            state = look_at(self._url)
        except psycopg.Error:
            self._give_up("it does not answer")
            return
        lag = self._lag(state.position)
        metrics.REPLICA_LAG.set(lag)
        fault = fault_of(state, self._cluster) or fault_of_lag(lag)
        if fault is not None:
            self._give_up(fault)
        elif self._server is None or self._server.started != state.started:
            self._use(state)

    def _look_at_primary(self) -> None:
        """Learn the primary's cluster and position; where it is away, those that were seen last count."""
        try:
            ((row,),) = self._primary.ask_queues((_PRIMARY, {}))
        except (DBAPIError, PoolTimeout):
            return
        self._cluster = row.cluster
        self._marks.append((time.monotonic(), row.position))

    def _lag(self, position: int) -> float:
        """Return how many seconds the replica is behind at most, in steps of `LOOK_SECONDS`.

        Infinity: it has replayed nothing yet that was seen on the primary, and may be behind by any time.
        """
        if not self._marks:
            return 0.0
        newest = self._marks[-1][0]
        return newest - max((at for at, mark in self._marks if mark <= position), default=-math.inf)

    def _use(self, state: ReplicaState) -> None:
        last = self._last
        if last is None or last.started != state.started:
            if last is not None:
                last.db.close()
            self._last = _Server(storage.connect(self._url, self._pool, dispensable=True), state.started, {})
            self._last.watch(self._last.db.engine)
        self._server, self._fault = self._last, None
        metrics.REPLICA_FIT.set(1)
        log.info("replica.used")

    def _give_up(self, fault: str) -> None:
        """Read from the primary from now on, also what waits for the replica's answer, or fills its cache."""
        self._server = None
        metrics.REPLICA_FIT.set(0)
        if fault != self._fault:
            self._fault = fault
            log.warning("replica.unfit", reason=fault)
        if self._last is not None:  # Each time: a thread may have connected as it was given up.
            self._last.hang_up()


def of(settings: Settings, primary: Database) -> Replica | None:
    """Return the replica that the settings name; None: there is none."""
    url = replica_url(settings)
    return None if url is None else Replica(url, settings.database_pool, primary)


def read(replica: Replica | None, db: Database, work: Callable[[Database], T]) -> T:
    """Return what `work` reads, from the replica if there is one (`Replica.read`)."""
    return work(db) if replica is None else replica.read(db, work)


def replica_url(settings: Settings) -> URL | None:
    """Return the URL of the replica, for the tenant-bound role unless it names another; None: there is none."""
    if settings.replica_url is None:
        return None
    url = storage.driver_url(settings.replica_url.get_secret_value())
    own = storage.app_url(settings)
    return url if url.username else url.set(username=own.username, password=own.password)


def look_at(url: URL) -> ReplicaState:
    """Look at a server over a connection of its own. psycopg.Error: it does not answer."""
    conninfo = url.set(drivername="postgresql").render_as_string(hide_password=False)
    with (
        psycopg.connect(conninfo, autocommit=True, connect_timeout=round(ANSWER_SECONDS)) as driver,
        _answering_within(driver, ANSWER_SECONDS),
        driver.cursor(row_factory=class_row(ReplicaState)) as cursor,
    ):
        state = cursor.execute(_LOOK).fetchone()
    if state is None:
        raise psycopg.OperationalError("no answer")
    return state


@contextmanager
def _answering_within(driver: psycopg.Connection[Any], seconds: float) -> Iterator[None]:
    """Hang up after so long: a server that is frozen keeps its connections, and answers nothing."""
    with socket.socket(fileno=os.dup(driver.fileno())) as wire:
        timer = threading.Timer(seconds, _shut_down, (wire,))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def _shut_down(wire: socket.socket) -> None:
    with suppress(OSError):
        wire.shutdown(socket.SHUT_RDWR)


def fault_of(state: ReplicaState, cluster: str) -> str | None:
    """Return why a server must not answer for the primary of this cluster; None: it may."""
    if not state.replays:
        return "it is no standby, but takes writes itself"
    if state.cluster != cluster:
        return "it is another cluster or database than the primary's" if cluster else "the primary was never there"
    return None if state.bound else "its role is a superuser, owns tables or may bypass row-level security"


def fault_of_lag(lag: float) -> str | None:
    """Return why a server so many seconds behind must not answer; None: it may."""
    if lag <= STALE_SECONDS:
        return None
    return f"it is {lag:.0f} s behind" if math.isfinite(lag) else "it was not seen to replay the primary's log yet"


def _took_too_long(error: Exception) -> bool:
    """Return whether a statement has reached its limit, which it would on the primary as well."""
    return isinstance(error, DBAPIError) and isinstance(error.orig, errors.QueryCanceled)


def _is_gone(error: Exception) -> bool:
    if not isinstance(error, DBAPIError):
        return isinstance(error, UnfitError)
    state = getattr(error.orig, "sqlstate", None)
    if state is None:
        return isinstance(error, (OperationalError, InterfaceError))
    return state[:2] in _GONE


_GONE: Final = frozenset({"08", "53", "57"})
"""Classes of errors of a server that is not there, has no room, or ends."""

CLUSTER: Final = """
    (SELECT system_identifier FROM pg_control_system()) || '/'
    || (SELECT oid FROM pg_database WHERE datname = current_database()) AS cluster
"""
_STATE: Final = text(f"SELECT {REPLAY_STATE}")
_PRIMARY: Final = text(f"SELECT {CLUSTER}, cast(pg_current_wal_flush_lsn() - '0/0' AS bigint) AS position")
_LOOK: Final = f"""
    SELECT {CLUSTER}, {REPLAY_STATE}, NOT (rolsuper OR rolbypassrls OR EXISTS (
        SELECT FROM pg_class WHERE relowner = pg_roles.oid AND relkind = 'r')) AS bound
    FROM pg_roles WHERE rolname = current_user
"""
