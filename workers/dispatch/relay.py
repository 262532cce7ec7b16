"""Sends committed dispatches to Celery. The sweep sends again what is lost here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog
from celery import Celery

from core.events.doorbell import BROKER_ERRORS

TASK = "imprint.run"
"""The only task: run these dispatches of a tenant, then those that they make room for on the same queue."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, order=True)
class DispatchRef:
    """A dispatch to send to a worker."""

    tenant_id: str
    queue: str
    id: UUID


def send(app: Celery, owed: Sequence[DispatchRef]) -> bool:
    """Send dispatches to the workers; False: the broker is away, and the sweep will send them."""
    if not owed:
        return True
    try:
        with app.producer_pool.acquire(block=True, timeout=5) as producer, producer.batch():
            for dispatch in owed:
                # One task each: two dispatches in one task would run one after the other, in one process.
                args = (dispatch.tenant_id, [str(dispatch.id)], dispatch.queue)
                app.send_task(TASK, args, queue=dispatch.queue, producer=producer, retry=False)
    except BROKER_ERRORS as error:
        log.warning("relay.unsent", dispatches=len(owed), error=str(error))
        return False
    return True
