"""Fork server: imports modules once, then forks a process for each request; all of them share its memory.

Run as `api.stack.fork_server PARENT HIDDEN MODULE[:FUNCTION] …`, with a socket as standard input. A request is one
byte, NOW, EARLY or LATER, with file descriptors (`SCM_RIGHTS`): a channel, a log and a lock. From the channel only the
new process reads what it is to run, with its environment: no password of one process is ever in the memory of another.
It becomes a child of the server's parent, and then writes its pid to the channel.

Behind the byte may stand seconds: a server that is asked for nothing for so long ends. Its processes do not need it.
"""

from __future__ import annotations

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
from typing import Any, Final

from api.stack import launch

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

MESSAGE_BYTES: Final = 64

Files = list[int]
"""File descriptors of a request: channel, log and lock; none where there will be no more requests."""


def main(arguments: list[str]) -> None:
    """Import the modules and fork a process for each request, until the other end of the socket is closed."""
    parent, hidden, *modules = arguments
    launch.die_with_parent(signal.SIGTERM, int(parent))
    launch.name_process("fork-server")
    gc.disable()
    control = socket.socket(fileno=os.dup(CONTROL))
    for files in _requests(control, hidden.split(","), modules):
        if _is_born():
            control.close()
            run(_begin(int(parent), *files))
            return
        for number in files:
            os.close(number)


def _requests(control: socket.socket, hidden: list[str], modules: list[str]) -> Iterator[Files]:
    """Import the modules; yield the files of each request when its process may be forked."""
    due, waiting, rest_s = NOW, list[tuple[bytes, Files]](), b""
    for module in (*modules, END):
        if module in DUE:
            # Whatever the garbage collector looked at, it would write to, and each process would get a copy of the
            # page. Imports leave less than a megabyte to collect, and looking for it takes 6 % of their time.
            gc.freeze()
            due = DUE[module]
        else:
            _take_in(module, hidden)
        urgency = NOW
        while waiting or _is_asked(control, _patience(due, urgency, rest_s)):
            if waiting:
                urgency, files = waiting.pop()
            else:
                message, files, _, _ = socket.recv_fds(control, MESSAGE_BYTES, 3)
                urgency, rest_s = message[:1], message[1:]
            if not files:
                return
            if urgency > due:
                waiting.append((urgency, files))
                break
            yield files


def _patience(due: bytes, urgency: bytes, rest_s: bytes) -> float | None:
    """Return for how many seconds the next request is waited for."""
    if due == LATER:
        return float(rest_s) if rest_s else None
    return FOLLOW_S if urgency == EARLY else 0.0


def _is_asked(control: socket.socket, seconds: float | None) -> bool:
    return bool(select.select([control], [], [], seconds)[0])


def _is_born() -> bool:
    """Fork a process whose parent ends at once: it becomes a child of the server's. Return whether this is it."""
    if between := os.fork():
        os.waitpid(between, 0)
        return False
    between = os.getpid()
    with contextlib.suppress(OSError):
        if not os.fork():
            while os.getppid() == between:
                time.sleep(0.001)
            return True
    os._exit(0)


def _begin(parent: int, number: int, log: int, lock: int) -> list[str]:
    """Become a process of its own; return the module that it is to run, with arguments.

    It gets its own group, standard files, name and environment; the lock is open, also in what it starts.
    """
    with socket.socket(fileno=number) as channel, channel.makefile("rb") as incoming:
        request: dict[str, Any] = json.load(incoming)
        null = os.open(os.devnull, os.O_RDONLY)
        for target, source in enumerate((null, log, log)):
            os.dup2(source, target)
        os.close(null)
        os.close(log)
        os.set_inheritable(lock, True)
        os.setsid()
        launch.die_with_parent(signal.SIGTERM, parent)
        launch.name_process(request["name"])
        os.environ.clear()
        os.environ.update(request["env"])
        time.tzset()
        channel.sendall(str(os.getpid()).encode())
    return list(request["arguments"])


def run(arguments: list[str]) -> None:
    """Run a module as `python -m` does, with its arguments."""
    gc.enable()
    sys.argv = arguments
    warnings.filterwarnings("ignore", ".* found in sys.modules", RuntimeWarning, "runpy")  # That is the purpose here.
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)


def _take_in(entry: str, hidden: list[str]) -> None:
    """Import a module while imports of hidden ones fail; with `:function`, call that function of it, too."""
    for name in hidden:
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]
    module, _, function = entry.partition(":")
    imported = import_module(module)
    if function:
        getattr(imported, function)()
    for name in hidden:
        if sys.modules[name] is None:
            del sys.modules[name]


if __name__ == "__main__":
    main(sys.argv[1:])
