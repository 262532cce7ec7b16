"""Queues of the broker."""

from __future__ import annotations

from typing import Any

import amqp
from kombu import Queue


class ExistingQueue(Queue):
    """A queue that is used as it is, where it exists, and else is of the type that its virtual host prefers.

    RabbitMQ refuses to declare a queue again once the virtual host prefers another type than it has.
    """

    def queue_declare(self, nowait: bool = False, passive: bool = False, channel: Any = None) -> Any:
        """Declare the queue unless it exists."""
        channel = channel or self.channel
        if isinstance(channel, amqp.Channel) and self._exists(channel):
            return self.name
        return super().queue_declare(nowait, passive, channel)  # type: ignore[no-untyped-call]

    def _exists(self, channel: amqp.Channel) -> bool:
        probe = channel.connection.channel()  # A refusal closes its channel.
        try:
            super().queue_declare(passive=True, channel=probe)  # type: ignore[no-untyped-call]
        except amqp.NotFound:
            return False
        probe.close()
        return True
