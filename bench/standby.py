"""A standby of an embedded server: a physical copy that replays the primary's log."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg
from sqlalchemy import make_url

from api.stack import host, pg_program, process
from api.stack.postgres import Postgres
from api.stack.run_files import LOOPBACK
from core.config import Settings
from core.storage import db

FLUSHED: Final = "10ms"
"""Delay of the primary's log where commits do not wait for the disk, as in the tests."""


PATIENCE_SECONDS: Final = 300
"""Longest wait for the standby; what a busy machine takes longer for is no fault."""


class Standby(Postgres):
    """A copy of a primary in a home of its own, with the primary's passwords."""

    def __init__(self, home: Path, primary: Postgres) -> None:
        super().__init__(home, durable=primary.durable, extra={"cluster_name": "standby"})
        self._primary = primary

    def start(self) -> str:
        """Copy the primary, unless that was done, and wait until the copy answers."""
        process.furnish_home(self.home)
        self._account = host.account_for(self.data, self._binaries, self.home)
        if not self.data.exists():
            shutil.copy(self._primary.home / "secrets.json", self.home)
            pg_program.run(
                self._primary, "pg_basebackup", "--pgdata", self.data, "--write-recovery-conf", "--no-sync",
                "--checkpoint=fast", "--wal-method=stream",
            )  # fmt: skip
            if self._account is not None:
                for path in (self.data, *self.data.rglob("*")):
                    os.chown(path, self._account.uid, self._account.gid)
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        self._listen()
        return self.url

    def kill(self) -> None:
        """Kill the server and all its processes without a word."""
        if self._process is not None:
            self._process.end(signal.SIGKILL, 5)
            self._process = None

    def app_url(self, settings: Settings) -> str:
        """URL of the application's role there."""
        url = db.app_url(settings).set(drivername="postgresql", host=LOOPBACK, port=self.port)
        return url.render_as_string(hide_password=False)

    def run(self, statement: str) -> Any:
        """Run a statement as the superuser; return the first value."""
        with psycopg.connect(self.admin_url, autocommit=True) as admin:
            cursor = admin.execute(statement)
            row = cursor.fetchone() if cursor.description else None
        return row and row[0]

    def catch_up(self) -> None:
        """Wait until all that the primary has committed is replayed."""
        with psycopg.connect(self._primary.admin_url, autocommit=True) as admin:
            (position,) = admin.execute("SELECT pg_current_wal_insert_lsn()").fetchone() or ("",)
        self.advance()
        _wait_until(lambda: self.run(f"SELECT pg_last_wal_replay_lsn() >= '{position}'"))

    def advance(self) -> None:
        """Let the primary log something: a position behind the header of an empty page is reached only then."""
        with psycopg.connect(self._primary.admin_url, autocommit=True) as admin:
            admin.execute("SELECT pg_log_standby_snapshot()")

    def flush(self) -> None:
        """Let the primary write its log to the disk, where commits do not wait for that."""
        with psycopg.connect(self._primary.admin_url, autocommit=True) as admin:
            admin.execute("SELECT pg_switch_wal()")

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Replay nothing meanwhile."""
        self.run("SELECT pg_wal_replay_pause()")
        _wait_until(lambda: self.run("SELECT pg_get_wal_replay_pause_state()") == "paused")
        try:
            yield
        finally:
            self.run("SELECT pg_wal_replay_resume()")


def prompt(admin_url: str) -> None:
    """Let a primary write its log soon, where commits do not wait for that."""
    with psycopg.connect(make_url(admin_url).render_as_string(hide_password=False), autocommit=True) as admin:
        admin.execute(f"ALTER SYSTEM SET wal_writer_delay = '{FLUSHED}'")
        admin.execute("SELECT pg_reload_conf()")


def _wait_until(holds: Callable[[], bool]) -> None:
    """Ask until it holds."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {PATIENCE_SECONDS} s")
        time.sleep(0.002)
