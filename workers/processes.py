"""Router and Celery worker processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Protocol

import structlog
from celery import Celery
from celery.signals import worker_ready, worker_shutting_down
from sqlalchemy.exc import DBAPIError

from core import metrics, tracing
from core.config import Settings
from core.events.doorbell import BROKER_ERRORS, DoorbellListener, broker_url
from core.inference.configured_embedder import require_model
from core.inference.embedding_model import identity
from core.loop import Loop
from core.maintenance import heartbeat
from core.maintenance.cache_sweeper import CacheSweeper
from core.maintenance.heartbeat import Heartbeat
from core.storage import db, schema_version
from core.storage.db import Database
from workers import app as celery_app
from workers import niceness, task, wiring
from workers.dispatch import relay
from workers.mirror_watcher import MirrorWatcher
from workers.routing.bus_consumer import BusConsumer, Intake
from workers.routing.router import Router, Turns

log = structlog.get_logger()

CONCURRENCY = {"io": 5, "cpu": 3}
"""Processes of a worker: many for waiting, as many as a small machine has cores for computing, and one more, because no
tenant gets all of them."""


class Companion(Protocol):
    """Protocol of what runs beside the work of a process."""

    def close(self) -> None:
        """Stop it."""


def run_router(
    settings: Settings,
    beside: Callable[[Celery, Settings, Database], Sequence[Companion]] = lambda *_: (),
    also: Sequence[heartbeat.ProcessPart] = (),
) -> None:
    """Route until stopped.

    `beside` starts more in this process, on the router's pool; its heartbeat says what that is (`also`).
    """
    routing = wiring.router(settings)
    app = db.connect(db.app_url(settings), settings.database_pool)
    require(routing.db, app, settings)
    niceness.yield_to_requests(settings, routes=True)
    tracing.start("imprint-router")
    celery = celery_app.create(settings, broker_url(settings))
    loop, parts = routing_loop(settings, celery, routing, app, also, stopped_by=(signal.SIGTERM, signal.SIGINT))
    more = beside(celery, settings, routing.db)
    try:
        loop.run()
    finally:
        for part in (*more, *parts, routing.db, app):
            part.close()
        tracing.stop()


def routing_loop(
    settings: Settings,
    celery: Celery,
    routing: Router,
    app: Database,
    also: Iterable[heartbeat.ProcessPart],
    *,
    stopped_by: Iterable[signal.Signals] = (),
) -> tuple[Loop, list[Companion]]:
    """Return the loop that routes, at each hint and at each poll for lost hints, and what runs beside it already.

    `stopped_by`: signals that stop the loop, also one that comes while the rest starts.
    """
    turns = Turns(routing, partial(relay.send, celery), settings.poll_seconds, lambda: ear.is_listening)
    loop = Loop("router", turns.take, expected=(DBAPIError, *BROKER_ERRORS))
    for number in stopped_by:
        signal.signal(number, lambda *_: loop.stop())

    def ring() -> None:
        turns.expect()
        loop.wake()

    url, limits = broker_url(settings), (settings.batch_events, settings.event_bytes)
    ear = DoorbellListener(url, ring)
    heart = Heartbeat(routing.db, "router", tenants=routing.at_work.count, also=also)
    bus = BusConsumer(url, Intake(app, settings.bus_tenant, *limits, ring, settings.request_bytes))
    return loop, [ear, heart, CacheSweeper(), bus]


def run_worker(settings: Settings, queue: str, concurrency: int | None = None, idle: int | None = None) -> None:
    """Run a Celery worker for one queue until stopped.

    Without work for a while, only `idle` of its processes stay; the others are forked when they are needed.
    """
    require_model(settings)
    app = db.connect(db.app_url(settings), 2)
    require(None, app, settings)  # It leaves no connection open, which the children of the fork would share.
    niceness.yield_to_requests(settings)
    beside: list[Heartbeat | MirrorWatcher] = []

    processes = concurrency or CONCURRENCY[queue]
    if processes == 1:
        log.warning("worker.alone", queue=queue, hint="One process serves all tenants in turn; start two or more.")

    def begin(**_: object) -> None:
        name = f"{heartbeat.node(queue)}:{os.getpid()}"
        metrics.CELERY_TASKS_ACTIVE.labels(heartbeat.node(queue))  # shown as 0: it names the worker to the exposition
        beside.append(Heartbeat(app, name, queue, processes, also=[heartbeat.ProcessPart(f"worker-{queue}")]))
        if queue == "io" and settings.mirror_dir is not None:
            beside.append(MirrorWatcher(app, settings.mirror_dir))

    def stop(**_: object) -> None:
        for part in beside:
            part.close()

    worker_ready.connect(begin, weak=False)
    worker_shutting_down.connect(stop, weak=False)
    celery = task.with_task(celery_app.create(settings, broker_url(settings)), settings)
    few = processes if idle is None else min(idle, processes)
    task.work(
        celery,
        settings,
        pool="prefork",
        queues=[queue],
        hostname=heartbeat.node(queue),
        concurrency=few or processes,
        autoscale=None if idle is None else [processes, few],
    )


def require(queue: Database | None, app: Database | None, settings: Settings) -> None:
    """Raise Misconfigured where the database does not fit this version, or a role sees too much."""
    for database in (queue, app):
        if database is not None:
            try:
                db.require_bound(database)
                schema_version.require_current(database, identity(settings))
            finally:
                database.close()  # It opens again when it is needed.
