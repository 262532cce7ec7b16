"""Broker hint that the log has grown: Doorbell and DoorbellListener."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

from amqp.exceptions import AMQPError
from kombu import Connection, Exchange, Queue
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from core.config import Settings
from core.errors import Misconfigured
from core.loop import Loop
from core.settings.brokers import is_redis

EXCHANGE = Exchange("imprint.bell", type="fanout", durable=False, delivery_mode="transient")

QUIET_SECONDS = 0.02
"""Hints within this time are one, because a router reads everything there is."""

LISTEN_SECONDS = 1.0
"""A listener looks so often whether it was closed; hints come at once."""

BROKER_ERRORS = (KombuError, OSError, RedisError, AMQPError)
"""Errors of a broker that is away: kombu lets those of its clients for Redis and RabbitMQ through."""

ANSWER_SECONDS = 5.0
"""Longest wait for an answer of Redis; without it, what is sent to one that has gone without a word waits for ever."""

HEALTH_SECONDS = 10
"""Interval at which a consumer checks its connection to Redis; a dead one is replaced after twice as long."""


def transport_options(url: str) -> dict[str, Any]:
    """Return kombu's options by which a connection notices that its broker has gone without a word."""
    if not is_redis(url):
        return {}
    return {
        "socket_timeout": ANSWER_SECONDS,
        "socket_connect_timeout": ANSWER_SECONDS,
        "health_check_interval": HEALTH_SECONDS,
    }


def broker_url(settings: Settings) -> str:
    """Return the broker's URL from the settings, or that of the stack running on this home."""
    if settings.broker_url is not None:
        return settings.broker_url.get_secret_value()
    if "broker_url" in settings.stack:
        return settings.stack["broker_url"]
    raise Misconfigured("No broker: set IMPRINT_BROKER_URL, or start the embedded one with `imprint up`.")


class Doorbell:
    """Publishes hints without making the caller wait: a thread of its own talks to the broker."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: Connection | None = None
        self._loop = Loop("doorbell", self._publish, None, expected=BROKER_ERRORS, delayed=True, last=self._disconnect)
        self._loop.start()

    def notify(self) -> None:
        """Publish a hint that there is something new; returns at once."""
        self._loop.wake()

    def ping(self) -> float:
        """Return the seconds that a new connection takes. One of BROKER_ERRORS: the broker does not answer."""
        began = time.monotonic()
        with Connection(self._url, connect_timeout=1) as connection:
            connection.connect()
        return time.monotonic() - began

    @property
    def kind(self) -> str:
        """Return which broker it is: `redis`, `amqp`."""
        return self._url.partition(":")[0]

    def close(self) -> None:
        self._loop.close()

    def _publish(self) -> None:
        try:
            if self._connection is None:
                self._connection = _connection(self._url)
            producer = self._connection.Producer(serializer="json")
            producer.publish({}, exchange=EXCHANGE, declare=[EXCHANGE])
        except BROKER_ERRORS:
            self._disconnect()
            raise
        time.sleep(QUIET_SECONDS)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.release()


class DoorbellListener:
    """Listens for hints in a thread of its own and calls `heard`; reconnects for as long as it is open.

    `is_listening`: connected to the broker. After each connection it calls `heard`, because it may have missed hints.
    """

    def __init__(self, url: str, heard: Callable[[], None]) -> None:
        self._url = url
        self._heard = heard
        self.is_listening = False
        self._loop = Loop("listener", self._listen, expected=BROKER_ERRORS)
        self._loop.start()

    def close(self) -> None:
        self._loop.close()

    def _listen(self) -> None:
        queue = Queue("", EXCHANGE, exclusive=True, auto_delete=True, durable=False)
        with (
            _connection(self._url) as connection,
            connection.Consumer([queue], callbacks=[lambda *_: self._heard()], no_ack=True),
        ):
            self.is_listening = True
            self._heard()
            try:
                while not self._loop.is_stopped:
                    with contextlib.suppress(TimeoutError):
                        connection.drain_events(timeout=LISTEN_SECONDS)
            finally:
                self.is_listening = False


def _connection(url: str) -> Connection:
    return Connection(url, connect_timeout=2, transport_options=transport_options(url))
