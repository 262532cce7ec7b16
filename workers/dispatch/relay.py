"""From rows to the broker: tells Celery of dispatches that are committed. What gets lost here the sweep sends again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog
from celery import Celery

from core.events.doorbell import BROKER_ERRORS

TASK = "imprint.run"
"""The one task there is: run these dispatches of a tenant, then what they make room for on the same queue."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, order=True)
class Owed:
    """A dispatch that a worker should hear of."""

    tenant_id: str
    queue: str
    id: UUID


def send(app: Celery, owed: Sequence[Owed]) -> bool:
    """Tell the workers; False: the broker could not be reached, and the sweep will try again."""
    if not owed:
        return True
    try:
        with app.producer_pool.acquire(block=True, timeout=5) as producer, producer.batch():
            for one in owed:
                # Each in a task of its own: two in one would be run one after the other, by one process.
                args = (one.tenant_id, [str(one.id)], one.queue)
                app.send_task(TASK, args, queue=one.queue, producer=producer, retry=False)
    except BROKER_ERRORS as error:
        log.warning("relay.unsent", dispatches=len(owed), error=str(error))
        return False
    return True
