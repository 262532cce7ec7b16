"""The two servers behind the service, each with `start() -> url`, `stop()` and `alive()`.

`Postgres` and `Broker` run the programs that two wheels carry; `External` stands for a server that runs elsewhere.
The wheels' own Python wrappers are left aside: they stop servers at interpreter exit, trust every local connection,
and, run by root, create a system user and open folders to all.
"""

from __future__ import annotations

import signal
import time
from abc import abstractmethod
from pathlib import Path
from typing import Protocol

from api.stack import process, run_files
from api.stack.process import Process
from core.errors import Misconfigured

START_LIMIT_S = 120.0  # a crash recovery may have much to replay
STOP_GRACE_S = 5.0
CONNECT_LIMIT_S = 5
PORT_TRIES = 3


class Server(Protocol):
    """Protocol of a server, as the supervisor and the tests use it."""

    name: str

    def start(self) -> str:
        """Start it, or find it, and return the URL that clients use."""

    def stop(self, grace_s: float = STOP_GRACE_S) -> None:
        """End it and everything it began."""

    def alive(self) -> bool:
        """Return whether it runs."""

    def exit(self) -> str:
        """The exit status for people."""

    @property
    def url(self) -> str:
        """The URL that `start` returned."""

    @property
    def pid(self) -> int | None:
        """Its process id, None where it is not ours."""

    @property
    def where(self) -> str:
        """Its address without the password, for people."""


class LocalServer:
    """A server of this machine: its process, its loopback port, its data under `home/<name>`."""

    name: str
    farewell: signal.Signals
    port_taken: str  # what its log says when someone else listens on the port

    def __init__(self, home: Path, *, durable: bool) -> None:
        self.home = home
        self.data = home / self.name
        self.durable = durable
        self.port = 0
        self._process: Process | None = None

    @property
    def pid(self) -> int | None:
        """The server's process id."""
        return self._process.pid if self._process else None

    def stop(self, grace_s: float = STOP_GRACE_S) -> None:
        """End it in order; what takes longer than `grace_s` seconds is killed."""
        if self._process:
            self._process.end(self.farewell, grace_s)
            self._process = None

    def alive(self) -> bool:
        """Return whether the server's process runs."""
        return self._process is not None and self._process.alive()

    def exit(self) -> str:
        """The exit status."""
        return self._process.exit() if self._process else "stopped"

    def _listen(self) -> None:
        """Launch and wait for an answer; a first start takes another port where someone grabbed the chosen one."""
        tries = 1 if self.port else PORT_TRIES
        for left in reversed(range(tries)):
            self.port = self.port or run_files.port(self.home, self.name)
            self._process = self._launch()
            if self._wait_for_answer():
                return
            words = self._process.last_words()
            if self.port_taken not in words or not left:
                raise Misconfigured(f"{self.name} does not start: {words}")
            self.port = 0

    def _wait_for_answer(self) -> bool:
        """False when the server ended instead."""
        deadline = time.monotonic() + START_LIMIT_S
        while self.alive():
            if self._answers():
                return True
            if time.monotonic() > deadline:
                self.stop()
                log = process.log_file(self.home, self.name)
                raise Misconfigured(f"{self.name} did not answer within {START_LIMIT_S:.0f} s; see {log}.")
            time.sleep(process.POLL_S)
        return False

    @abstractmethod
    def _launch(self) -> Process: ...

    @abstractmethod
    def _answers(self) -> bool: ...
