"""Whoever has the broker's password sends work, and no commands: Celery's remote control is off."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from api.stack.process import Process, log_file
from core.config import Settings
from core.events.doorbell import broker_url
from core.maintenance import heartbeat
from core.storage import db
from tests.forked import forked
from tests.patience import wait_until
from workers import app as celery_app


@pytest.fixture
def worker(settings: Settings) -> Iterator[Process]:
    """A real worker on the servers of the tests, started as `imprint up` starts it."""
    assert settings.database_url
    told = {
        "IMPRINT_HOME": str(settings.home),
        "IMPRINT_DATABASE_URL": settings.database_url.get_secret_value(),
        "IMPRINT_BROKER_URL": broker_url(settings),
        "IMPRINT_EMBEDDING": "hash",
        "IMPRINT_METRICS_PORT": "0",
    }
    arguments = ("workers", "worker", "--queue", "cpu", "--concurrency", "1")
    with closing(db.connect(db.app_url(settings), 1)) as app, forked({**os.environ, **told}, *arguments) as process:

        def beats() -> bool:
            with app.queue() as tx:
                return "worker-cpu" not in heartbeat.missing_processes(tx)

        wait_until(beats)
        yield process
        process.end(signal.SIGTERM, 30.0)
        assert "IndexError" not in log_file(process.home, process.name).read_text()


def test_a_worker_neither_answers_nor_obeys_commands_on_the_broker(settings: Settings, worker: Process) -> None:
    sender = celery_app.create(settings, broker_url(settings))
    assert sender.control.ping(timeout=2) == []
    sender.control.shutdown()
    time.sleep(2)
    assert worker.alive()
