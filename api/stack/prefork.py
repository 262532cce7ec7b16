"""Several processes that do the same work, forked from one that has imported everything (Linux).

The parent replaces a process that dies. On SIGHUP it replaces all of them one after another: the next one must be ready
before an old one is told to end. On SIGTERM or SIGINT it ends them and itself. It has one thread.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import structlog

from api.stack import launch
from core.errors import ImprintError

log = structlog.get_logger()

Ready = Callable[[], None]
"""Called by a process when it can work."""

Work = Callable[[Ready, int], None]
"""The work of a process, until it is told to end by SIGTERM, given a number that no other living one has."""

SLOTS: Final = 4
"""Times the number of processes: numbers, for old ones that still end beside the new."""

READY: Final = signal.SIGRTMIN
"""Signal by which a process says that it is ready: of these, unlike others, none is lost when several come at once."""

SIGNALS: Final = frozenset({READY, signal.SIGCHLD, signal.SIGHUP, signal.SIGINT, signal.SIGTERM})

IDLE_S: Final = 30.0
"""Longest wait for a signal."""

FIRST_DELAY_S: Final = 0.2
LONGEST_DELAY_S: Final = 10.0


@dataclass(slots=True)
class _Child:
    """A process. `is_old`: it is to be replaced; `is_ending`: it has been told to end."""

    slot: int
    is_ready: bool = False
    is_old: bool = False
    is_ending: bool = False


@dataclass(slots=True)
class _Parent:
    """The processes by id, and how many there should be."""

    count: int
    reload: Callable[[], None]
    forget: Callable[[int, int], None]
    children: dict[int, _Child] = field(default_factory=dict)
    was_ready: bool = False
    delay_s: float = FIRST_DELAY_S
    due: float = 0.0

    def run(self) -> int | None:
        """Keep the processes at work; return its number in each of them, None in the parent at its end."""
        while True:
            while self._is_short():
                if (slot := self._fork()) is not None:
                    return slot
            wait = self.due - time.monotonic()
            came = signal.sigtimedwait(SIGNALS, wait if wait > 0 else IDLE_S)
            number = came.si_signo if came else 0
            if number in {signal.SIGTERM, signal.SIGINT}:
                self._end_all()
                return None
            if came and number == READY and came.si_pid in self.children:
                self.children[came.si_pid].is_ready = self.was_ready = True
                self.delay_s = FIRST_DELAY_S
            self._reap()
            if number == signal.SIGHUP:
                self._renew()
            self._replace_old()

    @property
    def _staying(self) -> dict[int, _Child]:
        return {pid: child for pid, child in self.children.items() if not child.is_ending}

    def _is_short(self) -> bool:
        """Return whether one is to be forked: also beside an old one that is to be replaced, if all are ready."""
        staying = self._staying.values()
        renewing = any(child.is_old for child in staying) and all(child.is_ready for child in staying)
        is_room = len(self.children) < slots(self.count)
        return is_room and len(staying) < self.count + renewing and time.monotonic() >= self.due

    def _fork(self) -> int | None:
        """Fork; return the number in the new process."""
        parent = os.getpid()
        slot = min(set(range(slots(self.count))) - {child.slot for child in self.children.values()})
        pid = os.fork()
        if pid:
            self.children[pid] = _Child(slot)
            return None
        launch.die_with_parent(signal.SIGTERM, parent)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # It is meant for the parent, also if sent to the group.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        return slot

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                self._note_end(ended[0], os.waitstatus_to_exitcode(ended[1]))

    def _note_end(self, pid: int, code: int) -> None:
        child = self.children.pop(pid)
        self.forget(pid, child.slot)
        if child.is_ending:
            return
        if not self.was_ready:  # The first ones cannot start: whoever started this one is to know.
            self._end_all()
            sys.exit(code if code > 0 else 1)
        log.warning("api.died", pid=pid, exit=code)
        if child.is_ready:
            return
        if any(other.is_old for other in self.children.values()):
            log.error("api.restart_abandoned", reason="the new process does not start; the old ones stay")
            for other in self.children.values():
                other.is_old = False
        self.due = time.monotonic() + self.delay_s
        self.delay_s = min(2 * self.delay_s, LONGEST_DELAY_S)

    def _renew(self) -> None:
        try:
            self.reload()
        except ImprintError as error:
            log.error("api.not_reloaded", reason=error.detail)  # noqa: TRY400 - a sentence for the operator
            return
        log.info("api.restarting", processes=self.count)
        for child in self.children.values():
            child.is_old = True

    def _replace_old(self) -> None:
        """Tell an old process to end when there is one too many and all are ready."""
        staying = self._staying
        old = [pid for pid, child in staying.items() if child.is_old]
        if old and len(staying) > self.count and all(child.is_ready for child in staying.values()):
            self._end(old[0])

    def _end(self, pid: int) -> None:
        self.children[pid].is_ending = True
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)

    def _end_all(self) -> None:
        for pid in self.children:
            self._end(pid)
        for pid, child in self.children.items():
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
            self.forget(pid, child.slot)


def slots(count: int) -> int:
    """Return how many numbers so many processes are given."""
    return SLOTS * count


def run(count: int, work: Work, reload: Callable[[], None], forget: Callable[[int, int], None]) -> None:
    """Run `work` in so many processes until SIGTERM; return then, in the parent and in each of them.

    `reload` prepares the parent for new processes on SIGHUP; an ImprintError leaves everything as it is. `forget` is
    told the id and the number of each process that has ended. If the first processes end before they are ready, this
    one exits, too.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    parent = os.getpid()
    slot = _Parent(count, reload, forget).run()
    if slot is not None:
        work(partial(os.kill, parent, READY), slot)
