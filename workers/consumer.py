"""The part of a Celery worker that consumes from the broker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from celery.worker.consumer import Consumer as CeleryConsumer
from celery.worker.consumer.tasks import Tasks


class RaisingAcknowledgement:
    """Part of a message: an acknowledgement that fails ends the connection, and the worker opens another one.

    Celery logs the failure and goes on. On Redis the message then keeps its place among those that the worker may hold
    for ever, and a worker that has lost as many places as it has processes is never given another task.
    """

    ack: Callable[..., None]
    reject: Callable[..., None]

    def ack_log_error(self, _logger: object, _errors: object, multiple: bool = False) -> None:
        """Acknowledge. One of the broker's errors: it failed."""
        self.ack(multiple=multiple)

    def reject_log_error(self, _logger: object, _errors: object, requeue: bool = False) -> None:
        """Reject. One of the broker's errors: it failed."""
        self.reject(requeue=requeue)


class OwnPrefetch(Tasks):  # type: ignore[misc] # Celery has no types
    """Consumes with a prefetch count of the consumer's own, not of its channel.

    Quorum queues refuse the latter, and a virtual host may make every queue one. RabbitMQ cannot change the count of a
    running consumer: it is that of the most processes from the beginning.
    """

    def start(self, c: Any) -> None:
        """Begin to consume."""
        channel = c.connection.default_channel
        channel.Message = type("RaisingMessage", (RaisingAcknowledgement, channel.Message), {})
        if c.connection.transport.driver_type == "amqp":
            c.initial_prefetch_count = getattr(c.controller, "max_concurrency", None) or c.pool.num_processes
        super().start(c)

    def qos_global(self, c: Any) -> bool:  # noqa: ARG002 - Celery's interface
        """Return that the count is the consumer's own."""
        return False


class Consumer(CeleryConsumer):  # type: ignore[misc] # the same
    """Celery's consumer without remote control and timers in the broker, which this service does not use."""

    class Blueprint(CeleryConsumer.Blueprint):  # type: ignore[misc] # the same
        """Its steps: those of Celery that are left, and the one above in place of `Tasks`."""

        default_steps: Final = [
            "celery.worker.consumer.connection:Connection",
            "celery.worker.consumer.mingle:Mingle",
            "celery.worker.consumer.events:Events",
            "celery.worker.consumer.gossip:Gossip",
            "celery.worker.consumer.heart:Heart",
            OwnPrefetch,
            "celery.worker.consumer.consumer:Evloop",
            "celery.worker.consumer.agent:Agent",
        ]
