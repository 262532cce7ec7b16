"""Queues of the broker."""

from __future__ import annotations

from typing import Any

import amqp
from kombu import Queue

from core.events import broker_queues


class ExistingQueue(Queue):
    """A queue that is used as it is, where it exists, and else, on RabbitMQ, becomes a quorum queue.

    RabbitMQ refuses to declare a queue again with another type than it has. `deliveries`: its delivery limit.
    """

    attrs = (*Queue.attrs, ("deliveries", int))  # type: ignore[assignment]  # What a copy of the queue takes over.
    deliveries: int

    def queue_declare(self, nowait: bool = False, passive: bool = False, channel: Any = None) -> Any:
        """Declare the queue unless it exists."""
        channel = channel or self.channel
        if isinstance(channel, amqp.Channel):
            if self._exists(channel):
                return self.name
            self.queue_arguments = broker_queues.arguments(self.deliveries)
        return super().queue_declare(nowait, passive, channel)  # type: ignore[no-untyped-call]

    def _exists(self, channel: amqp.Channel) -> bool:
        probe = channel.connection.channel()  # A refusal closes its channel.
        try:
            super().queue_declare(passive=True, channel=probe)  # type: ignore[no-untyped-call]
        except amqp.NotFound:
            return False
        probe.close()
        return True
