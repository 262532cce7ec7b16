"""Workers give way to requests, and so do the server's processes that work for them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from core.config import Settings
from tests.conftest import Servers
from tests.patience import wait_until
from workers.niceness import ROUTER_PART

NICENESS = 9

CHILD = """
import sys
from pathlib import Path
from core.config import Settings
from core.storage import db
from workers import niceness

settings = Settings(home=Path(sys.argv[1]), database_url=sys.argv[2], worker_niceness=int(sys.argv[3]))
niceness.yield_to_requests(settings, routes=sys.argv[4] == "routes")
app = db.connect(db.app_url(settings), 1)
with app.tenant("acme") as tx:
    print(tx.connection.driver_connection.info.backend_pid, flush=True)
    sys.stdin.read()
"""
"""A process with a connection; it ends when nobody can write to it any more."""


@pytest.fixture
def home(servers: Servers, tmp_path: Path) -> Path:
    """The home of a stack, by its files, whose PostgreSQL is that of the tests."""
    with psycopg.connect(servers.admin_url) as admin:
        parent = _status(admin.info.backend_pid)[0]
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "postgres.pid").write_text(f"{parent} 1\n", encoding="utf-8")
    return tmp_path


def started(home: Path, servers: Servers, niceness: int, kind: str = "works") -> Iterator[tuple[int, int]]:
    """The process and that of its connection, in a session of their own."""
    command = [sys.executable, "-c", CHILD, str(home), servers.database_url, str(niceness), kind]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        yield process.pid, int(process.stdout.readline())


@pytest.mark.parametrize(("kind", "expected"), [("works", NICENESS), ("routes", NICENESS // ROUTER_PART)])
def test_a_worker_and_the_processes_of_its_connections_yield(
    upgraded: Settings, servers: Servers, home: Path, kind: str, expected: int
) -> None:
    for process in started(home, servers, NICENESS, kind):
        for one in process:
            _until(one, expected)


def test_processes_of_another_server_are_left_alone(upgraded: Settings, servers: Servers, tmp_path: Path) -> None:
    for own, backend in started(tmp_path, servers, NICENESS):
        _until(own, NICENESS)
        time.sleep(0.5)
        assert _status(backend)[1] == 0
        assert _of_session(backend) in {None, 0}


def test_nobody_yields_where_that_is_not_wanted(upgraded: Settings, servers: Servers, home: Path) -> None:
    for process in started(home, servers, 0):
        for one in process:
            assert _status(one)[1] == 0
            assert _of_session(one) in {None, 0}


def _until(process: int, niceness: int) -> None:
    """Wait until a process and its session have this niceness."""
    wait_until(lambda: _status(process)[1] == niceness and _of_session(process) in {None, niceness}, every=0.02)


def _status(process: int) -> tuple[int, int]:
    """Return parent and niceness."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
    return int(fields[1]), os.getpriority(os.PRIO_PROCESS, process)


def _of_session(process: int) -> int | None:
    """Return the niceness of a process's session; None: the kernel has none for sessions."""
    try:
        words = Path(f"/proc/{process}/autogroup").read_text(encoding="utf-8").split()
    except OSError:
        return None
    return int(words[-1]) if words else None
