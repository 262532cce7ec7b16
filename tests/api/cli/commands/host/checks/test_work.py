from __future__ import annotations

import os

import pytest
from sqlalchemy import text

from api.cli.commands.host.checks import work
from api.cli.commands.host.checks.check import CheckWarning
from api.cli.commands.host.checks.installation import Installation
from core.config import Settings
from core.errors import Misconfigured
from core.maintenance import heartbeat
from core.storage.db import Database
from tests.doors import Doors
from tests.samples import TENANT
from tests.works import Works
from workers.gauges import Gauges


def beat(queue: Database, process: str, serves: str | None = None, version: str = heartbeat.VERSION) -> None:
    values = {"process": process, "queue": serves, "processes": serves and 2, "version": version}
    with queue.queue() as tx:
        tx.execute(_BEAT, values)


_BEAT = text("""
    INSERT INTO heartbeats (process, at, queue, processes, version)
    VALUES (:process, now() + interval '1 hour', :queue, :processes, :version)
    ON CONFLICT (process) DO UPDATE SET version = excluded.version
""")


def count(settings: Settings, queue: Database) -> None:
    """Let the clock count what waits."""
    beat(queue, "clock")
    Gauges(queue, settings).read()


def publish(door: Doors) -> None:
    payload = {"session_id": "s1", "user_id": "ada", "role": "user", "content": "I live in Turin."}
    door.post("/v1/events", {"event_type": "message.added", "source": "test", "payload": payload}).raise_for_status()


def test_a_queue_without_workers_fails(settings: Settings, queue: Database) -> None:
    beat(queue, "worker-io", "io")
    with pytest.raises(Misconfigured, match=r"no worker serves cpu$"):
        work.queues(Installation(settings))
    beat(queue, "worker-cpu", "cpu")
    assert work.queues(Installation(settings)) == "io: 2 processes, cpu: 2 processes"


def test_two_versions_at_work_are_a_warning(settings: Settings, queue: Database) -> None:
    beat(queue, "router")
    assert work.versions(Installation(settings)) == f"all of version {heartbeat.VERSION}"
    beat(queue, "worker-io", "io", version="0.0.1")
    with pytest.raises(CheckWarning, match=r"different versions are at work: 0\.0\.1, "):
        work.versions(Installation(settings))


def test_events_that_nobody_routes_are_a_warning_that_names_the_load(
    settings: Settings, queue: Database, door: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert work.backlog(Installation(settings)) == "the clock has not counted yet"
    publish(door)
    count(settings, queue)
    assert work.backlog(Installation(settings)).startswith("events wait ")
    with queue.queue() as tx:
        tx.execute(text("UPDATE events SET received_at = now() - interval '1 hour'"))
    count(settings, queue)
    monkeypatch.setattr(os, "getloadavg", lambda: (1000.0, 0.0, 0.0))
    with pytest.raises(CheckWarning, match=r"events wait 36\d\d s for the router.*overloaded: load 1000\.0"):
        work.backlog(Installation(settings))


def test_dead_letters_are_a_warning(settings: Settings, queue: Database, door: Doors, works: Works) -> None:
    publish(door)
    works.settle()
    count(settings, queue)
    assert work.dead_letters(Installation(settings)) == "none"
    with queue.queue() as tx:
        dead = tx.execute(text("UPDATE dispatches SET status = 'dead', error = 'no'")).rowcount
    count(settings, queue)
    assert dead
    with pytest.raises(CheckWarning, match=f"{dead} dispatches were given up"):
        work.dead_letters(Installation(settings))


def test_a_disabled_address_is_a_warning(settings: Settings, app: Database) -> None:
    assert work.outside(Installation(settings)) == "no address is disabled"
    with app.tenant(TENANT) as tx:
        tx.execute(
            text(
                "INSERT INTO endpoints (tenant_id, address, failing_since, failures, disabled_at) "
                "VALUES (:tenant, 'https://x.example', now() - interval '6 days', 9, now())"
            ),
            {"tenant": TENANT},
        )
    with pytest.raises(CheckWarning, match="1 addresses"):
        work.outside(Installation(settings))
