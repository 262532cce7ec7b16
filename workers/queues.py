"""Queues of the broker."""

from __future__ import annotations

from typing import Any, Final

import amqp
from kombu import Queue

WORK_DELIVERIES: Final = 20
"""Deliveries after which RabbitMQ drops a task: its row is in the database, and is sent again."""

EVENT_DELIVERIES: Final = 10_000
"""The same for an event on the bus, which nobody else has: only one that ends process after process is dropped."""


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
            self.queue_arguments = {"x-queue-type": "quorum", "x-delivery-limit": self.deliveries}
        return super().queue_declare(nowait, passive, channel)  # type: ignore[no-untyped-call]

    def _exists(self, channel: amqp.Channel) -> bool:
        probe = channel.connection.channel()  # A refusal closes its channel.
        try:
            super().queue_declare(passive=True, channel=probe)  # type: ignore[no-untyped-call]
        except amqp.NotFound:
            return False
        probe.close()
        return True
