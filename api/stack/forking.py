"""Client of the fork server: processes of the service that share the memory of what they all import."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import select
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from api.stack import process
from api.stack.fork_server import LATER, NUMBER_BYTES
from api.stack.process import NotStarted, Process
from core import interpreter

FORK_LIMIT_S: Final = 60.0
"""A request waits for the import that is under way."""

END_LIMIT_S: Final = 1.0
"""A server that has closed its socket ends within that time."""


class ForkServer:
    """A fork server as a member of the stack. It begins at once, and needs no home before it is started.

    What it has to say, which is why it could not import something, goes to this process's standard error.
    """

    name = "fork-server"

    def __init__(self, modules: Sequence[str], env: Mapping[str, str], hidden: Sequence[str] = ()) -> None:
        """`modules` are imported in this order; `env` is added to this process's environment.

        It must hide every secret of that. `hidden`: libraries that others import where they find them, and shall not.
        """
        self._modules, self._env, self._hidden = modules, {**os.environ, **env}, hidden
        self._home = Path()
        self._rest_s = b""
        self._begin()

    def settle(self, home: Path, rest_s: float | None = None) -> None:
        """Serve this home. `rest_s`: seconds without a request after which it drops what it has imported."""
        self._home, self._rest_s = home, b"" if rest_s is None else str(rest_s).encode()

    def _begin(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        hidden = ",".join(self._hidden)
        command = interpreter.module("api.stack.fork_server", str(os.getpid()), hidden, *self._modules)
        with theirs:
            self._server = subprocess.Popen(  # noqa: S603 - the command is ours and goes through no shell
                command, env=self._env, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, start_new_session=True
            )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._server.pid

    @property
    def where(self) -> str:
        """Where it writes."""
        return "standard error"

    def start(self) -> None:
        """Take note of the one that has begun; begin another one if that has ended. It imports meanwhile."""
        if not self.alive():
            self.stop(0.0)
            self._begin()
        process.write_pid(self._home, self.name, self.pid)

    def stop(self, grace_s: float) -> None:
        """End it: SIGTERM, and SIGKILL after `grace_s` seconds. On its death its processes are told to end."""
        self._control.close()
        self._server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._server.wait(grace_s)
        self._server.kill()
        self._server.wait()

    def alive(self) -> bool:
        """Return whether it runs."""
        return self._server.poll() is None

    def exit(self) -> str:
        """Return the exit status for people."""
        code = self._server.poll()
        return "running" if code is None else process.ending(code)

    def last_lines(self) -> list[str]:
        """Return no lines: it has no log."""
        return []

    def spawn(self, name: str, words: Sequence[str], env: Mapping[str, str], when: bytes = LATER) -> Process:
        """Fork a process that runs a module with arguments, logging and locking as `process.spawn` does.

        `when`: NOW and EARLY do not wait until everything is imported.

        Raises:
            NotStarted: the server is not there or does not answer, or the name is held.
        """
        if not self.alive():
            raise self.failure(name)
        request = json.dumps({"name": name, "words": list(words), "env": dict(env)})
        with process.held(self._home, name) as lock, process.open_log(self._home, name) as log:
            log_start = log.tell()
            try:
                forked = self._fork(when, request, [log.fileno(), lock])
            except TimeoutError as error:
                why = f"has not answered for {FORK_LIMIT_S:g} s"
                raise NotStarted(f"{name} waits for the fork server, which {why}.") from error
            except OSError as error:
                raise self.failure(name) from error
            process.write_pid(self._home, name, forked.pid)
            return Process(self._home, name, forked, log_start)

    def _fork(self, when: bytes, request: str, files: list[int]) -> Forked:
        """Send a request. TimeoutError: the server does not answer. ConnectionError: it has ended."""
        ours, theirs = socket.socketpair()
        ours.settimeout(FORK_LIMIT_S)
        try:
            with theirs:
                socket.send_fds(self._control, [when + self._rest_s], [theirs.fileno(), *files])
            ours.sendall(request.encode())
            ours.shutdown(socket.SHUT_WR)
            return Forked(ours)
        except OSError:
            ours.close()
            raise

    def has_ended(self) -> bool:
        """Return whether it has ended; one that has just closed its connections is waited for."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._server.wait(END_LIMIT_S)
        return not self.alive()

    def failure(self, name: str) -> NotStarted:
        """Return what to say of a process that needed the server, which has ended."""
        self.has_ended()
        return NotStarted(f"{name} waits for the fork server, which has ended ({self.exit()}).")


class Forked:
    """A process that the server has forked, as a handle like `subprocess.Popen`."""

    def __init__(self, channel: socket.socket) -> None:
        """Wait for the pid. TimeoutError: the server does not answer. ConnectionError: it has ended."""
        self._channel = channel
        self._code: int | None = None
        number = self._read()
        if number is None:
            raise ConnectionResetError
        self.pid = number

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        return self._wait(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit code. Raises subprocess.TimeoutExpired."""
        code = self._wait(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
        return code

    def send_signal(self, sig: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, sig)

    def _wait(self, timeout: float | None) -> int | None:
        if self._code is None and select.select([self._channel], [], [], timeout)[0]:
            status = self._read()
            # Without a word the server has died, and has taken the process with it.
            self._code = -signal.SIGTERM if status is None else os.waitstatus_to_exitcode(status)
            self._channel.close()
        return self._code

    def _read(self) -> int | None:
        with contextlib.suppress(ConnectionError):
            if number := self._channel.recv(NUMBER_BYTES):
                return int.from_bytes(number)
        return None


def is_supported() -> bool:
    """Return whether processes can be forked from a server here."""
    return platform.system() == "Linux"
