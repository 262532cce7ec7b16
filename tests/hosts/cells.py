"""Installations of their own, each with servers and processes as `imprint up` starts them."""

from __future__ import annotations

import base64
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sqlalchemy import create_engine, text

from core.config import Settings
from core.storage import db
from tests.doors import key_of
from tests.patience import wait_until
from tests.ports import free_port
from tests.readiness import wait_until_ready

PACE: Final = {
    "EMBEDDING": "hash",
    "LEASE_SECONDS": "2",
    "RESEND_SECONDS": "1",
    "RULES_POLL_SECONDS": "0.2",
    "HTTP_BODY_SECONDS": "300",
    "API_PROCESSES": "2",
    "METRICS_PORT": "0",
    "RECEIPT_KEY": base64.b64encode(bytes(range(32))).decode(),
    "SECRETS_KEY": base64.b64encode(bytes(range(32, 64))).decode(),
}
"""Settings of a stack that notices within seconds that a process has died. Cells share the keys."""


@dataclass
class Cell:
    """One installation."""

    home: Path
    environment: Mapping[str, str]
    port: int = field(default_factory=free_port)
    running: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def settings(self) -> Settings:
        return Settings(home=self.home, embedding="hash")

    def start(self) -> None:
        own = {"IMPRINT_HOME": str(self.home), "IMPRINT_HTTP_PORT": str(self.port)}
        command = [sys.executable, "-m", "api.cli.main", "up", "--quiet"]
        self.running = subprocess.Popen(command, env={**self.environment, **own}, start_new_session=True)
        wait_until_ready(self.running, self.port)

    def stop(self) -> None:
        if self.running is not None:
            self.running.send_signal(signal.SIGTERM)
            self.running.wait(60)

    def kill(self) -> None:
        """End every process at once, the servers too."""
        assert self.running
        doomed = [self.running.pid, *self._descendants(self.running.pid)]
        for pid in doomed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.running.wait()
        wait_until(lambda: not any(_is_alive(pid) for pid in doomed))
        self.running = None

    def imprint(self, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run a command in this installation."""
        own = {"IMPRINT_HOME": str(self.home), "IMPRINT_HTTP_PORT": str(self.port), **settings}
        command = [sys.executable, "-m", "api.cli.main", *words]
        return subprocess.run(command, env={**self.environment, **own}, capture_output=True, text=True, check=False)

    def key(self, tenant: str) -> str:
        return key_of(self.settings, tenant)

    @property
    def owner_url(self) -> str:
        return db.owner_url(self.settings).set(drivername="postgresql").render_as_string(hide_password=False)

    def select(self, tenant: str, query: str, **values: Any) -> list[Any]:
        """Return the rows of a query that sees a tenant's rows alone."""
        engine = create_engine(db.app_url(self.settings))
        try:
            with engine.connect() as tx:
                tx.execute(text("SELECT set_config('imprint.tenant', :tenant, true)"), {"tenant": tenant})
                tx.execute(text("SELECT set_config('imprint.reader', '*', true)"))
                return list(tx.execute(text(query), values))
        finally:
            engine.dispose()

    def let_pass(self, seconds: int) -> None:
        """Let the frozen tenant have been frozen for so much longer."""
        engine = create_engine(db.owner_url(self.settings))
        with engine.begin() as tx:
            since = f"to_jsonb((value::jsonb ->> 'since')::numeric - {seconds})"
            moved = f"jsonb_set(value::jsonb, '{{since}}', {since})"
            tx.execute(text(f"UPDATE deployment SET value = {moved} WHERE name = 'moving'"))
        engine.dispose()

    def _descendants(self, pid: int) -> list[int]:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [pid for child in map(int, listed) for pid in (child, *self._descendants(child))]


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def running(folder: Path, count: int = 2, **settings: str) -> Iterator[list[Cell]]:
    """Start installations."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("IMPRINT_", "PROMETHEUS_"))}
    environment |= {f"IMPRINT_{name}": value for name, value in {**PACE, **settings}.items()}
    cells = [Cell(folder / f"cell{number}", environment) for number in range(1, count + 1)]
    with contextlib.ExitStack() as last:
        for cell in cells:
            last.callback(cell.stop)
            cell.start()
        yield cells
