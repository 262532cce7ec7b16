"""Agents that reach other services: webhooks, their Celery tasks, channels that people read.

Each may be carried out twice, where a worker dies between the call and its commit; what is sent carries the id of its
dispatch, by which the other side can tell.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import ssl
import time
from collections.abc import Mapping
from functools import cache
from typing import Any, Final
from uuid import UUID

import httpx
import structlog
from celery import Celery

from core.bell import BROKER_ERRORS, broker_url
from core.config import Settings
from core.errors import Later, Never
from core.remote import retry_after
from core.types import Event, Json
from rules.standing import LOG, may_post
from workers.ledger import Job, Outcome

log = structlog.get_logger()

RETRIABLE: Final = frozenset({408, 425, 429})
"""Refusals that speak of the moment and not of what was sent, beside all from 500 on."""

OURS: Final = frozenset({"host", "content-length", "transfer-encoding", "connection"})
"""Headers that a rule may not set, with all that begin with `webhook-`: they decide who gets it and who vouches."""

HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A name of a header (RFC 9110 §5.6.2)."""

SAID_CHARACTERS: Final = 300
"""How much of a refusal's text is kept."""

CONNECTION_SECONDS: Final = 5
"""How long a task waits for a connection to the broker."""

NEVER_RIGHT = (httpx.LocalProtocolError, httpx.UnsupportedProtocol, httpx.InvalidURL)
"""What httpx refuses to send."""


def send_webhook(settings: Settings, job: Job) -> Outcome:
    """Post what the rule says, or the event, to a host that the settings allow; 2xx is done.

    Addresses within the operator's own network are not refused: the list of hosts decides, and many want just that.
    """
    url = _allowed(job.params["url"], settings)
    given = job.params.get("payload")
    content = _told(job.event, job.params.get("gathered")) if given is None else given
    status = _post(settings, job.id, f"The webhook at {url.host}", url, content, job.params.get("headers") or {})
    return Outcome(lambda _tx: {"status": status})


def send_task(settings: Settings, job: Job) -> Outcome:
    """Put a task on the queue of another service; its task id is the id of the dispatch.

    The queue is declared as Celery declares one that nobody configured: a direct exchange of its own name.
    """
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


def notify(settings: Settings, job: Job) -> Outcome:
    """Tell people: in the log, or through a channel that the settings name."""
    channel, words = job.params["channel"], _text(job.params["template"])
    if channel == LOG:
        log.info("notification", channel=channel, text=words)
        return Outcome(lambda _tx: {"channel": channel, "delivered": 1})
    address = settings.notify_channels.get(channel)
    if address is None:
        raise Never(f"There is no channel {channel!r}. Whoever runs this installation adds to IMPRINT_NOTIFY_CHANNELS.")
    content = {"text": words, "channel": channel, "event_id": job.event.id}
    # The operator has set the address, so its host needs no other permission.
    status = _post(settings, job.id, f"The channel {channel!r}", httpx.URL(str(address)), content, {})
    return Outcome(lambda _tx: {"channel": channel, "delivered": 1, "status": status})


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """The `webhook-signature` of Standard Webhooks; `secret` is base64, with or without `whsec_` before it."""
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error as error:
        raise Never(
            "IMPRINT_WEBHOOK_SECRET is not base64. Set it to `whsec_` and 32 random bytes in base64."
        ) from error
    signed = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


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


def _post(
    settings: Settings, dispatch_id: UUID, who: str, url: httpx.URL, content: Any, given: Mapping[str, Any]
) -> int:
    """The status of what was delivered. Later: not now. Never: refused for good. Neither names the whole address."""
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    headers = {**_theirs(given), **_signed(settings, dispatch_id, body)}
    timeout = settings.webhook_timeout_seconds
    try:
        # A client of its own for each: cookies of one tenant's webhook must not go out with another's.
        with (
            httpx.Client(verify=_tls(), timeout=timeout, follow_redirects=False) as client,
            client.stream("POST", url, content=body, headers=list(headers.items())) as answer,
        ):
            if answer.is_success:
                return answer.status_code
            raise _refusal(who, answer, _beginning(answer, timeout))
    except NEVER_RIGHT as error:
        raise Never(f"{who} cannot be called: {error}") from error
    except httpx.TransportError as error:
        raise Later(f"{who} cannot be reached: {type(error).__name__} {error}".rstrip()) from error


def _theirs(given: Mapping[str, Any]) -> dict[bytes, bytes]:
    """The rule's headers; one whose template found nothing is left out."""
    headers = {b"content-type": b"application/json", b"user-agent": b"imprint"}
    for name, value in given.items():
        lower = name.lower()
        if not HEADER.fullmatch(name) or lower in OURS or lower.startswith("webhook-"):
            raise Never(f"A rule may not set the header {name!r}. Take it out of the rule.")
        if value is not None:
            headers[lower.encode()] = _text(value).encode()
    return headers


def _signed(settings: Settings, dispatch_id: UUID, body: bytes) -> dict[bytes, bytes]:
    """What Standard Webhooks asks for: the same id at every attempt, the time of this one, and who vouches for it."""
    now = int(time.time())
    headers = {"webhook-id": str(dispatch_id), "webhook-timestamp": str(now)}
    if settings.webhook_secret is not None:
        secret = settings.webhook_secret.get_secret_value()
        headers["webhook-signature"] = signature(secret, str(dispatch_id), now, body)
    return {name.encode(): value.encode() for name, value in headers.items()}


def _beginning(answer: httpx.Response, seconds: float) -> str:
    """The first of what a refusal says; who says it slowly is not listened to for longer than `seconds`."""
    until, said = time.monotonic() + seconds, b""
    for part in answer.iter_raw():
        said += part
        if len(said) >= SAID_CHARACTERS or time.monotonic() > until:
            break
    return " ".join(said.decode(errors="replace").split())[:SAID_CHARACTERS]


def _refusal(who: str, answer: httpx.Response, said: str) -> Later | Never:
    detail = f"{who} answered {answer.status_code}: {said}".rstrip(": ")
    if answer.status_code in RETRIABLE or answer.is_server_error:
        return Later(detail, after=retry_after(answer.headers))
    if answer.is_redirect:
        return Never(f"{detail}. Redirects are not followed; give the address it leads to.")
    return Never(detail)


def _text(value: Any) -> str:
    """A template that was nothing but one field took the type of that field."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@cache
def _tls() -> ssl.SSLContext:
    """To read the certificates takes longer than most calls."""
    return httpx.create_ssl_context()


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
