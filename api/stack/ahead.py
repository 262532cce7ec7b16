"""Begins a fork server before its stack is known: it imports libraries while `imprint up` reads the settings.

The standard library alone, and little of that: the command has just begun.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping, Sequence
from typing import Final

VARIABLE: Final = "STACK_FORK_SERVER"
"""Environment variable with the pid of the server that has begun, and the file descriptor to ask it by."""


def begin(modules: Sequence[str], env: Mapping[str, str]) -> None:
    """Begin a server, which ends with this process; `forking.begun` finds it, also in the program that replaces this.

    `env` is added to this process's environment, and must hide every secret of it.
    """
    if sys.platform != "linux":
        return
    ours, theirs = socket.socketpair()
    with theirs:
        words = [sys.executable, "-m", "api.stack.fork_server", "--ahead", str(os.getpid()), *modules]
        control = [(os.POSIX_SPAWN_DUP2, theirs.fileno(), 0)]
        pid = os.posix_spawn(sys.executable, words, {**os.environ, **env}, file_actions=control)
    ours.set_inheritable(True)
    os.environ[VARIABLE] = f"{pid}:{ours.detach()}"
