"""Closes connections that a pool has kept since a busier time: each is some 4 MB of a server's memory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Engine, Pool, QueuePool, event


@dataclass(slots=True)
class _Use:
    """Use of a pool: the process whose connections it has, and the most that were in use at once since a sweep."""

    process: int = 0
    most: int = 0


_USES: WeakKeyDictionary[Engine, _Use] = WeakKeyDictionary()


def watch(engine: Engine) -> None:
    """Watch a pool from now on; it should hand out the connection that was used last."""
    use = _USES[engine] = _Use()

    def connected(*_: Any) -> None:
        use.process = os.getpid()

    def taken(*_: Any) -> None:
        use.most = max(use.most, _in_use(engine.pool))

    event.listen(engine, "connect", connected)
    event.listen(engine, "checkout", taken)


def sweep() -> None:
    """Close the connections of each pool that has more than were in use at once since the last sweep; one may stay.

    All that are free are closed: those in use again are opened again. A pool that was inherited by a fork still holds
    the connections of the parent, and is left alone.
    """
    for engine, use in list(_USES.items()):
        most, use.most = use.most, _in_use(engine.pool)
        idle = not use.most  # A connection in use would come back to a pool that is closed, and stay open.
        if idle and use.process == os.getpid() and _free(engine.pool) > max(most, 1):
            engine.dispose()


def _in_use(pool: Pool) -> int:
    return pool.checkedout() if isinstance(pool, QueuePool) else 0


def _free(pool: Pool) -> int:
    return pool.checkedin() if isinstance(pool, QueuePool) else 0
