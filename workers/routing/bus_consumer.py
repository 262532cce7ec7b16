"""Consumer of the topic exchange `imprint.events`: accepts events that were published with kombu, then acknowledges."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final

import structlog
from kombu import Connection, Exchange
from kombu.message import Message
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError

from core import logs, metrics, tracing
from core.errors import Invalid, Unauthorized
from core.events import broker_queues, parsing
from core.events.doorbell import BROKER_ERRORS, LISTEN_SECONDS, transport_options
from core.events.parsing import Incoming
from core.loop import Loop
from core.sessions import ingest
from core.settings.brokers import is_redis
from core.storage.db import Database
from core.tenancy import tenants
from core.types import DispatchStatus
from workers.dispatch import insertion
from workers.dispatch.model import NewDispatch
from workers.queues import ExistingQueue

log = structlog.get_logger()

EXCHANGE = Exchange(broker_queues.EVENTS, type="topic", durable=True)
QUEUE = ExistingQueue(  # type: ignore[no-untyped-call]
    broker_queues.EVENTS, EXCHANGE, routing_key="#", durable=True, deliveries=broker_queues.EVENT_DELIVERIES
)

ON_REDIS: Final = {"priority_steps": list(range(10))}
"""kombu keeps a list for each step of priority, and publishers choose the steps: every possible one is read."""

PREFETCH = 50
"""Unacknowledged messages; each is one transaction, so this bounds what a restart delivers again."""

REDECLARE_SECONDS = 5.0
"""Interval at which the queue is bound again: a flush of Redis deletes bindings, and events would be lost."""

DATABASE_PAUSE_SECONDS = 1.0
"""Pause before a message is tried again that the database could not take."""

HOLD_SECONDS = 20 * 60.0
"""Waiting in one connection after which its messages are returned: RabbitMQ allows half an hour, kombu on Redis one."""

HASH_DIGITS = 16
"""Digits of a hash that are logged: enough to find one message among all of a day."""

BODY_CHARACTERS = 10_000
"""Characters of an unreadable message that are stored in its dead letter."""


@dataclass(frozen=True, slots=True)
class Intake:
    """Destination and limits of bus messages. `tenant`: the tenant of messages without a key.

    `message_bytes`: limit of one message with all its events.
    """

    app: Database
    tenant: str
    batch: int
    event_bytes: int
    ring: Callable[[], None]
    message_bytes: int = 32 * 1024 * 1024


class BusConsumer:
    """Consumes events in a thread of its own; reconnects for as long as it is open."""

    def __init__(self, broker_url: str, intake_: Intake) -> None:
        self._url = broker_url
        self._intake = intake_
        self._waited = 0.0
        self._loop = Loop("bus", self._consume, expected=(*BROKER_ERRORS, DBAPIError))
        self._loop.start()

    def close(self) -> None:
        self._loop.close(5)

    def _consume(self) -> None:
        self._waited = 0.0
        options = transport_options(self._url) | (ON_REDIS if is_redis(self._url) else {})
        with Connection(self._url, connect_timeout=2, transport_options=options) as connection:
            # Bodies are parsed here and not by kombu, so that an unreadable one becomes a dead letter and not a crash.
            channel: Any = connection.default_channel
            channel.Message = _without_inflation(channel.Message)
            how = {"on_message": self._on_message, "prefetch_count": PREFETCH, "accept": None}
            with connection.Consumer([QUEUE], channel, **how):
                declared = time.monotonic()
                while not self._loop.is_stopped:
                    if time.monotonic() - declared > REDECLARE_SECONDS:
                        QUEUE(connection.default_channel).declare()  # type: ignore[no-untyped-call]
                        declared = time.monotonic()
                    with contextlib.suppress(TimeoutError):
                        connection.drain_events(timeout=LISTEN_SECONDS)

    def _on_message(self, message: _CompressedMessage) -> None:
        sent = message.body
        body = bytes(sent) if isinstance(sent, bytes | bytearray | memoryview) else str(sent).encode()
        if message.compression is not None:
            _refuse("compressed", len(body), "Compressed messages are not read. Publish without `compression`.")
        elif len(body) > self._intake.message_bytes:
            most = self._intake.message_bytes
            _refuse("too_large", len(body), f"{most} bytes are allowed (IMPRINT_REQUEST_BYTES). Send it in parts.")
        else:
            self._accept(message, body)
        message.ack()  # type: ignore[no-untyped-call]

    def _accept(self, message: Message, body: bytes) -> None:
        identity = _identity(message.properties or {}, body, on_redis=is_redis(self._url))
        received = BusMessage(self._intake, body, message.headers or {}, message.content_type or "", identity)
        attributes: dict[str, tracing.Value] = {
            "messaging.system": "redis" if is_redis(self._url) else "rabbitmq",
            "messaging.destination.name": EXCHANGE.name,
            "messaging.operation.type": "process",
            "messaging.message.body.size": len(body),
        }
        parent = tracing.received(received.named)
        with tracing.span(f"process {EXCHANGE.name}", "consumer", parent, attributes=attributes):
            self._accept_patiently(received)

    def _accept_patiently(self, message: BusMessage) -> None:
        """Accept a message as soon as the database is there; DBAPIError: the loop was stopped, or it took too long.

        It is returned as seldom as possible: RabbitMQ drops what was delivered too often.
        """
        while True:
            tried = time.monotonic()
            try:
                message.accept()
            except DBAPIError as error:
                if self._loop.is_stopped or self._waited > HOLD_SECONDS:
                    raise
                log.warning("bus.waiting", **logs.fault(error))
                time.sleep(DATABASE_PAUSE_SECONDS)
                self._waited += time.monotonic() - tried
            else:
                return


class _CompressedMessage(Message):
    """A message whose body stays compressed: kombu inflates before a limit can be checked."""

    def __init__(self, body: object = None, headers: Mapping[str, Any] | None = None, **more: Any) -> None:
        kept = dict(headers or {})
        self.compression = kept.pop("compression", None)
        super().__init__(body=body, headers=kept, **more)  # type: ignore[no-untyped-call]  # kombu has few types.


def _without_inflation(message: type[Message]) -> Any:
    """Return the transport's message class with ours as its base, so that it does not inflate."""
    return type("UninflatedMessage", (message, _CompressedMessage), {})


