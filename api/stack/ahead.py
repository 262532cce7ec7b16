"""Begins a fork server before its stack is known: it imports libraries while `imprint up` reads the settings.

Little of the standard library, and `core.interpreter`, which imports as little: the command has just begun.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping, Sequence
from typing import Final

from core import interpreter

VARIABLE: Final = "STACK_FORK_SERVER"
"""Environment variable: pid of the server that has begun, file descriptors to ask it by and to read its words from."""


def begin(modules: Sequence[str], env: Mapping[str, str]) -> None:
    """Begin a server, which ends with this process; `forking.begun` finds it, also in the program that replaces this.

    `env` is added to this process's environment, and must hide every secret of it.
    """
    if sys.platform != "linux":
        return
    ours, theirs = socket.socketpair()
    output, written = os.pipe()
    for end in (output, written):
        os.set_blocking(end, False)  # Nobody may read: what does not fit is lost.
    command = interpreter.module("api.stack.fork_server", "--ahead", str(os.getpid()), *modules)
    ends = ((theirs.fileno(), 0), (written, 1), (written, 2))
    actions = [(os.POSIX_SPAWN_DUP2, end, number) for end, number in ends]
    pid = os.posix_spawn(command[0], command, {**os.environ, **env}, file_actions=actions)
    theirs.close()
    os.close(written)
    control = ours.detach()
    for end in (control, output):
        os.set_inheritable(end, True)
    os.environ[VARIABLE] = f"{pid}:{control}:{output}"
