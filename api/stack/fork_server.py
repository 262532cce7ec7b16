"""Fork server: imports modules once, then forks a process for each request; all of them share its memory.

Run as `api.stack.fork_server PARENT HIDDEN MODULE[:FUNCTION] …`, with a socket as standard input. A request is one
byte, NOW, EARLY or LATER, with file descriptors (`SCM_RIGHTS`): a channel, a log and a lock. From the channel only the
new process reads what it is to run, with its environment: no password of one process is ever in the memory of another.
The server writes to it the pid, and the wait status at the end.

Behind the byte may stand seconds: a server that is asked for nothing for so long replaces itself by one that has
imported nothing; its processes stay its children. It imports everything again when it is asked, so that the new process
waits for that.
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
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
from core import interpreter

CONTROL: Final = 0
"""File descriptor of the socket on which requests come."""

NOW, EARLY, LATER = b"0", b"1", b"2"
"""Fork between two imports, for a process that ends soon; as soon as the modules before MARK are imported, so that the
process starts while the others are; when everything is imported."""

MARK, END = "/", ""
"""Stand behind the modules that an early process needs, and behind all."""

DUE: Final = {MARK: EARLY, END: LATER}

FOLLOW_S: Final = 0.05
"""After an EARLY process others follow as soon as it has begun, and the next import may take a second."""

NUMBER_BYTES: Final = 4
"""Length of a pid or a status on a channel."""

Request = tuple[bytes, list[int]]
"""When to fork, and the file descriptors; none where there will be no more requests."""


class _Server:
    """The server: what it imports, and its processes' channels."""

    def __init__(self, arguments: list[str]) -> None:
        parent, hidden, *self._modules = arguments
        self._parent, self._hidden = parent, hidden.split(",")
        self._control = socket.socket(fileno=os.dup(CONTROL))
        self._keep_s = math.inf
        children = json.loads(os.environ.pop("STACK_FORKED", "{}"))
        self._channels = {int(pid): socket.socket(fileno=number) for pid, number in children.items()}

    def serve(self) -> dict[str, Any] | None:
        """Serve requests; return None when there will be no more, and in each new process what it is to run."""
        server = os.getpid()
        launch.die_with_parent(signal.SIGTERM, int(self._parent))
        signal.signal(signal.SIGCHLD, lambda *_: self._reap())
        gc.disable()
        self._reap()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])  # It was blocked before the server rested.
        for channel, *own in self._requests():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])  # One that ends at once must be known by then.
            pid = os.fork()
            if not pid:
                return self._begin(server, channel, own)
            self._channels[pid] = socket.socket(fileno=channel)
            _tell(self._channels[pid], pid)
            for number in own:
                os.close(number)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        return None

    def _requests(self) -> Iterator[list[int]]:
        """Import the modules; yield the descriptors of each request when its process may be forked."""
        due = NOW
        waiting = [self._receive()] if self._channels else []  # Asked for one, it has ended its rest.
        for module in (*self._modules, END):
            if module in DUE:
                # Whatever the garbage collector looked at, it would write to, and each process would get a copy of the
                # page. Imports leave less than a megabyte to collect, and looking for it takes 6 % of their time.
                gc.freeze()
                due = DUE[module]
            else:
                with _without(self._hidden):
                    _take_in(module)
            urgency = NOW
            while waiting or due == LATER or self._is_asked(FOLLOW_S if urgency == EARLY else 0):
                urgency, descriptors = waiting.pop() if waiting else self._next()
                if not descriptors:
                    return
                if urgency > due:
                    waiting.append((urgency, descriptors))
                    break
                yield descriptors

    def _next(self) -> Request:
        """Return the next request; rest if there is none for long."""
        if self._channels and not self._is_asked(self._keep_s):
            self._rest()
        return self._receive()

    def _receive(self) -> Request:
        message, descriptors, _, _ = socket.recv_fds(self._control, 64, 3)
        self._keep_s = float(message[1:] or "inf")
        return message[:1], descriptors

    def _is_asked(self, seconds: float) -> bool:
        return bool(select.select([self._control], [], [], None if seconds == math.inf else seconds)[0])

    def _rest(self) -> NoReturn:
        """Replace this process by one that waits without the modules; what ends meanwhile is reaped by that."""
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        for channel in self._channels.values():
            channel.set_inheritable(True)
        os.environ["STACK_FORKED"] = json.dumps({pid: channel.fileno() for pid, channel in self._channels.items()})
        command = interpreter.module("api.stack.fork_server", self._parent, ",".join(self._hidden), *self._modules)
        os.execv(command[0], command)  # noqa: S606 - no shell

    def _reap(self) -> None:
        """Tell of each process that has ended how it ended."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                with self._channels.pop(ended[0]) as channel:
                    _tell(channel, ended[1])

    def _begin(self, server: int, number: int, own: list[int]) -> dict[str, Any]:
        """In a new process: leave the server behind and return what it is to run.

        It gets its own group, standard files, name and environment; the lock is open, also in what it starts.
        """
        for other in (self._control, *self._channels.values()):
            other.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        with socket.socket(fileno=number) as channel, channel.makefile("rb") as incoming:
            request: dict[str, Any] = json.load(incoming)
        null, (log, lock) = os.open(os.devnull, os.O_RDONLY), own
        for target, source in enumerate((null, log, log)):
            os.dup2(source, target)
        os.close(null)
        os.close(log)
        os.set_inheritable(lock, True)
        os.setsid()
        launch.die_with_parent(signal.SIGTERM, server)
        launch.name_process(request["name"])
        os.environ.clear()
        os.environ.update(request["env"])
        time.tzset()
        return request


def main(arguments: list[str]) -> None:
    """Import the modules and fork a process for each request, until the other end of the socket is closed."""
    request = _Server(arguments).serve()
    if request is not None:
        run(request["words"])


def run(words: list[str]) -> None:
    """Run a module as `python -m` does, with its arguments."""
    gc.enable()
    sys.argv = words
    warnings.filterwarnings("ignore", ".* found in sys.modules", RuntimeWarning, "runpy")  # That is the purpose here.
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)


def _take_in(entry: str) -> None:
    """Import a module; with `:function`, call that function of it, too."""
    module, _, function = entry.partition(":")
    imported = import_module(module)
    if function:
        getattr(imported, function)()


@contextlib.contextmanager
def _without(hidden: list[str]) -> Iterator[None]:
    """Let imports of these fail meanwhile, unless they have been imported already."""
    for name in hidden:
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in hidden:
            if sys.modules[name] is None:
                del sys.modules[name]


def _tell(channel: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):  # Its supervisor may be gone.
        channel.sendall(number.to_bytes(NUMBER_BYTES))


if __name__ == "__main__":
    main(sys.argv[1:])