def _refuse(reason: str, size: int, hint: str) -> None:
    """Drop a message unread. It becomes no dead letter, because only its content could say which tenant's it is."""
    metrics.EVENTS_REFUSED.labels("bus", reason).inc()
    log.warning("bus.refused", reason=reason, bytes=size, hint=hint)


@dataclass(frozen=True)
class BusMessage:
    """A message as it came. It is parsed once: tried again, its events without an `id` have the ids that were made.

    `identity`: the same at each of its deliveries, and that of no other message; None: nobody gave it one.
    """

    intake: Intake
    body: bytes
    headers: Mapping[str, Any]
    content_type: str
    identity: str | None = None

    def accept(self) -> None:
        """Store its events, or a dead letter; when this returns, they are on disk. DBAPIError: try again."""
        intake_, body = self.intake, self.body
        try:
            tenant_id, labels = _tenant(intake_, self.named)
        except Unauthorized:
            # Nobody can say which tenant's it is, so nothing of it is stored. By the hash its sender identifies it.
            metrics.EVENTS_REFUSED.labels("bus", "unauthorized").inc()
            log.warning("bus.unauthorized", bytes=len(body), sha256=hashlib.sha256(body).hexdigest()[:HASH_DIGITS])
            return
        try:
            parsing.require_held_labels(self._batch, labels)
            accepted = ingest.accept(intake_.app, tenant_id, self._batch)
        except Invalid as error:
            _write_dead_letter(intake_, tenant_id, body, str(error))
            return
        except (DataError, IntegrityError, ProgrammingError) as error:
            # The database refuses it, and will however often it is delivered: it must not block those behind it.
            _write_dead_letter(intake_, tenant_id, body, str(error.orig))
            return
        metrics.EVENTS_ACCEPTED.labels("bus").inc(len(self._batch) - accepted.duplicates)
        metrics.EVENTS_DUPLICATE.labels("bus").inc(accepted.duplicates)
        intake_.ring()

    @cached_property
    def named(self) -> Mapping[str, str]:
        """The headers with the content type, as text, their names in lower case."""
        named = {str(name).lower(): _header(value) for name, value in self.headers.items()}
        return named | {"content-type": self.content_type}

    @cached_property
    def _batch(self) -> list[Incoming]:
        limits = {"batch": self.intake.batch, "event_bytes": self.intake.event_bytes}
        if self.identity is None:
            return parsing.parse(self.body, self.named, **limits)
        return parsing.parse_delivery(self.body, self.named, self.identity, **limits)


def _identity(properties: Mapping[str, Any], body: bytes, *, on_redis: bool) -> str | None:
    """Return what tells a message from others, the same at each of its deliveries; None: nothing does.

    kombu gives a message on Redis a tag that stays; a tag of RabbitMQ counts the deliveries of a connection.
    """
    name = properties.get("message_id") or (properties.get("delivery_tag") if on_redis else None)
    # With the body, so that a publisher that uses an identifier twice loses nothing.
    return f"{name}/{hashlib.sha256(body).hexdigest()}" if name else None


def _header(value: object) -> str:
    """Return the text of a header: Kafka's are bytes, and AMQP has a type for times, which are in UTC."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _tenant(intake_: Intake, headers: Mapping[str, str]) -> tuple[str, frozenset[str] | None]:
    """Return tenant and labels of the key in the header `authorization`; without that header, the bus's own tenant.

    Unauthorized: the key is invalid.
    """
    if "authorization" not in headers:
        return intake_.tenant, None
    _, _, key = headers["authorization"].partition(" ")
    who = tenants.caller(intake_.app, key)
    if not who.may("publish"):
        raise Unauthorized("The key in the message's `authorization` header lacks the scope `publish`.")
    return who.tenant_id, who.labels


def _write_dead_letter(intake_: Intake, tenant_id: str, body: bytes, reason: str) -> None:
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
