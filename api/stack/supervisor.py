"""Start processes, start the dead ones again with back-off and say so, end all of them in order."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from api.stack import process
from api.stack.fork_server import EARLY, LATER, NOW
from api.stack.forking import ForkServer
from api.stack.process import Process, Started
from core import interpreter
from core.errors import ImprintError, Misconfigured

FIRST_DELAY_S = 0.2
LONGEST_DELAY_S = 10.0
WELL_AFTER_S = 30.0
TICK_S = 0.1
# When each stage of the stop ends at the latest, in seconds after its beginning; all of it stays within 10 s.
STAGE_ENDS_S = (4.5, 6.5, 7.2, 9.5)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Child:
    """A process of the service.

    `name` is that of its pid file and log. `roles` are the settings with the database roles that it connects as; it
    gets no others. `shows_metrics`: it listens for all on the stack's metrics port. `early`: the fork server forks it
    without the modules behind the mark.
    """

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    roles: Collection[str] = ()
    shows_metrics: bool = False
    early: bool = False


class Member(Protocol):
    """Protocol of whatever the supervisor watches: a server, here or elsewhere, or a child."""

    name: str

    def start(self) -> object:
        """Start it; Misconfigured where that cannot be."""

    def stop(self, grace_s: float) -> None:
        """End it and everything it began."""

    def alive(self) -> bool:
        """Return whether it runs."""

    def exit(self) -> str:
        """Return the exit status for people."""

    def last_lines(self) -> list[str]:
        """Return the last lines that it wrote; none where it is not ours."""

    @property
    def pid(self) -> int | None:
        """Its process id, None where it is not ours."""

    @property
    def where(self) -> str:
        """Its address, for people."""


class ChildProcess(Started):
    """A child as a member: started from its command line, logging to `log/<name>.log`."""

    def __init__(self, home: Path, child: Child, env: Mapping[str, str], forks: ForkServer | None = None) -> None:
        """`forks` starts it, if there is a fork server and the child is a module (`interpreter.module`)."""
        self.name = child.name
        self._forks, self._words = forks, interpreter.module_words(child.argv)
        self._home = home
        self._argv = child.argv
        self._when = EARLY if child.early else LATER
        self._env = {**os.environ, "PYTHONUNBUFFERED": "1", **env, **child.env}

    @property
    def where(self) -> str:
        """Its log."""
        return str(process.log_file(self._home, self.name))

    def start(self, when: bytes | None = None) -> None:
        """Start it, after ending what a dead one of the same name left behind; `when`: as `ForkServer.spawn` says."""
        self.stop(0.0)
        process.reclaim(self._home, self.name)
        if self._forks and self._words:
            self._process = self._forks.spawn(self._home, self.name, self._words, self._env, when or self._when)
        else:
            self._process = process.spawn(self._home, self.name, self._argv, self._env)

    def run(self) -> None:
        """Run it to its end. Misconfigured: it failed; with the line that it wrote for a person, if it did."""
        self.start(NOW)
        try:
            while self.alive():
                time.sleep(process.POLL_S)
            if self._process and self._process.exit() != "exit 0":
                raise self._failure(self._process)
        finally:
            self.stop(0.0)

    def _failure(self, ended: Process) -> Misconfigured:
        """Return what to say of a process that failed: its only line is a sentence for people."""
        is_explained = ended.exit() == "exit 1" and len(ended.last_lines()) == 1
        return Misconfigured(ended.last_words()) if is_explained else ended.not_started()


@dataclass(slots=True)
class Watched:
    """A member with its history; `due` is the moment of the next attempt, None while it runs."""

    member: Member
    started: float
    restarts: int = 0
    delay_s: float = FIRST_DELAY_S
    due: float | None = None

    @property
    def state(self) -> str:
        """`running`, or `waiting` for the next attempt."""
        return "running" if self.due is None else "waiting"


class Supervisor:
    """Supervises members in the order in which they were added, and reports what happens to them.

    Use it in the main thread: processes are signalled when the thread that started them ends.
    """

    def __init__(self, say: Say) -> None:
        self.watched: list[Watched] = []
        self._say = say

    def add(self, member: Member) -> None:
        """Start the member and watch it from now on.

        Raises:
            Misconfigured: it does not start.
        """
        entry = Watched(member, started=time.monotonic())
        self.watched.append(entry)  # first, so that an interrupted start is ended too
        member.start()

    def run(self, done: Callable[[], bool], limit_s: float = float("inf"), every_s: float = TICK_S) -> bool:
        """Keep everything alive until `done()`, looking `every_s` seconds; False where `limit_s` were not enough."""
        deadline = time.monotonic() + limit_s
        while not done():
            if time.monotonic() > deadline:
                return False
            self.check()
            time.sleep(every_s)
        return True

    def first_failing(self, tries: int) -> Member | None:
        """Return the first member that waits for a restart and has failed so many times."""
        waiting = (entry for entry in self.watched if entry.due is not None)
        return next((entry.member for entry in waiting if entry.restarts + 1 >= tries), None)

    def check(self) -> None:
        """Look at every member once."""
        for entry in self.watched:
            self._check(entry, time.monotonic())

    def stop(self) -> None:
        """End all within 10 s: workers hand back their tasks first; then api, router, clock; broker; PostgreSQL."""
        begin = time.monotonic()
        for number, end_s in enumerate(STAGE_ENDS_S):
            stage = [entry.member for entry in self.watched if _stage(entry.member.name) == number]
            _stop_together(stage, grace_s=max(0.0, begin + end_s - time.monotonic()))
        self.watched.clear()

    def _check(self, entry: Watched, now: float) -> None:
        if entry.due is None:
            if not entry.member.alive():
                self._postpone(entry, now, f"{entry.member.name} died ({entry.member.exit()})")
            elif now - entry.started > WELL_AFTER_S:
                entry.delay_s = FIRST_DELAY_S
        elif now >= entry.due:
            self._restart(entry)

    def _restart(self, entry: Watched) -> None:
        entry.restarts += 1
        try:
            entry.member.start()
        except ImprintError as error:
            self._postpone(entry, time.monotonic(), f"{entry.member.name} does not start ({error.detail})")
            return
        entry.due, entry.started = None, time.monotonic()
        self._say(f"{entry.member.name} runs again (pid {entry.member.pid}).")

    def _postpone(self, entry: Watched, now: float, what: str) -> None:
        self._say(f"{what}; starting it again in {entry.delay_s:g} s.")
        entry.due = now + entry.delay_s
        entry.delay_s = min(entry.delay_s * 2, LONGEST_DELAY_S)


def _stage(name: str) -> int:
    return 0 if name.startswith("worker") else {"broker": 2, "postgres": 3}.get(name, 1)


def _stop_together(members: Sequence[Member], grace_s: float) -> None:
    threads = [threading.Thread(target=member.stop, args=(grace_s,)) for member in members]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
