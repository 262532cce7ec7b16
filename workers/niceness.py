"""Lowers the priority of background work, so that requests get the processor first.

The figures are in docs/decisions/performance.md (0066).

Linux shares the processor between sessions of processes before it looks at the niceness of one
(`/proc/PID/autogroup`), and each server process of PostgreSQL is a session of its own. So the niceness of a worker
says nothing beside them: the worker's session has one to set, and so has the server process of each of its connections.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
import time
from pathlib import Path
from typing import Any, Final

from sqlalchemy import event

from core.config import Settings
from core.storage.connection import Pool

ROUTER_PART: Final = 3
"""The niceness of a router is this part of a worker's."""

TRIES, AGAIN_SECONDS = 20, 0.11
"""Only one process on the machine may set that of a session in a tenth of a second, unless it is privileged."""


def yield_to_requests(settings: Settings, *, routes: bool = False) -> None:
    """Lower the priority of this process, of those it forks, and of the server processes of its connections.

    A process that routes yields less: what it does is waited for sooner. Where PostgreSQL is not the stack's own, its
    processes are left alone.
    """
    niceness = settings.worker_niceness // (ROUTER_PART if routes else 1)
    if not niceness or not hasattr(os, "setpriority"):
        return
    _lower(os.getpid(), niceness)

    def connected(driver: Any, _record: object) -> None:
        backend = driver.info.backend_pid
        if _is_of_stack(backend, settings.home):
            threading.Thread(target=_lower, args=(backend, niceness), name="niceness", daemon=True).start()

    event.listen(Pool, "connect", connected)


def _lower(process: int, niceness: int) -> None:
    """Set the niceness of a process, and of its session if the process leads it; what cannot be set stays."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, process, niceness)
    for _ in range(TRIES):
        try:
            if os.getsid(process) == process:
                Path(f"/proc/{process}/autogroup").write_text(str(niceness), encoding="ascii")
        except OSError as error:
            if error.errno == errno.EAGAIN:
                time.sleep(AGAIN_SECONDS)
                continue
        return


def _is_of_stack(backend: int, home: Path) -> bool:
    """Return whether a process is one of the PostgreSQL that `imprint up` runs in this home.

    The number of a process on another machine may be that of any process here.
    """
    try:
        server = int((home / "run" / "postgres.pid").read_text(encoding="utf-8").split()[0])
        _, _, fields = Path(f"/proc/{backend}/stat").read_text(encoding="utf-8").rpartition(") ")
    except (OSError, ValueError, IndexError):
        return False
    return int(fields.split()[_PARENT]) == server


_PARENT: Final = 1
"""Place of the parent's number behind the name of a process."""
