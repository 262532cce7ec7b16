"""Fork server: imports modules once, then forks a process for each request; all of them share its memory.

Run as `api.stack.fork_server MODULE[:FUNCTION] …`, with a socket as standard input. A request is one byte, NOW,
EARLY or LATER, with the file descriptor of a channel (`SCM_RIGHTS`), on which only the new process reads what it is to
run, with its environment: no password of one process is ever in the memory of another. The process answers with its
pid, and the server with its wait status when it has ended.

With `--ahead PID` it begins before its stack is known, as a child of that process: where HOME stands among the modules
it waits for a request like the others, which says its log, its lock and its environment.

With `--rest SECONDS` a server that is asked for nothing for so long replaces itself by one that has imported nothing;
its processes stay its children. It imports everything again when it is asked, so that the new process waits for that.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import runpy
import select
import signal
import socket
import sys
import time
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final, NoReturn

from api.stack import launch
from api.stack.fork_marks import HOME, MARK
from core import interpreter

CONTROL: Final = 0
"""File descriptor of the socket on which requests come."""

NOW: Final = b"!"
"""Fork between two imports: for a process that ends soon."""

EARLY: Final = b"-"
"""Fork as soon as the modules before MARK are imported: the process starts while the others are."""

FOLLOW_S: Final = 0.05
"""After an EARLY process others follow as soon as it has begun, and the next import may take a second."""

LATER: Final = b"+"
"""Fork when everything is imported."""

Channels = dict[int, socket.socket]
"""Open channels by pid."""


class _Server:
    """The server: what it imports, its processes' channels, and after how many seconds it rests (None: never)."""

    def __init__(self, modules: list[str], rest_s: float | None, children: str, *, is_ahead: bool) -> None:
        """`children`: pid and file descriptor of each channel, of processes forked before it rested.

        `is_ahead`: its home is not known yet.
        """
        self._modules, self._rest_s, self._is_ahead = modules, rest_s, is_ahead
        self._control = socket.socket(fileno=os.dup(CONTROL))
        pairs = (child.partition(":") for child in children.split(",") if child)
        self._channels: Channels = {int(pid): socket.socket(fileno=int(number)) for pid, _, number in pairs}

    def serve(self) -> dict[str, Any] | None:
        """Serve requests; return None when there will be no more, and in each new process what it is to run."""
        signal.signal(signal.SIGCHLD, lambda *_: _reap(self._channels))
        gc.disable()
        _reap(self._channels)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])  # It was blocked before the server rested.
        for channel in self._requests():
            if not _fork(channel, self._channels):
                return _accepted(self._control, channel)
        return None

    def _requests(self) -> Iterator[socket.socket]:
        """Import the modules; yield the channel of each request when its process may be forked."""
        due = {NOW}
        held = [_receive(self._control)] if self._channels else []  # Asked for one, it has ended its rest.
        for module in self._modules:
            if module == HOME:
                if not self._has_home():
                    return
            elif module == MARK:
                gc.freeze()
                due.add(EARLY)
            else:
                _take_in(module)
            if self._is_ahead:
                continue
            urgency = NOW
            while held or self._is_asked(FOLLOW_S if urgency == EARLY else 0):
                urgency, channel = held.pop() if held else _receive(self._control)
                if channel is None:
                    return
                if urgency not in due:
                    held.append((urgency, channel))
                    break
                yield channel
        # Whatever the garbage collector looked at, it would write to: each process would get a copy of the page.
        # Imports leave less than a megabyte to collect, and looking for it takes 6 % of their time.
        gc.freeze()
        channel = held.pop()[1] if held else self._next()
        while channel:
            yield channel
            channel = self._next()

    def _has_home(self) -> bool:
        """Return whether there is a home to serve; a server that began ahead waits for it."""
        if not self._is_ahead:
            return True
        _, channel = _receive(self._control)
        if channel is None:
            return False
        with channel, channel.makefile("rb") as incoming:
            home = json.load(incoming)
            self._rest_s = home["rest_s"]
            _log_to(home["log"])
            os.environ.clear()
            os.environ.update(home["env"])
            time.tzset()
            os.environ[launch.LOCK_DESCRIPTOR] = str(launch.hold(home["lock"]))
        self._is_ahead = False
        return True

    def _next(self) -> socket.socket | None:
        """Return the channel of the next request; None: there will be no more."""
        if self._rest_s is not None and self._channels and not self._is_asked(self._rest_s):
            self._rest()
        return _receive(self._control)[1]

    def _is_asked(self, seconds: float) -> bool:
        return bool(select.select([self._control], [], [], seconds)[0])

    def _rest(self) -> NoReturn:
        """Replace this process by one that waits without the modules; what ends meanwhile is reaped by that."""
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        for channel in self._channels.values():
            channel.set_inheritable(True)
        children = ",".join(f"{pid}:{channel.fileno()}" for pid, channel in self._channels.items())
        arguments = ["--rest", str(self._rest_s), "--children", children, *self._modules]
        command = interpreter.module("api.stack.fork_server", *arguments)
        os.execv(command[0], command)  # noqa: S606 - no shell


