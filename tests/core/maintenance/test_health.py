"""The state of the installation: from statistics and heartbeats alone."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta

from core.config import Settings
from core.maintenance import health, heartbeat
from core.maintenance.heartbeat import Heartbeat
from core.storage import schema_version
from core.storage.db import Database
from tests.databases import analyzed
from tests.factories import a_memory, carry_out
from tests.patience import wait_until
from tests.samples import TENANT, accept, ended, said
from tests.works import Works
from workers.routing import router


def test_a_process_says_since_when_it_works_and_in_which_version(app: Database, queue: Database) -> None:
    def found() -> dict[str, heartbeat.ProcessHealth]:
        with app.tenant(TENANT) as tx:
            return {one.name: one for one in health.processes(tx)}

    with closing(Heartbeat(queue, "clock")), closing(Heartbeat(queue, "io@somewhere:1", "io", 3)):
        wait_until(lambda: found()["clock"].alive)
        clock = found()["clock"]
        assert clock.version == heartbeat.VERSION
        assert clock.since is not None
        assert datetime.now(UTC) - clock.since < timedelta(minutes=1)
        wait_until(lambda: bool(workers(app)))
        assert [(one.name, one.queue, one.processes) for one in workers(app)] == [("io@somewhere:1", "io", 3)]
    assert list(found()) == ["api", "router", "clock", "worker-io", "worker-cpu"]
    assert (found()["api"].alive, found()["router"].alive, found()["router"].since) == (True, False, None)


def workers(app: Database) -> list[heartbeat.ProcessHealth]:
    with app.tenant(TENANT) as tx:
        return health.workers(tx)


def test_the_work_of_a_tenant_is_told_by_queue(app: Database, works: Works) -> None:
    accept(app, said("I live in Turin."), ended(message_count=1))
    router.route(works.router)
    with app.tenant(TENANT) as tx:
        found = {one.name: one for one in health.queues(tx)}
    assert found.keys() == {"io", "cpu"}
    waiting = [one for one in found.values() if one.waiting]
    assert waiting
    for one in waiting:
        assert one.oldest_at is not None
        assert datetime.now(UTC) - one.oldest_at < timedelta(minutes=1)
        assert not one.more


def test_tables_are_told_by_their_statistics(app: Database, settings: Settings) -> None:
    carry_out(app, a_memory("Ada lives in Turin."))
    analyzed(settings, "memories")
    with app.tenant(TENANT) as tx:
        found = {one.name: one for one in health.tables(tx)}
    assert found["memories"].rows >= 1
    assert found["memories"].bytes > 0
    assert found["memories"].vacuumed_at is not None
    assert [one.bytes for one in found.values()] == sorted((one.bytes for one in found.values()), reverse=True)


def test_the_server_is_described_to_a_role_that_owns_nothing(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        found = health.database(tx)
    assert found.migration == found.newest_migration == max(schema_version.migrations())
    assert found.connections.most >= found.connections.total >= found.connections.active >= 1
    assert found.bytes > 0
    assert found.oldest_transaction_seconds >= 0


def test_what_the_clock_counted_is_kept(app: Database, queue: Database) -> None:
    with app.tenant(TENANT) as tx:
        assert heartbeat.gauges(tx) is None
    with closing(Heartbeat(queue, "clock")):
        wait_until(lambda: any(one.name == "clock" for one in beats(app)))
    with queue.queue() as tx:
        tx.execute(*heartbeat.keeping({"events": 3}))
    with app.tenant(TENANT) as tx:
        assert heartbeat.gauges(tx) == {"events": 3}


def beats(app: Database) -> list[heartbeat.ProcessHealth]:
    with app.tenant(TENANT) as tx:
        return list(heartbeat.beats(tx))
