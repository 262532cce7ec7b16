"""From rows to the broker: tells Celery of dispatches that are committed. What gets lost here the sweep sends again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

import structlog
from celery import Celery

from core.bell import BROKER_ERRORS

TASK = "imprint.run"
"""The one task there is: run these dispatches of a tenant, in order."""

TOGETHER = 10
"""Dispatches in one task: enough that Celery's own cost per task vanishes, few enough to share out among workers."""

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
            for tenant_id, queue, ids in _parcels(owed):
                app.send_task(TASK, (tenant_id, ids), queue=queue, producer=producer, retry=False)
    except BROKER_ERRORS as error:
        log.warning("relay.unsent", dispatches=len(owed), error=str(error))
        return False
    return True


def _parcels(owed: Iterable[Owed]) -> Iterable[tuple[str, str, list[str]]]:
    for (tenant_id, queue), group in groupby(sorted(owed), key=lambda o: (o.tenant_id, o.queue)):
        ids = [str(o.id) for o in group]
        for start in range(0, len(ids), TOGETHER):
            yield tenant_id, queue, ids[start : start + TOGETHER]
