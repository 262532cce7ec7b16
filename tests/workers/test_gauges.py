"""The gauges that the clock reads from the database."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any, LiteralString
from uuid import uuid4

import psycopg
import pytest
from prometheus_client import REGISTRY
from sqlalchemy import text

from core import metrics
from core.config import Settings
from core.storage import db
from core.storage.db import Database
from core.storage.tables import metadata
from tests.doors import OTHER
from tests.patience import wait_until
from tests.samples import TENANT
from tests.workers.dispatch.owing import chain, owe
from workers.gauges import _SNAPSHOTS, Gauges


def value(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(name, labels)


@pytest.fixture
def gauges(queue: Database, settings: Settings) -> Iterator[Gauges]:
    yield Gauges(queue, settings)
    metrics.BUDGET_LEFT.clear()


def beat(queue: Database, process: str, age: timedelta, *, kind: str | None = "cpu", processes: int | None = 3) -> None:
    row = {"process": process, "age": age, "queue": kind, "processes": processes}
    with queue.queue() as tx:
        tx.execute(
            text("""
                INSERT INTO heartbeats (process, at, queue, processes, cores, since, version)
                VALUES (:process, clock_timestamp() - cast(:age AS interval), :queue, :processes, 1, now(), '1')
            """),
            row,
        )


def test_a_worker_that_died_stays_at_0_until_its_heartbeat_is_forgotten(gauges: Gauges, queue: Database) -> None:
    beat(queue, "cpu@alive:17", timedelta(0))
    beat(queue, "cpu@restarted:17", timedelta(minutes=5))
    beat(queue, "cpu@restarted:18", timedelta(0))
    beat(queue, "io@dead:17", timedelta(minutes=5))
    beat(queue, "io@forgotten:17", timedelta(days=2))
    beat(queue, "worker-cpu", timedelta(0), kind=None, processes=None)
    metrics.CELERY_WORKER_UP.labels("io@gone").set(1)
    gauges.read()
    (family,) = metrics.CELERY_WORKER_UP.collect()
    shown = {sample.labels["hostname"]: sample.value for sample in family.samples}
    assert shown == {"cpu@alive": 1, "cpu@restarted": 1, "io@dead": 0}


def test_the_backlog_is_shown_by_queue_and_equally_for_celery(gauges: Gauges, app: Database) -> None:
    owe(app)
    chain(app, "agent", "agent")
    gauges.read()
    assert value("imprint_dispatches_claimable", queue="io") == 2
    assert value("celery_queue_length", queue_name="io") == 2
    assert value("imprint_dispatches_claimable", queue="cpu") == 0
    assert value("imprint_dispatches_open", status="pending") == 2
    nothing = ("imprint_dispatches_leased", "imprint_dispatches_retrying", "imprint_dispatches_dead")
    assert [value(name) for name in nothing] == [0, 0, 0]


def test_the_tables_of_this_service_are_measured_and_no_others(gauges: Gauges, queue: Database) -> None:
    gauges.read()
    (family,) = metrics.TABLE_BYTES.collect()
    assert {sample.labels["table"] for sample in family.samples} == set(metadata.tables)
    with queue.queue() as tx:
        bytes_now = tx.execute(text("SELECT pg_total_relation_size('events')")).scalar_one()
    assert value("imprint_table_bytes", table="events") == bytes_now
    assert (value("imprint_table_dead_tuples", table="events") or 0) >= 0


def test_a_snapshot_of_another_role_ages_while_it_is_held(gauges: Gauges, app: Database) -> None:
    gauges.read()
    with app.snapshot(TENANT, 60) as tx:
        tx.execute(text("SELECT count(*) FROM memories"))
        gauges.read()
        began = time.monotonic()
        time.sleep(0.2)
        gauges.read()
        elapsed = time.monotonic() - began
        assert (value("imprint_oldest_snapshot_seconds") or 0) >= 0.2
        assert elapsed >= 0.2

    def is_over() -> bool:
        gauges.read()
        return (value("imprint_oldest_snapshot_seconds") or 0) < 0.2

    wait_until(is_over)


def test_a_vacuum_keeps_no_dead_rows_however_long_it_takes(queue: Database, settings: Settings) -> None:
    url = db.owner_url(settings).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url, autocommit=True) as owner, psycopg.connect(url, autocommit=True) as watching:
        owner.execute("CREATE TABLE vacuumed AS SELECT repeat('x', 500) FROM generate_series(1, 20000)")
        owner.execute("SET vacuum_cost_delay = 100")
        owner.execute("SET vacuum_cost_limit = 1")
        process = owner.info.backend_pid
        vacuum = threading.Thread(target=interrupted, args=(owner, "VACUUM vacuumed"))
        vacuum.start()
        try:
            held = "SELECT backend_xmin FROM pg_stat_activity JOIN pg_stat_progress_vacuum USING (pid) WHERE pid = %s"
            wait_until(lambda: any(row[0] for row in watching.execute(held, [process]).fetchall()))
            (snapshots,) = queue.ask_queues((_SNAPSHOTS, {}))
        finally:
            watching.execute("SELECT pg_cancel_backend(%s)", [process])
            vacuum.join()
            watching.execute("DROP TABLE vacuumed")
    assert process not in {row.process for row in snapshots}


def interrupted(connection: psycopg.Connection[Any], statement: LiteralString) -> None:
    with suppress(psycopg.errors.QueryCanceled):
        connection.execute(statement)


def test_the_skew_is_the_difference_of_two_clocks(gauges: Gauges) -> None:
    gauges.read()
    assert abs(value("imprint_clock_skew_seconds") or 0) < 60, "the database of a test is on this machine"


def spend(app: Database, tenant: str, tokens: int, cost: float, ago: timedelta = timedelta(0)) -> None:
    with app.tenant(tenant) as tx:
        tx.execute(text("INSERT INTO tenants (id) VALUES (:id) ON CONFLICT DO NOTHING"), {"id": tenant})
        tx.execute(
            text("""
                INSERT INTO model_calls (tenant_id, dispatch_id, model, prompt, input_tokens, output_tokens, cost,
                                         latency_ms, outcome, at)
                VALUES (:tenant, :id, 'm', 'p', :tokens, 0, :cost, 1, 'ok', now() - cast(:ago AS interval))
            """),
            {"tenant": tenant, "id": uuid4(), "tokens": tokens, "cost": cost, "ago": ago},
        )


def test_the_budget_that_is_left_is_that_of_the_tenant_who_has_least(
    app: Database, queue: Database, settings: Any
) -> None:
    spend(app, TENANT, 600, 1.0)
    spend(app, TENANT, 100, 0.5)
    spend(app, OTHER, 10, 9.0)
    spend(app, OTHER, 5000, 0.0, timedelta(days=1, minutes=1))
    limited = settings.model_copy(update={"llm_tokens_per_day": 1000, "llm_cost_per_day": 4.0})
    Gauges(queue, limited).read()
    assert value("imprint_model_budget_left", unit="tokens") == pytest.approx(0.3)
    assert value("imprint_model_budget_left", unit="cost") == 0
    metrics.BUDGET_LEFT.clear()


def test_without_a_budget_none_is_shown(gauges: Gauges, app: Database) -> None:
    spend(app, TENANT, 600, 1.0)
    gauges.read()
    assert value("imprint_model_budget_left", unit="tokens") is None
