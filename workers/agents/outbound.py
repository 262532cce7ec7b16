"""Agents that carry out the actions `emit`, `webhook` and `celery`.

A webhook or task may be sent twice, where a worker dies between the call and its commit; it carries the id of its
dispatch, by which the receiver can tell.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache, partial
from typing import Final

import httpx
from celery import Celery

from core import tracing
from core.errors import Later, Never
from core.events import publishing, reserved
from core.events.doorbell import BROKER_ERRORS, broker_url, transport_options
from core.events.log import Emission
from core.events.pending import Effect, Reported
from core.events.publishing import Author
from core.settings import hosts
from core.settings.brokers import is_redis
from core.storage.db import Tx
from core.tenancy import destinations, vault
from core.tenancy import secrets as tenancy_secrets
from core.tenancy.destinations import Outlets
from core.types import Event, Json
from workers.delivery import webhook_client
from workers.delivery.webhook_client import WebhookRequest
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools

CONNECTION_SECONDS: Final = 5
"""Time to wait for a connection to the broker."""


def emit_event(_tools: Tools, job: Job) -> Outcome:
    """Publish the event that a rule's `emit` action describes, in the chain of its cause."""
    emission = Emission(job.params["event_type"], job.params.get("payload") or {})
    if emission.event_type in reserved.TYPES:  # The rule may have been saved before such types were refused.
        raise Never(f"`{emission.event_type}`: {reserved.refusal(emission.event_type)}.")

    def write(tx: Tx, author: Author) -> Json:
        publishing.publish(tx, job.tenant_id, author, [emission])
        return {"event_type": emission.event_type}

    return Outcome(Effect(write))


def send_webhook(tools: Tools, job: Job) -> Outcome:
    """Post the rule's payload, or the event, to a host that the tenant allows; 2xx is success."""
    names = job.params.get("secrets") or {}
    with tools.db.tenant(job.tenant_id) as tx:
        allowed = destinations.of(tx, tools.settings, job.tenant_id)
        signing = destinations.signing_keys(tx, tools.settings, job.tenant_id)
        key = partial(vault.load, tools.settings)
        secret_values = tenancy_secrets.reveal(tx, key, job.tenant_id, "header", list(names.values()))
    url = _require_allowed(job.params["url"], allowed.hosts)
    given = job.params.get("payload")
    content = _event_json(job.event, job.params.get("gathered")) if given is None else given
    address = str(url.copy_with(query=None, fragment=None))
    headers = job.params.get("headers") or {}
    secrets = _secret_headers(names, secret_values, allowed, str(url))
    parcel = WebhookRequest(f"The webhook at {url.host}", address, url, content, headers, signing, secrets)
    return webhook_client.deliver(tools, job, parcel, {})


def _secret_headers(
    names: Mapping[str, str], secret_values: Mapping[str, str], allowed: Outlets, address: str
) -> Mapping[str, str]:
    """Return the values of headers that name secrets. Never: there is no such secret, or it is for other hosts."""
    missing = sorted(set(names.values()) - secret_values.keys())
    if missing:
        raise Never(
            f"There is no secret {missing[0]!r} in this tenant any more. Store it with `imprint tenant secrets set "
            f"{missing[0]}`, then replay this dispatch."
        )
    elsewhere = sorted(name for name in names.values() if not allowed.may_send(name, address))
    if elsewhere:
        raise Never(
            f"The secret {elsewhere[0]!r} may not be sent to `{hosts.display(address)}`. An admin of the tenant "
            f"changes that with `imprint tenant secrets set {elsewhere[0]} --host`."
        )
    return {header: secret_values[name] for header, name in names.items()}


def send_task(tools: Tools, job: Job) -> Outcome:
    """Send a task to the queue of another service; its task id is the id of the dispatch.

    The queue is declared with Celery's defaults: a direct exchange of its own name.
    """
    settings = tools.settings
    task, queue = job.params["task"], job.params["queue"]
    if queue not in destinations.queues(settings, job.tenant_id):
        raise Never(
            f"The queue {queue!r} is not allowed for this tenant. The operator allows queues with "
            f"IMPRINT_CELERY_QUEUES."
        )
    own = settings.celery_broker_url
    app = _celery(own.get_secret_value() if own else broker_url(settings))
    options: Json = {
        "queue": queue,
        "task_id": str(job.id),
        "root_id": str(job.id),
        "ignore_result": True,
        "retry": False,
    }
    try:
        with (
            tracing.span("send task", "producer", attributes={"messaging.operation.type": "send"}),
            app.producer_pool.acquire(block=True, timeout=CONNECTION_SECONDS) as producer,
        ):
            options["headers"] = dict(tracing.headers())
            app.send_task(task, kwargs=job.params["kwargs"], producer=producer, add_to_parent=False, **options)
    except BROKER_ERRORS as error:
        raise Later(f"The broker of the queue {queue!r} cannot be reached: {error}") from error
    return Outcome(Reported({"task": task, "queue": queue, "task_id": str(job.id)}))


def _require_allowed(address: str, allowed: Collection[str]) -> httpx.URL:
    """Return the address; its host is checked again, because the allowed ones may have changed."""
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL as error:
        raise Never(f"The address of the webhook cannot be read: {error}") from error
    if not hosts.allows(allowed, str(url)):
        raise Never(
            f"`{hosts.display(str(url))}` is not allowed. An admin of the tenant adds it to `PUT /v1/tenant/webhooks`, "
            f"from what IMPRINT_WEBHOOK_HOSTS allows; http and other ports must be part of the entry."
        )
    return url


def _event_json(event: Event, gathered: object) -> Json:
    """Return the event as JSON that could be published; `gathered`: ids of all events that a flow has gathered."""
    document = {
        "id": event.id,
        "event_type": event.event_type,
        "source": event.source,
        "subject": event.subject,
        "time": event.time.isoformat(),
        "payload": event.payload,
        "correlation_id": event.correlation_id,
        "causation_id": event.causation_id,
    }
    return document | ({"gathered": gathered} if gathered else {})


@cache
def _celery(url: str) -> Celery:
    """Return a Celery application that only sends, on the broker of other services."""
    app = Celery("imprint-outside", broker=url, set_as_current=False)
    options = transport_options(url) if is_redis(url) else {"confirm_publish": True}
    app.conf.update(
        task_serializer="json", broker_connection_timeout=CONNECTION_SECONDS, broker_transport_options=options
    )
    return app
