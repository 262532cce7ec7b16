"""The one Celery task: it hands dispatch ids to the ledger."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final
from uuid import UUID

from celery import Celery
from celery.signals import worker_process_init, worker_process_shutdown

from core import logs, tracing
from core.config import Settings
from core.maintenance.cache_sweeper import CacheSweeper
from workers import wiring
from workers.dispatch import ledger, relay
from workers.dispatch.model import Ledger

ALONE: Final = {"without_gossip": True, "without_mingle": True, "without_heartbeat": True, "quiet": True}
"""Workers know each other by the database."""


def work(app: Celery, settings: Settings, **options: Any) -> None:
    """Run a worker of the application until stopped; `options` are those of Celery's worker.

    Its command line would do the same. It imports the commands of all of Celery: 17 MB in each worker.
    """
    worker = app.Worker(loglevel=settings.log_level, **ALONE, **options)
    worker.start()
    if worker.exitcode:
        raise SystemExit(worker.exitcode)


def with_task(app: Celery, settings: Settings, *, forks: bool = True) -> Celery:
    """Register the task for a ledger that is wired before the fork: processes share its memory.

    Connections do not survive a fork, and it has none: each process opens its own. `forks`: the pool consists of
    processes, in which an agent can be interrupted; else of threads.
    """
    wired = replace(wiring.ledger(settings), interrupts=forks)
    held: list[Ledger] = [] if forks else [wired]
    beside: list[CacheSweeper] = []

    @app.task(name=relay.TASK, shared=False)  # type: ignore[untyped-decorator]
    def run(tenant_id: str, dispatch_ids: list[str], queue: str | None = None) -> None:
        ledger.take_turn(
            held[0], tenant_id, queue, [UUID(dispatch_id) for dispatch_id in dispatch_ids], partial(relay.send, app)
        )

    def begin(**_: Any) -> None:
        logs.configure(settings.log_level, settings.log_format, "worker")
        tracing.start("imprint-worker")
        held[:] = [wired]
        beside[:] = [CacheSweeper()]

    def end(**_: Any) -> None:
        # Both lists are empty in a child that ends before it has begun.
        for sweeper in beside:
            sweeper.close()
        for own in held:
            own.db.close()
        tracing.stop()

    if not forks:
        return app
    worker_process_init.connect(begin, weak=False)
    worker_process_shutdown.connect(end, weak=False)
    return app
