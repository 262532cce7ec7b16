"""The clock of one host is an hour wrong, under a stream of events: nothing is lost, done twice, or due wrongly."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.hosts import network
from tests.hosts.cluster import PROCESSES, Cluster
from tests.hosts.stream import Stream, figure
from tests.patience import wait_until

LIBRARY = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)

pytestmark = [
    pytest.mark.hosts,
    pytest.mark.skipif(
        not network.POSSIBLE or LIBRARY is None, reason="needs root, iproute2, nftables, faketime (`make hosts`)"
    ),
    pytest.mark.timeout(900),
]

WRONG_SECONDS = 40
EVERY_SECONDS = 5
SLACK = timedelta(seconds=60)
"""How late a busy machine may fire a schedule; an hour is more."""


@pytest.fixture
def schedule(installation: Cluster) -> Iterator[str]:
    """A rule that is due each five seconds."""
    emit = {"action_type": "emit", "event_type": "time.passed", "payload": {"due": "{{payload.due_at}}"}}
    path = "/v1/rules/each_five_seconds"
    installation.call("PUT", path, {"schedule": {"every_seconds": EVERY_SECONDS}, "actions": [emit]})
    yield "time.passed"
    installation.call("DELETE", path)


SLEEP = """
import select
import time

time.sleep = lambda seconds: select.select((), (), (), seconds) and None
"""
"""Sleeps by another call: version 0.9.10 of the library breaks `clock_nanosleep` of a clock that it leaves alone."""


@contextmanager
def wrong(installation: Cluster, host: str, hours: int) -> Iterator[None]:
    """Start the processes of a host anew with a clock that is so many hours ahead."""
    own = installation.home / "sitecustomize.py"
    own.write_text(SLEEP)
    only_the_wall = ("FAKETIME_DONT_FAKE_MONOTONIC=1", "NO_FAKE_STAT=1", f"PYTHONPATH={own.parent}:{installation.code}")
    installation.restart(host, ("env", f"LD_PRELOAD={LIBRARY}", f"FAKETIME={hours * 3600:+d}", *only_the_wall))
    wait_until(installation.ready, every=0.5)
    try:
        yield
        assert_wrong(installation, host, hours)
    finally:
        installation.restart(host)
        wait_until(installation.ready, every=0.5)


def assert_wrong(installation: Cluster, host: str, hours: int) -> None:
    """Check that each process of the host still runs, and that its log has the wrong time."""
    for process in PROCESSES[host]:
        assert installation.running[host, process].poll() is None
        lines = installation.log(host, process).read_text().splitlines()
        written = [json.loads(line)["timestamp"] for line in lines if line.startswith("{")]
        off = datetime.fromisoformat(written[-1]) - datetime.now(UTC)
        assert abs(off - timedelta(hours=hours)) < timedelta(minutes=20)


@pytest.mark.parametrize(("host", "hours"), [("control2", 1), ("worker2", 1), ("worker2", -1), ("api2", 1)])
def test_a_wrong_clock_costs_nothing(installation: Cluster, schedule: str, host: str, hours: int) -> None:
    name = f"skew{host}{hours:+d}".replace("+", "p").replace("-", "m")
    with wrong(installation, host, hours), Stream(installation, name) as stream:
        time.sleep(WRONG_SECONDS)
        stream.stop()
        stream.settle()
        figure(f"longest from event to effect, {host} {hours:+d} h", stream.longest_wait())
    stream.assert_each_once()
    passed = installation.select(_PASSED, type=schedule)
    assert len(passed) >= WRONG_SECONDS // EVERY_SECONDS // 2
    assert len({row.due for row in passed}) == len(passed)
    assert all(-timedelta(seconds=1) < row.received_at - row.due < SLACK for row in passed)


_PASSED = """
    SELECT cast(payload ->> 'due' AS timestamptz) AS due, received_at FROM events WHERE event_type = :type
"""
