"""Connections to the tests' database that outlive a test: a new one costs more time than most tests have of their own.

What is closed is kept, and what connects next goes on in its session, as new as `DISCARD ALL` makes it, with a
connection of the driver of its own.
"""

from __future__ import annotations

import os
import select
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import psycopg
import pytest
from psycopg.pq import ConnStatus, ExecStatus, PGconn, PipelineStatus, TransactionStatus
from psycopg.pq import abc as libpq

from core.storage.connection import Connection

MOST = 8
"""Connections kept of a role."""


@dataclass(frozen=True, slots=True)
class KeptConnections:
    """Sessions on one database that nobody uses now, by what they were opened with; those of this process alone."""

    address: tuple[bytes, bytes]
    process: int = field(default_factory=os.getpid)
    _free: dict[str, list[libpq.PGconn]] = field(default_factory=lambda: defaultdict(list))

    def take(self, conninfo: str) -> libpq.PGconn | None:
        """Return a session that was opened so; None: there is none."""
        free = self._free[conninfo]
        while os.getpid() == self.process:
            try:
                session = free.pop()
            except IndexError:
                break
            if _silent(session):
                return session
            session.finish()
        return None

    def keep(self, conninfo: str, session: libpq.PGconn) -> bool:
        """Keep a session, if it may be."""
        free = self._free[conninfo]
        if not self._of_these(session) or len(free) >= MOST or not _renewed(session):
            return False
        free.append(session)
        return True

    def backends(self) -> Sequence[int]:
        """The server's processes behind them."""
        return [session.backend_pid for free in list(self._free.values()) for session in free]

    def close(self) -> None:
        for free in self._free.values():
            while free:
                free.pop().finish()

    def _of_these(self, session: libpq.PGconn) -> bool:
        return os.getpid() == self.process and (session.port, session.db) == self.address


@contextmanager
def kept(database_url: str) -> Iterator[KeptConnections]:
    """Keep what the service's pools close on this database until the block ends."""
    parts = psycopg.conninfo.conninfo_to_dict(database_url)
    connections = KeptConnections((str(parts["port"]).encode(), str(parts["dbname"]).encode()))
    opened, close = Connection._connect_gen.__func__, Connection.close

    def connect_gen(cls: type[Connection], conninfo: str = "") -> Iterator[object]:
        session = connections.take(conninfo)
        connection = cls(session) if session else (yield from opened(cls, conninfo))
        connection.opened_with = conninfo
        return connection

    def keep(self: Connection) -> None:
        if self.opened_with and not self.closed and connections.keep(self.opened_with, self.pgconn):
            self.pgconn = PGconn()  # closed
        else:
            close(self)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Connection, "opened_with", "", raising=False)  # for those opened before
        patched.setattr(Connection, "_connect_gen", classmethod(connect_gen))
        patched.setattr(Connection, "close", keep)
        yield connections
    connections.close()


def _silent(session: libpq.PGconn) -> bool:
    """Whether the server still waits for what comes; one that has ended the session has said so."""
    return not select.select([session.socket], [], [], 0)[0]


def _renewed(session: libpq.PGconn) -> bool:
    """Whether the session is as it began: within no transaction, and then without anything that it has set or holds."""
    if session.status != ConnStatus.OK or session.pipeline_status != PipelineStatus.OFF:
        return False
    if session.transaction_status != TransactionStatus.IDLE:
        return False
    return session.exec_(b"DISCARD ALL").status == ExecStatus.COMMAND_OK
