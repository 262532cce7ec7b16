"""Events that come over the bus, published with kombu to the topic exchange `imprint.events`: kept, then acked."""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from kombu import Connection, Exchange, Queue
from kombu.message import Message
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError

from core import metrics
from core.errors import Invalid, Unauthorized
from core.events import parsing
from core.events.doorbell import BROKER_ERRORS, RETRY_SECONDS
from core.sessions import ingest
from core.storage.db import Database
from core.tenancy import tenants
from core.types import DispatchStatus
from workers.dispatch import insertion
from workers.dispatch.model import NewDispatch

log = structlog.get_logger()

EXCHANGE = Exchange("imprint.events", type="topic", durable=True)
QUEUE = Queue("imprint.events", EXCHANGE, routing_key="#", durable=True)

PREFETCH = 50
"""Messages in hand at once; each is one transaction, so this bounds what a restart delivers again."""

REDECLARE_SECONDS = 5.0
"""How often the queue is bound anew: on Redis a flush forgets bindings, and events would go nowhere."""

HASH_DIGITS = 16
"""How much of a hash is logged: enough to find one message among all of a day."""

BODY_CHARACTERS = 10_000
"""How much of an unreadable message is kept in its dead letter."""


@dataclass(frozen=True, slots=True)
class Intake:
    """Where bus messages go, and how large they may be. `tenant`: whose they are when they carry no key.

    `message_bytes`: of one message with all its events.
    """

    app: Database
    tenant: str
    batch: int
    event_bytes: int
    ring: Callable[[], None]
    message_bytes: int = 32 * 1024 * 1024


class BusConsumer:
    """Takes events off the bus in a thread of its own; reconnects for as long as it is open."""

    def __init__(self, broker_url: str, intake_: Intake) -> None:
        self._url = broker_url
        self._intake = intake_
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="bus", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closed.set()
        self._thread.join(timeout=5)

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                with Connection(self._url, connect_timeout=2) as connection:
                    self._consume(connection)
            except (*BROKER_ERRORS, DBAPIError) as error:
                log.warning("bus.lost", error=str(error))
                self._closed.wait(RETRY_SECONDS)

    def _consume(self, connection: Connection) -> None:
        # Bodies are parsed here and not by kombu, so that one nobody can read becomes a dead letter and not a crash.
        channel: Any = connection.default_channel
        channel.Message = _uninflated(channel.Message)
        with connection.Consumer([QUEUE], channel, on_message=self._on_message, prefetch_count=PREFETCH, accept=None):
            declared = time.monotonic()
            while not self._closed.is_set():
                if time.monotonic() - declared > REDECLARE_SECONDS:
                    QUEUE(connection.default_channel).declare()
                    declared = time.monotonic()
                with contextlib.suppress(TimeoutError):
                    connection.drain_events(timeout=0.5)

    def _on_message(self, message: _Uninflated) -> None:
        body = _bytes(message.body)
        if message.compression is not None:
            _refuse("compressed", len(body), "Compressed messages are not read. Publish without `compression`.")
        elif len(body) > self._intake.message_bytes:
            most = self._intake.message_bytes
            _refuse("too_large", len(body), f"{most} bytes are allowed (IMPRINT_REQUEST_BYTES). Send it in parts.")
        else:
            take(self._intake, body, message.headers or {}, message.content_type or "")
        message.ack()  # type: ignore[no-untyped-call]


class _Uninflated(Message):
    """A message whose body stays as it came: kombu inflates before anyone could say how much is too much."""

    def __init__(self, body: object = None, headers: Mapping[str, Any] | None = None, **more: Any) -> None:
        kept = dict(headers or {})
        self.compression = kept.pop("compression", None)
        super().__init__(body=body, headers=kept, **more)  # type: ignore[no-untyped-call]  # kombu has few types.


def _uninflated(message: type[Message]) -> Any:
    """The transport's class of messages with ours behind it, so that what it calls its base does not inflate."""
    return type("UninflatedMessage", (message, _Uninflated), {})


def _refuse(reason: str, size: int, hint: str) -> None:
    """Drop a message unread. It is not kept as a dead letter, for whose it is only its content could say."""
    metrics.EVENTS_REFUSED.labels("bus", reason).inc()
    log.warning("bus.refused", reason=reason, bytes=size, hint=hint)


def take(intake_: Intake, body: bytes, headers: Mapping[str, Any], content_type: str) -> None:
    """Accept one bus message, or set it aside with its reason; when this returns, it is on disk."""
    named = {str(k).lower(): str(v) for k, v in headers.items()} | {"content-type": content_type}
    try:
        tenant_id = _tenant(intake_, named)
    except Unauthorized:
        _drop(body)
        return
    try:
        batch = parsing.parse(body, named, batch=intake_.batch, event_bytes=intake_.event_bytes)
    except Invalid as error:
        _set_aside(intake_, tenant_id, body, str(error))
        return
    try:
        with intake_.app.tenant(tenant_id) as tx:
            accepted = ingest.accept(tx, tenant_id, batch)
    except (DataError, IntegrityError, ProgrammingError) as error:
        # The database is there and will not have it, however often it comes: it must not hold up what is behind it.
        _set_aside(intake_, tenant_id, body, str(error.orig))
        return
    metrics.EVENTS_ACCEPTED.labels("bus").inc(len(batch) - accepted.duplicates)
    metrics.EVENTS_DUPLICATE.labels("bus").inc(accepted.duplicates)
    intake_.ring()


def _tenant(intake_: Intake, headers: Mapping[str, str]) -> str:
    """The tenant of the key in the header `authorization`; without that, the bus's own.

    Unauthorized: there is such a header, and its key does not hold.
    """
    if "authorization" not in headers:
        return intake_.tenant
    _, _, key = headers["authorization"].partition(" ")
    who = tenants.caller(intake_.app, key)
    if not who.may("publish"):
        raise Unauthorized("The key in the message's `authorization` header lacks the scope `publish`.")
    return who.tenant_id


def _drop(body: bytes) -> None:
    """Keep nothing of a message whose key does not hold: it is some tenant's, and nobody can say which.

    Its hash tells who has sent it which one it was.
    """
    metrics.EVENTS_REFUSED.labels("bus", "unauthorized").inc()
    log.warning("bus.unauthorized", bytes=len(body), sha256=hashlib.sha256(body).hexdigest()[:HASH_DIGITS])


def _set_aside(intake_: Intake, tenant_id: str, body: bytes, reason: str) -> None:
    metrics.EVENTS_REFUSED.labels("bus", "invalid").inc()
    log.warning("bus.unreadable", bytes=len(body))
    letter = NewDispatch(
        tenant_id=tenant_id,
        action_type="accept",
        target="bus",
        queue="io",
        params={"body": body.decode(errors="replace").replace("\x00", "\ufffd")[:BODY_CHARACTERS]},
        event_seq=None,
        root_seq=0,
        correlation_id="",
        hop=0,
        status=DispatchStatus.DEAD,
        error=reason,
    )
    with intake_.app.tenant(tenant_id) as tx:
        insertion.insert(tx, [letter], resend_s=0)


def _bytes(body: object) -> bytes:
    return (
        body
        if isinstance(body, bytes)
        else bytes(body)
        if isinstance(body, bytearray | memoryview)
        else str(body).encode()
    )
