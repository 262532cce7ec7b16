"""Stops an attempt that overruns or was cancelled: by an exception in the agent, then by ending the process.

The exception is raised by a signal, because only that reaches an agent between two instructions or in a system call. A
loop in C that holds the interpreter's lock is reached by neither signal handler nor thread; a kernel timer ends the
process then, and the clock counts the overrun by the deadline in the row.
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
    """The attempt is over. Not an `Exception`, because agents handle those."""


class Interrupter:
    """Interrupts the agent in the main thread, from another thread."""

    def __init__(self) -> None:
        self._armed = True
        self._ringing = threading.Lock()

    def ring(self) -> None:
        """Raise Interrupted in the main thread, at the next instruction. May be repeated."""
        with self._ringing:
            if self._armed:
                signal.pthread_kill(threading.main_thread().ident or 0, INTERRUPT)

    def disarm(self) -> None:
        """Raise nothing from now on; wait for a signal that is being sent."""
        self._armed = False
        with self._ringing:
            pass

    def on_signal(self, *_: object) -> None:
        if self._armed:
            raise Interrupted


@contextmanager
def interruptible(seconds: float | None) -> Iterator[Interrupter]:
    """Make the current thread, which must be the main one, interruptible.

    `seconds`: after these and GRACE_SECONDS the kernel ends the process; None: never.
    """
    interrupter = Interrupter()
    before = signal.signal(INTERRUPT, interrupter.on_signal)
    if seconds is not None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_SECONDS)
    try:
        yield interrupter
    finally:
        interrupter.disarm()
        if seconds is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(INTERRUPT, before)
