"""Client of the fork server: processes of the service that share the memory of what they all import."""

from __future__ import annotations

import contextlib
import io
import json
import os
import platform
import select
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from api.stack import ahead, process
from api.stack.fork_server import LATER
from api.stack.process import NotStarted, Process
from core import interpreter

FORK_LIMIT_S: Final = 60.0
"""A request waits for the import that is under way."""

END_LIMIT_S: Final = 1.0
"""A server that has closed its socket ends within that time."""


class Begun:
    """A server that began before its home was known (`ahead.begin`), as a handle like `subprocess.Popen`."""

    def __init__(self, pid: int, control: socket.socket, output: io.FileIO) -> None:
        """`control`: the socket by which it is asked; `output`: what it writes before it has a log, not waited for."""
        self.pid, self.control, self._output = pid, control, output
        self._code: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        if self._code is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if ended else None
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit code. Raises subprocess.TimeoutExpired."""
        end = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if end is not None and time.monotonic() >= end:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
            time.sleep(process.POLL_S)
        return code

    def send_signal(self, sig: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, sig)

    def take_words(self) -> bytes:
        """Return what it has written, once, before it had a log."""
        return b"" if self._output.closed else self._output.read() or b""

    def close(self) -> None:
        """Close the socket: the server ends. May be repeated."""
        self.control.close()
        self._output.close()


def begun() -> Begun | None:
    """Return the server that this process has begun ahead, once."""
    handover = os.environ.pop(ahead.VARIABLE, "")
    if not handover:
        return None
    pid, control, output = map(int, handover.split(":"))
    for end in (control, output):
        os.set_inheritable(end, False)
    return Begun(pid, socket.socket(fileno=control), io.FileIO(output))


class ForkServer:
    """The fork server as a member of the stack. Linux only: elsewhere libraries do not survive a fork."""

    name = "fork-server"

    def __init__(
        self,
        home: Path,
        modules: Sequence[str],
        env: Mapping[str, str],
        rest_s: float | None = None,
        first: Begun | None = None,
    ) -> None:
        """`modules` are imported in this order; `env` is that of the server and must hold no secret.

        `rest_s`: seconds without a request after which it drops what it has imported; the next process waits for it.
        `first`: a server that has begun with these modules, and is used for the first start.
        """
        self._home, self._modules, self._env, self._rest_s, self._first = home, modules, env, rest_s, first
        self._adopted: Begun | None = None
        self._process: Process | None = None
        self._control: socket.socket | None = None

    @property
    def pid(self) -> int | None:
        """Its process id."""
        return self._process.pid if self._process else None

    @property
    def where(self) -> str:
        """Its log."""
        return str(process.log_file(self._home, self.name))

    def start(self) -> None:
        """Start it; it imports its modules meanwhile."""
        self.stop(0.0)
        process.reclaim(self._home, self.name)
        first, self._first = self._first, None
        if first and self._adopt(first):
            return
        rest = [] if self._rest_s is None else ["--rest", str(self._rest_s)]
        command = interpreter.module("api.stack.fork_server", *rest, *self._modules)
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = process.spawn(self._home, self.name, command, self._env, stdin=theirs)

    def _adopt(self, first: Begun) -> bool:
        """Give a server that has begun its home; return False if it has ended."""
        with process.open_log(self._home, self.name) as log:
            log_start = log.tell()
        self._adopted = first
        home = {
            "rest_s": self._rest_s,
            "log": str(process.log_file(self._home, self.name)),
            "lock": str(process.lock_file(self._home, self.name)),
            "env": dict(self._env),
        }
        ours, theirs = socket.socketpair()
        with ours, theirs, contextlib.suppress(OSError):
            ours.settimeout(FORK_LIMIT_S)
            socket.send_fds(first.control, [LATER], [theirs.fileno()])
            ours.sendall(json.dumps(home).encode())
            process.write_pid(self._home, self.name, first.pid)
            self._control, self._process = first.control, Process(self._home, self.name, first, log_start)
            return True
        self._let_go()
        return False

    def _let_go(self) -> None:
        """Be done with a server that began ahead."""
        if self._adopted:
            self._keep_words()
            self._adopted.close()
            self._adopted = None

    def _keep_words(self) -> None:
        """Write to the log what the server has written before it had one."""
        output = self._adopted.take_words() if self._adopted else b""
        if output:
            with process.open_log(self._home, self.name) as log:
                log.write(output)

    def stop(self, grace_s: float) -> None:
        """End it: SIGTERM, and SIGKILL after `grace_s` seconds. On its death its processes are told to end."""
        if self._control:
            self._control.close()
            self._control = None
        self._let_go()
        if self._process:
            self._process.end(signal.SIGTERM, grace_s)
            self._process = None

    def alive(self) -> bool:
        """Return whether it runs."""
        return self._process is not None and self._process.alive()

    def exit(self) -> str:
        """Return the exit status, with the last line of its log if there is one."""
        self._keep_words()
        return process.farewell_of(self._process)

    def last_lines(self) -> list[str]:
        """Return the last lines of its log."""
        self._keep_words()
        return self._process.last_lines() if self._process else []

    def spawn(self, name: str, arguments: Sequence[str], env: Mapping[str, str], when: bytes = LATER) -> Process:
        """Fork a process that runs a module with `arguments`, logging and locking as `process.spawn` does.

        `when`: NOW and EARLY do not wait until everything is imported.

        Raises:
            NotStarted: the server is not there or does not answer, or the process could not begin.
        """
        if self._control is None or not self.alive():
            raise self.failure(name)
        with process.open_log(self._home, name) as log:
            log_start = log.tell()
        request = {
            "name": name,
            "words": list(arguments),
            "env": dict(env),
            "lock": str(process.lock_file(self._home, name)),
            "log": str(process.log_file(self._home, name)),
            "parent": self.pid,
        }
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._control, [when], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise self.failure(name) from error
        forked = self._forked(name, ours, json.dumps(request).encode(), log_start)
        process.write_pid(self._home, name, forked.pid)
        return Process(self._home, name, forked, log_start)

    def _forked(self, name: str, channel: socket.socket, request: bytes, log_start: int) -> Forked:
        try:
            return Forked(channel, request)
        except TimeoutError as error:
            detail = f" ({lines[-1]})" if (lines := self.last_lines()) else ""
            raise self._waits(name, f"has not answered for {FORK_LIMIT_S:g} s{detail}") from error
        except EOFError as error:
            raise self.failure(name) from error
        except ChildProcessError as error:
            lines = process.written(self._home, name, log_start)
            detail = f"{error}: {process.telling(lines)}" if lines else str(error)
            log = process.log_file(self._home, name)
            raise NotStarted(f"{name} ended before it began ({detail}); see {log}.", lines) from error

    def has_ended(self) -> bool:
        """Return whether it has ended; one that has just closed its connections is waited for."""
        if self._process:
            self._process.wait(END_LIMIT_S)
        return not self.alive()

    def failure(self, name: str) -> NotStarted:
        """Return what to say of a process that needed the server, which has ended."""
        self.has_ended()
        return self._waits(name, f"has ended ({self.exit()})")

    def _waits(self, name: str, why: str) -> NotStarted:
        lines = self.last_lines()
        return NotStarted(f"{name} waits for the fork server, which {why}; see {self.where}.", lines)


class Forked:
    """A process that the server has forked, as a handle like `subprocess.Popen`."""

    def __init__(self, channel: socket.socket, request: bytes) -> None:
        """Send the request and wait for the pid.

        Raises:
            TimeoutError: the server does not answer.
            EOFError: it has ended.
            ChildProcessError: the process has ended before it began; how.
        """
        self._channel = channel
        self._code: int | None = None
        channel.settimeout(FORK_LIMIT_S)
        try:
            self.pid = self._begin(request)
        except BaseException:
            channel.close()
            raise

    def _begin(self, request: bytes) -> int:
        with contextlib.suppress(ConnectionError):
            self._channel.sendall(request)
            self._channel.shutdown(socket.SHUT_WR)
        reply = self._read()
        if reply is None:
            raise EOFError
        kind, number = reply
        if kind != "pid":
            raise ChildProcessError(process.ending(os.waitstatus_to_exitcode(number)))
        return number

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
            reply = self._read()
            # Without a word the server has died, and has taken the process with it.
            self._code = os.waitstatus_to_exitcode(reply[1]) if reply else -signal.SIGTERM
            self._channel.close()
        return self._code

    def _read(self) -> tuple[str, int] | None:
        """Read one line byte by byte: the next one may lie behind it already."""
        line = b""
        with contextlib.suppress(ConnectionError):
            while not line.endswith(b"\n"):
                if not (byte := self._channel.recv(1)):
                    return None
                line += byte
        kind, _, number = line.decode().partition(" ")
        return (kind, int(number)) if number else None


def is_supported() -> bool:
    """Return whether processes can be forked from a server here."""
    return platform.system() == "Linux"
