"""Ends an attempt that takes too long or was called off: an exception in the agent first, then the end of the process.

The exception is raised by a signal, for only that reaches an agent between two instructions or in a system call. What
does neither (a loop in C that keeps the interpreter's lock) stops no thread either; a timer of the kernel ends the
process then, and the clock counts the overrun by the deadline that stands in the row.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

GRACE_SECONDS: Final = 5.0
"""Between the exception and the end of the process."""

INTERRUPT: Final = signal.SIGUSR2
"""Celery uses SIGUSR1 for limits of its own."""


class Interrupted(BaseException):
    """The attempt is over. No `Exception`, for agents handle those."""


class Alarm:
    """What a thread calls to stop the agent that runs in the main thread."""

    def __init__(self) -> None:
        self._armed = True

    def ring(self) -> None:
        """Raise Interrupted in the main thread, at the next instruction. May be repeated."""
        if self._armed:
            signal.pthread_kill(threading.main_thread().ident or 0, INTERRUPT)

    def disarm(self) -> None:
        self._armed = False

    def on_signal(self, *_: object) -> None:
        if self._armed:
            raise Interrupted


@contextmanager
def alarm(seconds: float | None) -> Iterator[Alarm]:
    """Make the current thread, which must be the main one, interruptible.

    `seconds`: after so many and GRACE_SECONDS the process is ended by the kernel; None: never.
    """
    bell = Alarm()
    before = signal.signal(INTERRUPT, bell.on_signal)
    if seconds is not None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_SECONDS)
    try:
        yield bell
    finally:
        bell.disarm()
        if seconds is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(INTERRUPT, before)
