"""The two servers behind the service, each with `start() -> url`, `stop()` and `alive()`.

`Postgres` and `Broker` run the programs from two wheels; `External` represents a server elsewhere. The wheels' own
Python wrappers are not used: they stop servers at interpreter exit, trust every local connection and, when run by
root, create a system user and open folders to all.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from pathlib import Path

from api.stack import process, run_files
from api.stack.process import Process, Started
from core.errors import Misconfigured

START_LIMIT_S = 120.0  # a crash recovery may have much to replay
CONNECT_LIMIT_S = 5
PORT_TRIES = 3


class LocalServer(Started):
    """A server on this machine: its process, its loopback port, its data under `home/<name>`."""

    port_taken: str  # what its log says when someone else listens on the port

    def __init__(self, home: Path, *, durable: bool) -> None:
        self.home = home
        self.data = home / self.name
        self.durable = durable
        self.port = 0
        self.start_limit_s = START_LIMIT_S

    def _listen(self) -> None:
        """Launch it and wait until it answers; a first start uses another port if the chosen one is taken."""
        tries = 1 if self.port else PORT_TRIES
        for left in reversed(range(tries)):
            self.port = self.port or run_files.port(self.home, self.name)
            self._process = self._launch()
            if self._wait_for_answer():
                return
            message = self._process.last_words()
            if self.port_taken not in message or not left:
                raise self._process.not_started()
            self.port = 0

    def _wait_for_answer(self) -> bool:
        """Return False if the server ended instead."""
        deadline = time.monotonic() + self.start_limit_s
        while self.alive():
            if self._answers():
                return True
            if time.monotonic() > deadline:
                self.stop()
                log = process.log_file(self.home, self.name)
                raise Misconfigured(f"{self.name} did not answer within {self.start_limit_s:.0f} s; see {log}.")
            time.sleep(process.POLL_S)
        return False

    @abstractmethod
    def _launch(self) -> Process: ...

    @abstractmethod
    def _answers(self) -> bool: ...
