"""Router, clock and workers of both queues as threads of one process, for a machine with little memory.

What they promise is the same, because it rests on rows and leases. Two things are weaker: an agent that overruns goes
on in its thread (`workers.dispatch.deadline` needs a process), and a computation holds the interpreter's lock.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from typing import Final

from celery import Celery
from celery.signals import worker_ready, worker_shutting_down

from core import metrics, tracing
from core.agents import QUEUES
from core.config import Settings
from core.events.doorbell import broker_url
from core.inference.configured_embedder import require_model
from core.maintenance import heartbeat
from core.storage import db
from core.storage.db import Database
from workers import app as celery_app
from workers import niceness, scheduling, task, wiring
from workers.mirror_watcher import MirrorWatcher
from workers.processes import Companion, require, routing_loop
from workers.routing.router import Router

THREADS: Final = 5
"""Dispatches at work at once, of both queues."""

THREADS_OF_A_QUEUE: Final = 3
"""As which they are reported for each queue. A tenant gets one less (`fair_share`), so four at most of both queues."""


def run_together(settings: Settings) -> None:
    """Run router, clock and worker until stopped."""
    require_model(settings)
    routing = wiring.router(settings)
    app = db.connect(db.app_url(settings), settings.database_pool)
    require(routing.db, app, settings)
    niceness.yield_to_requests(settings, routes=True)
    tracing.start("imprint-workers")
    celery = task.with_task(celery_app.create(settings, broker_url(settings)), settings, forks=False)
    beside: list[Companion] = []

    def begin(**_: object) -> None:
        beside.extend(_begin(settings, celery, routing, app))

    def stop(**_: object) -> None:
        while beside:
            beside.pop(0).close()

    worker_ready.connect(begin, weak=False)
    worker_shutting_down.connect(stop, weak=False)
    name = f"all@{socket.gethostname()}"
    try:
        task.work(celery, settings, pool="threads", queues=list(QUEUES), hostname=name, concurrency=THREADS)
    finally:
        tracing.stop()


def _beside_the_router() -> Iterator[heartbeat.ProcessPart]:
    """Yield what the process is beside the router, for its heartbeat."""
    yield heartbeat.ProcessPart("clock")
    for queue in QUEUES:
        yield heartbeat.ProcessPart(f"{heartbeat.node(queue)}:{os.getpid()}", queue, THREADS_OF_A_QUEUE)
        yield heartbeat.ProcessPart(f"worker-{queue}")


def _begin(settings: Settings, celery: Celery, routing: Router, app: Database) -> list[Companion]:
    for queue in QUEUES:
        metrics.CELERY_TASKS_ACTIVE.labels(heartbeat.node(queue))  # as in a worker of its own
    loop, parts = routing_loop(settings, celery, routing, app, _beside_the_router())
    loop.start()
    ticking = scheduling.start_clock(celery, settings, routing.db)
    if settings.mirror_dir is not None:
        parts.append(MirrorWatcher(app, settings.mirror_dir))
    return [*ticking, loop, *parts, routing.db, app]
