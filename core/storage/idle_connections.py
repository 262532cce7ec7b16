"""Counts the connections of pools; closes those kept since a busier time: each is some 4 MB of a server's memory."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

from sqlalchemy import Engine, Pool, QueuePool, event

from core import metrics

UPDATE_SECONDS: Final = 1.0
"""Least time between two updates of the gauges: a transaction must not pay for them."""


@dataclass(slots=True)
class _Use:
    """Use of a pool: the process that opened its connections, and the most that were in use at once.

    `sweep_peak`: since the last sweep. `gauge_peak`: since the gauges were set.
    """

    process: int = 0
    sweep_peak: int = 0
    gauge_peak: int = 0


@dataclass(slots=True)
class _Update:
    """When the gauges were set last."""

    at: float = 0.0


_UPDATE: Final = _Update()


_USES: WeakKeyDictionary[Engine, _Use] = WeakKeyDictionary()


def watch(engine: Engine) -> None:
    """Watch a pool from now on. It should be LIFO, so that connections beyond the need stay idle."""
    use = _USES[engine] = _Use()

    def connected(*_: Any) -> None:
        use.process = os.getpid()

    def checked_out(*_: Any) -> None:
        in_use = _in_use(engine.pool)
        use.sweep_peak, use.gauge_peak = max(use.sweep_peak, in_use), max(use.gauge_peak, in_use)
        if time.monotonic() - _UPDATE.at >= UPDATE_SECONDS:
            _update_gauges()

    event.listen(engine, "connect", connected)
    event.listen(engine, "checkout", checked_out)


def _update_gauges() -> None:
    """Set the gauges of this process: the most connections that were in use at once, and those that were not."""
    _UPDATE.at, used, open_ = time.monotonic(), 0, 0
    for engine, use in list(_USES.items()):
        if use.process == os.getpid():
            used, open_ = used + use.gauge_peak, open_ + max(use.gauge_peak, _in_use(engine.pool) + _free(engine.pool))
            use.gauge_peak = _in_use(engine.pool)
    metrics.DATABASE_CONNECTIONS.labels("used").set(used)
    metrics.DATABASE_CONNECTIONS.labels("idle").set(open_ - used)


def sweep() -> None:
    """Close the connections of each pool that has more than were in use at once since the last sweep; one may stay.

    All that are free are closed: those in use again are opened again. A pool that was inherited by a fork still holds
    the connections of the parent, and is left alone.
    """
    for engine, use in list(_USES.items()):
        peak, use.sweep_peak = use.sweep_peak, _in_use(engine.pool)
        idle = not use.sweep_peak  # A connection in use would come back to a pool that is closed, and stay open.
        if idle and use.process == os.getpid() and _free(engine.pool) > max(peak, 1):
            engine.dispose()
    _update_gauges()


def _in_use(pool: Pool) -> int:
    return pool.checkedout() if isinstance(pool, QueuePool) else 0


def _free(pool: Pool) -> int:
    return pool.checkedin() if isinstance(pool, QueuePool) else 0
