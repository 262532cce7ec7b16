"""Queues on the broker, and how often RabbitMQ delivers their messages. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from core.agents import QUEUES

EVENTS: Final = "imprint.events"
"""Queue, and exchange, of the events that are published on the bus."""

WORK_DELIVERIES: Final = 20
"""Deliveries after which RabbitMQ drops a task: its row is in the database, and is sent again."""

EVENT_DELIVERIES: Final = 10_000
"""The same for an event on the bus, which nobody else has: only one that ends process after process is dropped."""

DELIVERIES: Final[Mapping[str, int]] = {**dict.fromkeys(QUEUES, WORK_DELIVERIES), EVENTS: EVENT_DELIVERIES}
"""Each queue with its limit."""


def arguments(deliveries: int) -> dict[str, Any]:
    """Return the arguments with which a queue is declared on RabbitMQ."""
    return {"x-queue-type": "quorum", "x-delivery-limit": deliveries}
