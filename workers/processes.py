"""The long-running processes on the workers' side besides the clock: router and Celery workers."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable

import structlog
from celery.signals import worker_ready, worker_shutting_down
from sqlalchemy.exc import DBAPIError

from core.config import Settings
from core.events.doorbell import BROKER_ERRORS, Ear, broker_url
from core.inference.configured_embedder import identity, require_model
from core.maintenance.cache_sweeper import Sweeper
from core.maintenance.heartbeat import Heart
from core.storage import db, schema
from core.storage.db import Database
from workers import app as celery_app
from workers import wiring
from workers.dispatch import relay
from workers.mirror_watcher import Watcher
from workers.routing import router
from workers.routing.bus_consumer import BusConsumer, Intake

log = structlog.get_logger()

CONCURRENCY = {"io": 5, "cpu": 3}
"""Processes of a worker: waiting takes many, computing as many as there are cores on a small machine; and one more, for
no tenant gets all of them."""

TROUBLE_SECONDS = 1.0
"""Pause after a lost database before the loop tries again."""


def run_router(settings: Settings) -> None:
    """Route until told to stop: at each ring, and at each poll for what a lost ring would have missed."""
    routing = wiring.router(settings)
    app = db.connect(db.app_url(settings), settings.database_pool)
    _require(routing.db, app, settings)
    url = broker_url(settings)
    celery = celery_app.create(settings, url)
    woken = threading.Event()
    ear, heart, sweeper = Ear(url, woken.set), Heart(routing.db, "router", tenants=routing.at_work.count), Sweeper()
    limits = settings.batch_events, settings.event_bytes
    bus = BusConsumer(url, Intake(app, settings.bus_tenant, *limits, woken.set, settings.request_bytes))

    def turn() -> None:
        woken.clear()
        count, owed = router.route(routing)
        relay.send(celery, owed)
        relay.send(celery, router.fire_due(routing))
        if not count:  # A batch that is not full may be one tenant's share of it.
            woken.wait(settings.poll_seconds)

    try:
        _loop(turn, woken)
    finally:
        for part in (ear, heart, sweeper, bus, routing.db, app):
            part.close()


def run_worker(settings: Settings, queue: str, concurrency: int | None = None) -> None:
    """A Celery worker for one queue, until told to stop."""
    require_model(settings)
    app = db.connect(db.app_url(settings), 2)
    _require(None, app, settings)  # It leaves no connection open, which the children of the fork would share.
    beside: list[Heart | Watcher] = []

    processes = concurrency or CONCURRENCY[queue]
    if processes == 1:
        log.warning("worker.alone", queue=queue, hint="One process serves all tenants in turn; start two or more.")

    def begin(**_: object) -> None:
        beside.append(Heart(app, f"worker-{queue}"))
        beside.append(Heart(app, f"{queue}@{socket.gethostname()}:{os.getpid()}", queue, processes))
        if queue == "io" and settings.mirror_dir is not None:
            beside.append(Watcher(app, settings.mirror_dir))

    def stop(**_: object) -> None:
        for one in beside:
            one.close()

    worker_ready.connect(begin, weak=False)
    worker_shutting_down.connect(stop, weak=False)
    celery = celery_app.with_task(celery_app.create(settings, broker_url(settings)), settings)
    options = [f"--queues={queue}", f"--concurrency={processes}", f"--hostname={queue}@%h"]
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", f"--loglevel={settings.log_level}"]
    celery.worker_main(["worker", "--pool=prefork", *options, *quiet])


def _require(queue: Database | None, app: Database | None, settings: Settings) -> None:
    for database in (queue, app):
        if database is not None:
            try:
                db.require_bound(database)
                schema.require_current(database, identity(settings))
            finally:
                database.close()  # It opens again when it is needed.


def _loop(turn: Callable[[], None], woken: threading.Event) -> None:
    """Take turns until SIGTERM or Ctrl-C; a database or broker that is away costs a pause, not the process."""
    stopped = threading.Event()

    def stop(*_: object) -> None:
        stopped.set()
        woken.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    while not stopped.is_set():
        try:
            turn()
        except (DBAPIError, *BROKER_ERRORS) as error:
            log.warning("turn.failed", error=str(error).splitlines()[0])
            stopped.wait(TROUBLE_SECONDS)
        except Exception:
            # A fault of ours. Ending the process would only have it started again, on the same events.
            log.exception("turn.broken")
            stopped.wait(TROUBLE_SECONDS)
