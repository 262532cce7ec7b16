"""Agents that reach other services: webhooks, and their Celery tasks.

Each may be carried out twice, where a worker dies between the call and its commit; what is sent carries the id of its
dispatch, by which the other side can tell.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import httpx
from celery import Celery

from core.bell import BROKER_ERRORS, broker_url
from core.config import Settings
from core.errors import Later, Never
from core.types import Event, Json
from rules.standing import may_post
from workers import posting
from workers.ledger import Job, Outcome
from workers.posting import Parcel
from workers.tools import Tools

CONNECTION_SECONDS: Final = 5
"""How long a task waits for a connection to the broker."""


def send_webhook(tools: Tools, job: Job) -> Outcome:
    """Post what the rule says, or the event, to a host that the settings allow; 2xx is done."""
    url = _allowed(job.params["url"], tools.settings)
    given = job.params.get("payload")
    content = _told(job.event, job.params.get("gathered")) if given is None else given
    address = str(url.copy_with(query=None, fragment=None))
    parcel = Parcel(f"The webhook at {url.host}", address, url, content, job.params.get("headers") or {})
    return posting.deliver(tools, job, parcel, {})


def send_task(tools: Tools, job: Job) -> Outcome:
    """Put a task on the queue of another service; its task id is the id of the dispatch.

    The queue is declared as Celery declares one that nobody configured: a direct exchange of its own name.
    """
    settings = tools.settings
    task, queue = job.params["task"], job.params["queue"]
    if queue not in settings.celery_queues:
        raise Never(
            f"The queue {queue!r} is not allowed. Whoever runs this installation adds to IMPRINT_CELERY_QUEUES."
        )
    own = settings.celery_broker_url
    app = _celery(own.get_secret_value() if own else broker_url(settings))
    options = {"queue": queue, "task_id": str(job.id), "root_id": str(job.id), "ignore_result": True, "retry": False}
    try:
        with app.producer_pool.acquire(block=True, timeout=CONNECTION_SECONDS) as producer:
            app.send_task(task, kwargs=job.params["kwargs"], producer=producer, add_to_parent=False, **options)
    except BROKER_ERRORS as error:
        raise Later(f"The broker of the queue {queue!r} cannot be reached: {error}") from error
    return Outcome(lambda _tx: {"task": task, "queue": queue, "task_id": str(job.id)})


def _allowed(address: str, settings: Settings) -> httpx.URL:
    """The address as it will be called; its host is looked at again, for the settings may have changed."""
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL as error:
        raise Never(f"The address of the webhook cannot be read: {error}") from error
    if not may_post(str(url), settings.webhook_hosts):
        raise Never(
            f"The host {url.host!r} is not allowed. Whoever runs this installation adds to IMPRINT_WEBHOOK_HOSTS."
        )
    return url


def _told(event: Event, gathered: object) -> Json:
    """The event as it could be published elsewhere; `gathered`: the ids of all that a flow has kept for it."""
    told = {
        "id": event.id,
        "event_type": event.event_type,
        "source": event.source,
        "subject": event.subject,
        "time": event.time.isoformat(),
        "payload": event.payload,
        "correlation_id": event.correlation_id,
        "causation_id": event.causation_id,
    }
    return told | ({"gathered": gathered} if gathered else {})


@cache
def _celery(url: str) -> Celery:
    """An application that only sends, on the broker of the other services."""
    app = Celery("imprint-outside", broker=url, set_as_current=False)
    options = {} if url.startswith(("redis:", "rediss:")) else {"confirm_publish": True}
    app.conf.update(
        task_serializer="json",
        broker_connection_timeout=CONNECTION_SECONDS,
        broker_transport_options=options,
    )
    return app
