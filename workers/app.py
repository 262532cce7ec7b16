"""Celery, set up as production runs it. The tasks have no thoughts: they hand dispatch ids to the ledger."""

from __future__ import annotations

from typing import Any

from celery import Celery
from celery.signals import worker_process_init, worker_process_shutdown
from kombu import Exchange, Queue
from prometheus_client import multiprocess

from core import log
from core.config import Settings
from workers import ledger
from workers.wiring import Services, services

TASK = "imprint.run"
"""The one task there is: run these dispatches of a tenant, in order."""

QUEUES = ("io", "cpu")
"""`io` waits for models and other services, `cpu` computes; a process of each never holds the other up."""

VISIBILITY_MARGIN_SECONDS = 300
"""Redis hands a task out again when it was not acknowledged in time; that time must lie above the longest task."""

SOFT_SHUTDOWN_SECONDS = 5
"""What a worker has in hand may finish within this time; after it, leases bring the work back."""


def create(settings: Settings, broker_url: str) -> Celery:
    """The Celery application on this broker."""
    app = Celery("imprint", broker=broker_url, set_as_current=False)
    app.conf.update(
        accept_content=["json"],
        task_serializer="json",
        task_acks_late=True,
        task_retry_on_worker_lost=True,
        task_reject_on_worker_lost=True,
        task_ignore_result=True,
        task_time_limit=settings.task_seconds,
        task_queues=[Queue(name, Exchange("imprint.work", type="direct"), routing_key=name) for name in QUEUES],
        task_default_queue="io",
        task_default_exchange="imprint.work",
        task_default_routing_key="io",
        task_create_missing_queues=False,
        worker_prefetch_multiplier=1,
        worker_soft_shutdown_timeout=SOFT_SHUTDOWN_SECONDS,
        worker_enable_soft_shutdown_on_idle=False,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        worker_cancel_long_running_tasks_on_connection_loss=True,
        broker_connection_retry_on_startup=True,
        broker_transport_options=_transport(settings, broker_url),
    )
    return app


def register(app: Celery, settings: Settings) -> None:
    """Give a worker its task, and each of its processes the services it works with."""
    held: list[Services] = []

    @app.task(name=TASK)
    def run(tenant_id: str, dispatch_ids: list[str]) -> None:
        ledger.run_all(held[0], tenant_id, dispatch_ids)

    def begin(**_: Any) -> None:
        log.configure(settings.log_level, settings.log_format, "worker")
        held[:] = [services(settings)]

    def end(**_: Any) -> None:
        held[0].close()
        multiprocess.mark_process_dead(_pid())

    worker_process_init.connect(begin, weak=False)
    worker_process_shutdown.connect(end, weak=False)


def _transport(settings: Settings, broker_url: str) -> dict[str, Any]:
    if not broker_url.startswith(("redis", "rediss")):
        return {"confirm_publish": True}
    return {
        "visibility_timeout": settings.task_seconds + VISIBILITY_MARGIN_SECONDS,
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
    }
