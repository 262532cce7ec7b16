"""Several processes that do the same work, forked from one that has imported everything (Linux).

The parent replaces a process that dies. On SIGHUP it replaces all of them one after another: the next one must be ready
before an old one is told to end. On SIGTERM or SIGINT it ends them and itself. It has one thread.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
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

SIGNALS: Final = frozenset({signal.SIGCHLD, signal.SIGHUP, signal.SIGINT, signal.SIGTERM})

TICK_S: Final = 0.1
"""Interval at which the parent looks for what a signal does not tell: a process that is ready, one that is due."""

IDLE_S: Final = 30.0
"""The same while all processes are ready."""

FIRST_DELAY_S: Final = 0.2
LONGEST_DELAY_S: Final = 10.0


@dataclass(slots=True)
class _Child:
    """A process. `ready_fd` is readable when it is ready; `old`: one that is to be replaced; `ending`: told to end."""

    pid: int
    slot: int
    ready_fd: int
    ready: bool = False
    old: bool = False
    ending: bool = False


@dataclass(slots=True)
class _Parent:
    """The processes, and how many there should be."""

    count: int
    work: Work
    reload: Callable[[], None]
    forget: Callable[[int, int], None]
    children: dict[int, _Child] = field(default_factory=dict)
    was_ready: bool = False
    delay_s: float = FIRST_DELAY_S
    due: float = 0.0

    def run(self) -> _Child | None:
        """Keep the processes at work; return their own record in each of them, None in the parent at its end."""
        while True:
            born = self._start_missing()
            if born is not None:
                return born
            got = signal.sigtimedwait(SIGNALS, IDLE_S if self._is_settled() else TICK_S)
            number = got.si_signo if got else 0
            if number in (signal.SIGTERM, signal.SIGINT):
                self._end_all()
                return None
            self._look_for_ready()
            self._reap()
            if number == signal.SIGHUP:
                self._renew()
            self._replace_old()

    def _is_settled(self) -> bool:
        now = [child for child in self.children.values() if not child.ending]
        return len(now) == self.count and all(child.ready and not child.old for child in now)

    def _start_missing(self) -> _Child | None:
        """Fork what is missing, one at a time while old processes are replaced; return the record in a new process."""
        while time.monotonic() >= self.due:
            there = [child for child in self.children.values() if not child.ending]
            renewing = any(child.old for child in there) and all(child.ready for child in there)
            if len(there) >= self.count + renewing or len(self.children) >= slots(self.count):
                return None
            born = self._fork()
            if born is not None:
                return born
        return None

    def _fork(self) -> _Child | None:
        mine, theirs = os.pipe()
        parent = os.getpid()
        taken = {child.slot for child in self.children.values()}
        slot = next(number for number in range(slots(self.count)) if number not in taken)
        pid = os.fork()
        if pid:
            os.close(theirs)
            self.children[pid] = _Child(pid, slot, mine)
            return None
        for descriptor in (mine, *(child.ready_fd for child in self.children.values())):
            os.close(descriptor)
        launch.die_with_parent(signal.SIGTERM, parent)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # It is meant for the parent, also if sent to the group.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        return _Child(os.getpid(), slot, theirs)

    def _look_for_ready(self) -> None:
        waiting = {child.ready_fd: child for child in self.children.values() if not child.ready}
        for number in select.select(list(waiting), [], [], 0)[0] if waiting else ():
            if os.read(number, 1):
                waiting[number].ready = self.was_ready = True
                self.delay_s = FIRST_DELAY_S

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                self._note_end(self.children.pop(pid), os.waitstatus_to_exitcode(status))

    def _note_end(self, child: _Child, code: int) -> None:
        os.close(child.ready_fd)
        self.forget(child.pid, child.slot)
        if child.ending:
            return
        if not self.was_ready:  # The first ones cannot start: whoever started this one is to know.
            self._end_all()
            sys.exit(code if code > 0 else 1)
        log.warning("api.died", pid=child.pid, exit=code)
        if child.ready:
            return
        if any(other.old for other in self.children.values()):
            log.error("api.restart_abandoned", reason="the new process does not start; the old ones stay")
            for other in self.children.values():
                other.old = False
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
            child.old = True

    def _replace_old(self) -> None:
        """Tell an old process to end when there is one too many and all are ready."""
        there = [child for child in self.children.values() if not child.ending]
        old = [child for child in there if child.old]
        if old and len(there) > self.count and all(child.ready for child in there):
            self._end(old[0])

    def _end(self, child: _Child) -> None:
        child.ending = True
        with suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGTERM)

    def _end_all(self) -> None:
        for child in self.children.values():
            self._end(child)
        for child in self.children.values():
            with suppress(ChildProcessError):
                os.waitpid(child.pid, 0)
            self.forget(child.pid, child.slot)


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
    me = _Parent(count, work, reload, forget).run()
    if me is not None:
        work(lambda: _tell(me.ready_fd), me.slot)


def _tell(ready_fd: int) -> None:
    os.write(ready_fd, b"!")
