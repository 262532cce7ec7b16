"""The database driver's connection."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from sqlalchemy import Engine, QueuePool, event
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.util import queue

from core.baton import REQUESTS
from core.storage import multiquery, positions


class Connection(psycopg.Connection[Any]):
    """A connection whose thread passes on the baton of requests while it waits for the server."""

    def wait(self, *args: Any, **kwargs: Any) -> Any:
        """Wait for the server's answer."""
        with REQUESTS.passed_on():
            return super().wait(*args, **kwargs)

    def commit(self) -> None:
        """Commit; nothing is waited for where the statements have done so themselves."""
        if self.pgconn.transaction_status == TransactionStatus.IDLE:
            return
        if positions.current() is None:
            super().commit()
        else:
            positions.note(multiquery.run_statements(self, positions.ending()))

    def rollback(self) -> None:
        """Roll back; nothing is waited for where no transaction is open."""
        if self.pgconn.transaction_status != TransactionStatus.IDLE:
            super().rollback()


class Pool(QueuePool):
    """A pool whose threads pass on the baton of requests while they wait for a free connection, or for a new one."""

    def _do_get(self) -> ConnectionPoolEntry:
        try:
            free: ConnectionPoolEntry = self._pool.get(block=False)
        except queue.Empty:
            with REQUESTS.passed_on():
                return super()._do_get()
        return free


def use(engine: Engine) -> None:
    """Let a pool open such connections."""

    def connect(_dialect: object, _record: object, args: Any, kwargs: Any) -> Connection:
        return Connection.connect(*args, **kwargs)

    event.listen(engine, "do_connect", connect)
