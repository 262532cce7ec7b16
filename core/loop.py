"""Background loop: calls a function at an interval or when woken, until it is stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

import structlog

from core import logs, metrics

log = structlog.get_logger()

FIRST_PAUSE_SECONDS: Final = 1.0
"""Pause after a first failure; it doubles with each further one."""

LONGEST_PAUSE_SECONDS: Final = 4.0
"""Below `heartbeat.STALE_SECONDS`, so that a process counts as alive soon after its database is back."""


class Loop:
    """Calls `turn` again and again; a failure is logged and counted, and costs a pause, never the loop.

    `every`: seconds between two turns; None: only when woken. A turn may return other seconds until the next.
    `expected`: failures of others, such as a broker that is away, which are logged without a traceback. `delayed`: the
    first turn waits, too; else there is one, however soon the loop is stopped. `last`: called in the loop's thread
    after it was stopped.
    """

    def __init__(
        self,
        name: str,
        turn: Callable[[], float | None],
        every: float | None = 0.0,
        *,
        expected: tuple[type[Exception], ...] = (),
        delayed: bool = False,
        last: Callable[[], None] = lambda: None,
    ) -> None:
        self._name = name
        self._turn = turn
        self._every = every
        self._expected = expected
        self._delayed = delayed
        self._last = last
        self._failures = 0
        metrics.LOOP_FAILURES.labels(name)  # shown as 0: a first failure is an increase, too
        self._woken = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self.run, name=name, daemon=True)

    @property
    def is_stopped(self) -> bool:
        """Return whether the loop has been stopped; a long turn should check it."""
        return self._stopped.is_set()

    @property
    def is_alive(self) -> bool:
        """Return whether the loop's thread is running."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Run in a thread of its own."""
        self._thread.start()

    def run(self) -> None:
        """Run in the current thread until stopped."""
        pause = self._every if self._delayed else self._take_turn()
        while not self._is_over_after(pause):
            pause = self._take_turn()
        self._last()

    def wake(self) -> None:
        """Take the next turn now; returns at once."""
        self._woken.set()

    def stop(self) -> None:
        """Take no further turn; returns at once."""
        self._stopped.set()
        self._woken.set()

    def close(self, timeout: float | None = 2.0) -> None:
        """Stop, and wait for the thread to end, at most `timeout` seconds."""
        self.stop()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _is_over_after(self, seconds: float | None) -> bool:
        """Sleep until woken or for so many seconds; return whether the loop was stopped."""
        self._woken.wait(seconds)
        self._woken.clear()
        return self._stopped.is_set()

    def _take_turn(self) -> float | None:
        began = time.monotonic()
        try:
            pause = self._turn()
        except self._expected as error:
            log.warning("loop.failed", loop=self._name, **logs.fault(error))
        except Exception:
            # A fault of ours. Without its thread the process would go on, and nobody would do this work.
            log.exception("loop.broken", loop=self._name)
        else:
            self._failures = 0
            return self._every if pause is None else pause
        metrics.LOOP_FAILURES.labels(self._name).inc()
        if time.monotonic() - began > LONGEST_PAUSE_SECONDS:
            self._failures = 0  # It worked for a while before it failed.
        self._stopped.wait(min(FIRST_PAUSE_SECONDS * 2.0**self._failures, LONGEST_PAUSE_SECONDS))
        self._failures += 1
        return 0.0
