"""`imprint` called in this process, against the HTTP door on a port of its own."""

from __future__ import annotations

import io
import json
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import uvicorn

from api import app as http
from api.cli import main, program, watching
from api.cli.watching import WantedStack
from api.ingress.connection_limits import BoundServer
from core.config import Settings
from core.events.doorbell import broker_url
from core.inference.embedders import HashEmbedder
from tests.doors import key_of
from tests.patience import wait_until
from tests.ports import free_port
from tests.samples import TENANT
from tests.works import Works


@dataclass(frozen=True, slots=True)
class Said:
    """How a command ended, and what it said where."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Imprint:
    """The program `imprint`."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *words: str, stdin: str = "") -> Said:
        """Call it as from a script: standard input is no terminal."""
        self.monkeypatch.setattr("sys.argv", ["imprint", *words])
        self.monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        self.capsys.readouterr()
        self.monkeypatch.setattr(WantedStack, "write", lambda wanted: sys.exit(wanted.run()))
        self.monkeypatch.setattr(watching, "main", program.main)
        with pytest.raises(SystemExit) as ended:
            main.main()
        said = self.capsys.readouterr()
        return Said(int(ended.value.code or 0), said.out, said.err)


@contextmanager
def served(settings: Settings) -> Iterator[tuple[str, str]]:
    """The HTTP door on a free port; its URL and an admin key."""
    port = free_port()
    application = http.create(settings, broker_url(settings), HashEmbedder())
    config = uvicorn.Config(application, port=port, log_config=None, access_log=False)
    server = BoundServer(config, application.state.deps.followers.stop)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started, every=0.01)
        yield f"http://127.0.0.1:{port}", key_of(settings, TENANT)
    finally:
        server.handle_exit(signal.SIGTERM, None)  # It ends at once; `should_exit` is looked at once a second.
        thread.join()


@contextmanager
def working(works: Works) -> Iterator[None]:
    """Router and workers at work beside the test."""
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            works.settle()
            time.sleep(0.02)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
