"""Whoever has the broker's password sends work, and no commands: Celery's remote control is off."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.config import Settings
from core.events.doorbell import broker_url
from core.maintenance import heartbeat
from core.storage import db
from tests.production import wait_for
from workers import app as celery_app


@pytest.fixture
def worker(settings: Settings, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A real worker on the servers of the tests, started as `imprint up` starts it."""
    assert settings.database_url
    told = {
        "IMPRINT_HOME": str(settings.home),
        "IMPRINT_DATABASE_URL": settings.database_url.get_secret_value(),
        "IMPRINT_BROKER_URL": broker_url(settings),
        "IMPRINT_EMBEDDING": "hash",
        "IMPRINT_METRICS_PORT": "0",
    }
    with (tmp_path / "worker.log").open("wb") as log:
        command = [sys.executable, "-m", "workers", "worker", "--queue", "cpu", "--concurrency", "1"]
        process = subprocess.Popen(command, env={**os.environ, **told}, stderr=log, stdout=log)
        app = db.connect(db.app_url(settings), 1)

        def beats() -> bool:
            with app.queue() as tx:
                return "worker-cpu" not in heartbeat.missing_processes(tx)

        try:
            wait_for(beats)
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
            app.close()
    assert "IndexError" not in (tmp_path / "worker.log").read_text()


def test_a_worker_neither_answers_nor_obeys_commands_on_the_broker(
    settings: Settings, worker: subprocess.Popen[bytes]
) -> None:
    sender = celery_app.create(settings, broker_url(settings))
    assert sender.control.ping(timeout=2) == []
    sender.control.shutdown()
    time.sleep(2)
    assert worker.poll() is None
