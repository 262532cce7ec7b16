"""Real clock processes: several at once, killed, stopped, without their servers, and under Celery's own command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import text

from api.stack.broker import Broker
from api.stack.process import Process
from core.storage.db import Database
from core.types import Json
from rules.registry import store
from tests.faults.stand import FAULT, eventually
from tests.forked import forked
from tests.patience import PATIENCE_SECONDS
from tests.rules.samples import a_document
from tests.samples import TENANT
from tests.works import Works

pytestmark = FAULT

CLOCK = [sys.executable, "-m", "workers", "clock"]
BEAT = [sys.executable, "-m", "celery", "-A", "workers.beat", "beat"]
EMIT: Json = {"action_type": "emit", "event_type": "second.passed", "payload": {"at": "{{payload.due_at}}"}}


@pytest.fixture(autouse=True)
def each_second(app: Database) -> None:
    """One rule that is due each second, and no other with a time table."""
    document = a_document(name="tick", schedule={"every_seconds": 1}, actions=[EMIT])
    document.pop("event_type")
    with app.tenant(TENANT) as tx:
        for stored in store.in_force(tx):
            if "schedule" in stored.document:
                store.delete(tx, TENANT, stored.name, author="test")
        store.save(tx, TENANT, document, author="test")


@contextmanager
def clocks(environment: dict[str, str], count: int = 1, **settings: str) -> Iterator[list[Process]]:
    """That many clock processes, ended with the block."""
    told = environment | {f"IMPRINT_{name.upper()}": value for name, value in settings.items()}
    with ExitStack() as running:
        yield [running.enter_context(forked(told, "workers", "clock")) for _ in range(count)]


@contextmanager
def program(
    environment: dict[str, str], folder: Path, command: list[str], **settings: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A clock by its command, in a folder; it is killed where it still runs at the end."""
    told = environment | {f"IMPRINT_{name.upper()}": value for name, value in settings.items()}
    process = subprocess.Popen(command, env=told, cwd=folder)
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)


def seconds(queue: Database) -> list[int]:
    """The due times that have fired, in the order of the log, counted from the first."""
    with queue.queue() as tx:
        found = tx.execute(text("SELECT id FROM events WHERE event_type = 'clock.ticked' ORDER BY seq")).scalars()
        moments = [datetime.fromisoformat(name.partition("@")[2]) for name in found]
    return [int((moment - moments[0]).total_seconds()) for moment in moments]


def test_three_clocks_of_which_one_is_killed_fire_each_due_time_once(
    environment: dict[str, str], queue: Database, works: Works
) -> None:
    with clocks(environment, 3, catch_up="all") as running:
        eventually(lambda: len(seconds(queue)) >= 3)
        os.kill(running[0].pid, signal.SIGKILL)
        then = len(seconds(queue))
        eventually(lambda: len(seconds(queue)) >= then + 4)
    assert seconds(queue) == list(range(len(seconds(queue)))), "without a gap, and none twice"
    works.settle()
    with queue.queue() as tx:
        passed = tx.execute(text("SELECT payload->>'at' FROM events WHERE event_type = 'second.passed'")).scalars()
        by_rule = tx.execute(text("SELECT count(*) FROM dispatches WHERE rule = 'tick'")).scalar_one()
        assert set(Counter(passed).values()) == {1}
    assert by_rule == len(seconds(queue))


def test_the_last_of_three_takes_over_and_makes_up_for_what_was_missed(
    environment: dict[str, str], queue: Database
) -> None:
    with clocks(environment, 3, catch_up="all") as running:
        eventually(lambda: len(seconds(queue)) >= 2)
        for process in running[:2]:
            os.kill(process.pid, signal.SIGKILL)
        fired = seconds(queue)[-1]
        eventually(lambda: seconds(queue)[-1] >= fired + 3)
    assert seconds(queue) == list(range(len(seconds(queue))))


@pytest.mark.parametrize("catch_up", ["once", "all"])
def test_a_clock_killed_and_started_again_catches_up_as_it_is_set(
    environment: dict[str, str], queue: Database, catch_up: str
) -> None:
    with clocks(environment) as [process]:
        eventually(lambda: len(seconds(queue)) >= 2)
        os.kill(process.pid, signal.SIGKILL)
        eventually(lambda: not process.alive())
    before = seconds(queue)[-1]
    time.sleep(4)
    with clocks(environment, catch_up=catch_up):
        eventually(lambda: seconds(queue)[-1] > before)
    missed = seconds(queue)[before + 1] - before - 1
    assert missed == 0 if catch_up == "all" else missed >= 3


@pytest.mark.parametrize("command", [CLOCK, BEAT], ids=["imprint", "celery"])
@pytest.mark.parametrize("signal_", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])
def test_a_clock_fires_and_ends_when_it_is_told_to_and_leaves_no_file(
    environment: dict[str, str], tmp_path: Path, queue: Database, command: list[str], signal_: signal.Signals
) -> None:
    with program(environment, tmp_path, command, sweep_seconds=str(10 * PATIENCE_SECONDS)) as process:
        eventually(lambda: len(seconds(queue)) >= 2)
        process.send_signal(signal_)
        assert process.wait(PATIENCE_SECONDS) == 0, "its next turn is much later"
    assert list(tmp_path.iterdir()) == []


def test_without_a_broker_the_schedule_goes_on(environment: dict[str, str], tmp_path: Path, queue: Database) -> None:
    broker = Broker(tmp_path / "broker", durable=False)
    try:
        broker.start()
        with clocks(environment, broker_url=broker.url) as [process]:
            eventually(lambda: len(seconds(queue)) >= 2)
            broker.stop()
            then = len(seconds(queue))
            eventually(lambda: len(seconds(queue)) >= then + 3)
            assert process.alive()
    finally:
        broker.stop()
