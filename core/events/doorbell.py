"""Broker hint that the log has grown: Doorbell and DoorbellListener."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

import structlog
from amqp.exceptions import AMQPError
from kombu import Connection, Exchange, Queue
from kombu.exceptions import KombuError
from kombu.message import Message
from redis.exceptions import RedisError

from core.config import Settings
from core.errors import Misconfigured

log = structlog.get_logger()

EXCHANGE = Exchange("imprint.bell", type="fanout", durable=False, delivery_mode="transient")

QUIET_SECONDS = 0.02
"""Notifications within this time are sent as one: a router reads everything anyway."""

RETRY_SECONDS = 1.0
"""Pause before a lost broker is tried again; the poll covers the meantime."""

BROKER_ERRORS = (KombuError, OSError, RedisError, AMQPError)
"""Errors of an unreachable broker: kombu passes on what its clients for Redis and RabbitMQ raise."""


def broker_url(settings: Settings) -> str:
    """Return the broker's URL from the settings, or that of the stack running on this home."""
    if settings.broker_url is not None:
        return settings.broker_url.get_secret_value()
    if "broker_url" in settings.stack:
        return settings.stack["broker_url"]
    raise Misconfigured("No broker: set IMPRINT_BROKER_URL, or start the embedded one with `imprint up`.")


class Bell:
    """Notifies listeners without blocking the caller: a thread talks to the broker."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._wanted = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="bell", daemon=True)
        self._thread.start()

    def ring(self) -> None:
        """Notify listeners of new events; returns at once."""
        self._wanted.set()

    def close(self) -> None:
        self._closed.set()
        self._wanted.set()
        self._thread.join(timeout=2)

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                with Connection(self._url, connect_timeout=2) as connection:
                    self._serve(connection)
            except BROKER_ERRORS as error:
                log.warning("bell.unheard", error=str(error))
                self._closed.wait(RETRY_SECONDS)

    def _serve(self, connection: Connection) -> None:
        producer = connection.Producer(serializer="json")
        while self._wanted.wait() and not self._closed.is_set():
            self._wanted.clear()
            producer.publish({}, exchange=EXCHANGE, declare=[EXCHANGE])
            self._closed.wait(QUIET_SECONDS)


class Ear:
    """Listens in a thread and calls `heard` on each notification; reconnects until it is closed."""

    def __init__(self, url: str, heard: Callable[[], None]) -> None:
        self._url = url
        self._heard = heard
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ear", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closed.set()
        self._thread.join(timeout=2)

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                with Connection(self._url, connect_timeout=2) as connection:
                    self._listen(connection)
            except BROKER_ERRORS as error:
                log.warning("ear.deaf", error=str(error))
                self._closed.wait(RETRY_SECONDS)

    def _listen(self, connection: Connection) -> None:
        queue = Queue("", EXCHANGE, exclusive=True, auto_delete=True, durable=False)
        with connection.Consumer([queue], callbacks=[self._on_ring], no_ack=True):
            while not self._closed.is_set():
                with contextlib.suppress(TimeoutError):
                    connection.drain_events(timeout=0.5)

    def _on_ring(self, _body: object, _message: Message) -> None:
        self._heard()