def main(arguments: list[str]) -> None:
    """Import the modules and fork a process for each request, until the other end of the socket is closed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rest", type=float)
    parser.add_argument("--children", default="")
    parser.add_argument("--ahead", type=int)
    parser.add_argument("modules", nargs="+")
    options = parser.parse_args(arguments)
    if options.ahead:
        os.setsid()
        launch.die_with_parent(signal.SIGTERM, options.ahead)
    request = _Server(options.modules, options.rest, options.children, is_ahead=bool(options.ahead)).serve()
    if request is not None:
        run(request)


def _take_in(entry: str) -> None:
    """Import a module; with `:function`, call that function of it, too."""
    module, _, function = entry.partition(":")
    imported = import_module(module)
    if function:
        getattr(imported, function)()


def _receive(control: socket.socket) -> tuple[bytes, socket.socket | None]:
    """Return the urgency of the next request, and its channel; None: there will be no more."""
    urgency, descriptors, _, _ = socket.recv_fds(control, 1, 1)
    return urgency, socket.socket(fileno=descriptors[0]) if descriptors else None


def _fork(channel: socket.socket, channels: Channels) -> bool:
    """Fork for a request; return False in the new process."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])  # One that ends at once must be known by then.
    pid = os.fork()
    if pid:
        channels[pid] = channel
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        return True
    for other in channels.values():
        other.close()
    return False


def _accepted(control: socket.socket, channel: socket.socket) -> dict[str, Any]:
    """In a new process: leave the server behind and return what it is to run."""
    control.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    with channel, channel.makefile("rb") as incoming:
        request: dict[str, Any] = json.load(incoming)
        _settle(request)
        channel.sendall(f"pid {os.getpid()}\n".encode())
    return request


def _settle(request: dict[str, Any]) -> None:
    """Become a process of its own: its lock and not the server's, its group, log, name and environment."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    _log_to(request["log"])
    os.close(int(os.environ[launch.LOCK_DESCRIPTOR]))
    launch.hold(request["lock"])
    os.setsid()
    launch.die_with_parent(signal.SIGTERM, request["parent"])
    launch.name_process(request["name"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()


def _log_to(path: str) -> None:
    """Append to this file what is printed, and all errors."""
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for target in (1, 2):
        os.dup2(log, target)
    os.close(log)


def run(request: dict[str, Any]) -> None:
    """Run a module as `python -m` does, with its arguments."""
    gc.enable()
    module, *arguments = request["words"]
    sys.argv = [module, *arguments]
    warnings.filterwarnings("ignore", ".* found in sys.modules", RuntimeWarning, "runpy")  # That is the purpose here.
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _reap(channels: Channels) -> None:
    """Tell of each process that has ended how it ended."""
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with channels.pop(pid) as channel, contextlib.suppress(OSError):  # Its supervisor may be gone.
                channel.sendall(f"status {status}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1:])
