"""Client of the fork server: processes of the service that share the memory of what they all import."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from api.stack import launch, process
from api.stack.fork_server import LATER, MESSAGE_BYTES
from api.stack.process import NotStarted, Process
from core import interpreter

FORK_LIMIT_S: Final = 60.0
"""A request waits for the import that is under way."""


class ForkServer:
    """A fork server. It begins at once, ends when it has rested for `rest_s` seconds, and begins again when needed.

    What it has to say, which is why it could not import something, goes to this process's standard error.
    """

    def __init__(self, modules: Sequence[str], env: Mapping[str, str], hidden: Sequence[str] = ()) -> None:
        """`modules` are imported in this order; `env` is added to this process's environment.

        It must hide every secret of that. `hidden`: libraries that others import where they find them, and shall not.
        """
        self._modules, self._env, self._hidden = modules, {**os.environ, **env}, ",".join(hidden)
        self.rest_s: float | None = None
        self._begin()

    def _begin(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = interpreter.module("api.stack.fork_server", str(os.getpid()), self._hidden, *self._modules)
        with theirs:
            self._server = subprocess.Popen(  # noqa: S603 - the command is ours and goes through no shell
                command, env=self._env, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, start_new_session=True
            )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._server.pid

    def spawn(
        self, home: Path, name: str, arguments: Sequence[str], env: Mapping[str, str], when: bytes = LATER
    ) -> Process:
        """Fork a process that runs a module with arguments, logging and locking as `process.spawn` does.

        `when`: NOW and EARLY do not wait until everything is imported.

        Raises:
            NotStarted: the server has ended or does not answer, or the name is held.
        """
        if self._server.poll() is not None:
            self.stop()
            self._begin()
        request = json.dumps({"name": name, "arguments": list(arguments), "env": dict(env)})
        with process.held(home, name) as lock, process.open_log(home, name) as log:
            log_start = log.tell()
            try:
                forked = self._fork(when, request, [log.fileno(), lock])
            except OSError as error:
                raise NotStarted(f"{name} waits for the fork server, which {self._silence(error)}.") from error
        process.write_pid(home, name, forked.pid)
        return Process(home, name, forked, log_start)

    def _fork(self, when: bytes, request: str, files: Sequence[int]) -> Forked:
        rest = b"" if self.rest_s is None else str(self.rest_s).encode()
        ours, theirs = socket.socketpair()
        with ours, launch.adopting():
            with theirs:
                socket.send_fds(self._control, [when + rest], [theirs.fileno(), *files])
            ours.settimeout(FORK_LIMIT_S)
            ours.sendall(request.encode())
            ours.shutdown(socket.SHUT_WR)
            pid = ours.recv(MESSAGE_BYTES)
        if not pid:
            raise ConnectionResetError
        return Forked(int(pid), self._server)

    def _silence(self, error: OSError) -> str:
        """Return why it has not answered."""
        if isinstance(error, TimeoutError):
            return f"has not answered for {FORK_LIMIT_S:g} s"
        with contextlib.suppress(subprocess.TimeoutExpired):
            return f"has ended ({process.ending(self._server.wait(1.0))})"
        return f"has refused ({error})"

    def stop(self) -> None:
        """End it; its processes stay. May be repeated."""
        self._control.close()
        self._server.kill()
        self._server.wait()


class Forked:
    """A process that the server has forked for this one, as a handle like `subprocess.Popen`."""

    def __init__(self, pid: int, server: subprocess.Popen[bytes]) -> None:
        self.pid, self._server = pid, server
        self._code: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        self._server.poll()  # One that has ended is taken note of when any of its processes is looked at.
        if self._code is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if ended else None
        return self._code

    def wait(self, timeout: float) -> int:
        """Wait for the exit code. Raises subprocess.TimeoutExpired."""
        end = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() >= end:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(process.POLL_S)
        return code

    def send_signal(self, sig: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, sig)


def is_supported() -> bool:
    """Return whether processes can be forked from a server here."""
    return platform.system() == "Linux"
