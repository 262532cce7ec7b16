"""Celery's configuration in production. Light to import: the clock needs no agent."""

from __future__ import annotations

from typing import Any

from celery import Celery
from kombu import Exchange

from core.agents import QUEUES
from core.config import Settings
from core.events.broker_queues import WORK_DELIVERIES
from core.events.doorbell import transport_options
from core.settings.brokers import is_redis
from workers.queues import ExistingQueue

VISIBILITY_MARGIN_SECONDS = 300
"""Added to the longest task: Redis delivers a task again that was not acknowledged within that time."""

TIME_MARGIN_SECONDS = 30
"""Added to the time limit of an attempt (`workers.dispatch.deadline`) for Celery's own limit, the last resort."""

SOFT_SHUTDOWN_SECONDS = 3
"""Time that running tasks get to finish at shutdown; later, their leases expire and the work is sent again."""


def create(settings: Settings, broker_url: str) -> Celery:
    """Return the Celery application on this broker."""
    app = Celery("imprint", broker=broker_url, set_as_current=False)
    app.conf.update(
        accept_content=["json"],
        task_serializer="json",
        task_acks_late=True,
        task_retry_on_worker_lost=True,
        task_reject_on_worker_lost=True,
        task_ignore_result=True,
        task_time_limit=settings.task_seconds + TIME_MARGIN_SECONDS,
        task_queues=[_queue(name) for name in QUEUES],
        task_default_queue="io",
        task_default_exchange="imprint.work",
        task_default_exchange_type="direct",
        task_default_routing_key="io",
        task_create_missing_queues=False,
        worker_prefetch_multiplier=1,
        worker_consumer="workers.consumer:Consumer",
        worker_soft_shutdown_timeout=SOFT_SHUTDOWN_SECONDS,
        worker_send_task_events=False,
        # Anyone with the broker's password could shut workers down by it; heartbeats show whether one is alive.
        worker_enable_remote_control=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_cancel_long_running_tasks_on_connection_loss=True,
        broker_connection_retry_on_startup=True,
        broker_transport_options=_transport(settings, broker_url),
    )
    return app


def _queue(name: str) -> ExistingQueue:
    exchange = Exchange("imprint.work", type="direct")
    return ExistingQueue(name, exchange, routing_key=name, deliveries=WORK_DELIVERIES)  # type: ignore[no-untyped-call]


def _transport(settings: Settings, broker_url: str) -> dict[str, Any]:
    if not is_redis(broker_url):
        return {"confirm_publish": True}
    return {
        **transport_options(broker_url),
        "visibility_timeout": settings.task_seconds + VISIBILITY_MARGIN_SECONDS,
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
    }
