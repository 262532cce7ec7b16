"""Checks of RabbitMQ over AMQP: permissions, alarms, and its queues with type, delivery limit and consumers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import amqp
from kombu import Connection, Queue

from api.cli.commands.host.checks.check import CheckWarning
from api.cli.commands.host.checks.installation import Installation
from core.errors import Misconfigured
from core.events.broker_queues import DELIVERIES, arguments
from core.events.doorbell import BROKER_ERRORS, EXCHANGE, broker_url

ANSWER_SECONDS: Final = 3.0
"""Longest wait for each answer: a blocked server takes a message and says nothing more."""

_DIFFERENCE: Final = re.compile(r"inequivalent arg '(?P<argument>[^']+)'.* but current is (?P<current>.+)", re.DOTALL)
_QUOTED: Final = re.compile(r"'([^']*)'")

_TERMS: Final[Mapping[str, str]] = {"x-queue-type": "type", "x-delivery-limit": "delivery limit"}


def permissions(installation: Installation) -> str:
    """Check that the user may declare, bind and consume, with a queue of this connection as a listener has it."""
    with _connected(installation) as connection:
        queue = Queue("", EXCHANGE, exclusive=True, auto_delete=True, durable=False)
        with connection.Consumer([queue], no_ack=True):
            return "its user may declare and consume"


def publishing(installation: Installation) -> str:
    """Check that a message is taken: a hint, after which routers look for events."""
    blocked: list[str] = []
    with _connected(installation, blocked.append) as connection:
        try:
            connection.Producer(serializer="json").publish(
                {}, exchange=EXCHANGE, declare=[EXCHANGE], confirm_timeout=ANSWER_SECONDS
            )
        except TimeoutError:
            reason = "an alarm blocks publishers" if blocked else f"no confirm within {ANSWER_SECONDS:g} s"
            raise Misconfigured(f"RabbitMQ takes no message: {reason}") from None
    return "messages are confirmed"


def queues(installation: Installation) -> str:
    """Check that each queue is of the type and has the limit with which Imprint declares it."""
    with _connected(installation) as connection:
        declared = _declared(connection)
        faults = [_difference(connection, name) for name in declared]
    if any(faults):
        raise CheckWarning("; ".join(fault for fault in faults if fault))
    return ", ".join(declared) + ": quorum queues with their limits" if declared else "none is declared yet"


def consumers(installation: Installation) -> str:
    """Check that something consumes each queue."""
    with _connected(installation) as connection:
        declared = _declared(connection)
    idle = [name for name, count in declared.items() if not count]
    if idle:
        raise CheckWarning(f"nothing consumes {', '.join(idle)}")
    return ", ".join(f"{name}: {count}" for name, count in declared.items()) or "no queue is declared yet"


def _declared(connection: Connection) -> dict[str, int]:
    """Return the queues that exist, and how many consumers each has."""
    counts: dict[str, int] = {}
    for name in DELIVERIES:
        channel: Any = connection.channel()  # A refusal closes its channel.
        try:
            counts[name] = channel.queue_declare(name, passive=True).consumer_count
        except amqp.NotFound:
            continue
        channel.close()
    return counts


def _difference(connection: Connection, name: str) -> str | None:
    """Return in what an existing queue differs from what Imprint declares; to declare it again changes nothing."""
    channel: Any = connection.channel()
    try:
        channel.queue_declare(name, durable=True, auto_delete=False, arguments=arguments(DELIVERIES[name]))
    except amqp.PreconditionFailed as error:
        return f"{name} has {difference(error.reply_text, DELIVERIES[name])}"
    channel.close()
    return None


def difference(refusal: str, deliveries: int) -> str:
    """Return what RabbitMQ's refusal to declare a queue again says, such as `the delivery limit none, not 20`."""
    match = _DIFFERENCE.search(refusal)
    if match is None:
        return f"other properties: {refusal}"
    quoted = _QUOTED.search(match["current"])
    current = quoted[1] if quoted else match["current"].strip()
    argument = match["argument"]
    if argument == "x-queue-type" and current == "none":
        current = "classic"
    expected = arguments(deliveries).get(argument, "as Imprint declares it")
    return f"the {_TERMS.get(argument, argument)} {current}, not {expected}"


@contextmanager
def _connected(
    installation: Installation, on_blocked: Callable[[str], object] = lambda _: None
) -> Iterator[Connection]:
    """Yield a connection whose answers are awaited so long. Misconfigured: the server refuses, or stays silent."""
    options = {
        "read_timeout": ANSWER_SECONDS,
        "write_timeout": ANSWER_SECONDS,
        "confirm_publish": True,
        "on_blocked": on_blocked,
    }
    url = broker_url(installation.settings)
    connection = Connection(url, connect_timeout=ANSWER_SECONDS, transport_options=options)
    try:
        yield connection
    except amqp.AMQPError as error:
        raise Misconfigured(f"RabbitMQ refuses: {error.reply_text or error}") from None
    except BROKER_ERRORS as error:
        raise Misconfigured(f"RabbitMQ does not answer: {error}") from None
    finally:
        connection.collect()  # Without a farewell: a blocked server does not read it.
