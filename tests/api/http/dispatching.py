"""Dispatches as tests make and read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from httpx import Response
from uuid_utils.compat import uuid7

from core.storage.db import Database
from core.types import DispatchStatus, Json
from rules.registry import store
from tests.doors import Doors
from tests.rules.samples import a_document
from tests.samples import TENANT, accept, event
from tests.works import Works
from workers.dispatch import insertion
from workers.dispatch import sweep as workers_sweep
from workers.dispatch.model import NewDispatch

NOTIFY: Json = {"action_type": "notify", "channel": "log", "template": "Total: {{payload.total}}"}


EMIT: Json = {"action_type": "emit", "event_type": "order.checked", "payload": {}}


def save(app: Database, **fields: Any) -> None:
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, a_document(**{"event_type": "order.placed", **fields}), author="test")


def shown(door: Doors, **params: Any) -> list[Json]:
    found: list[Json] = door.get("/v1/dispatches", params=params).json()["items"]
    return found


def owe(app: Database, number: int = 1, **fields: Any) -> list[str]:
    """Dispatches that nobody has told a worker of, oldest first."""
    accepted = accept(app, event())
    plain = NewDispatch(TENANT, "notify", "notifier", "io", {}, accepted.last_seq, accepted.last_seq, "c", 0, "r", 1)
    return write(app, [replace(plain, id=uuid7(), **fields) for _ in range(number)])


def chain(app: Database, number: int) -> list[str]:
    accepted = accept(app, event())
    plain = NewDispatch(TENANT, "notify", "notifier", "io", {}, accepted.last_seq, accepted.last_seq, "c", 0, "r", 1)
    made = [plain]
    for _ in range(number - 1):
        made.append(replace(plain, id=uuid7(), status=DispatchStatus.HELD, hold="turn", after=made[-1].id))
    return write(app, made)


def write(app: Database, made: Sequence[NewDispatch]) -> list[str]:
    with app.tenant(TENANT) as tx:
        insertion.insert(tx, made, 60)
    return [str(one.id) for one in made]


def status_of(door: Doors, *ids: str) -> list[str]:
    return [door.get(f"/v1/dispatches/{one}").json()["status"] for one in ids]


def problem(answer: Response, status: int) -> str:
    assert answer.status_code == status, answer.text
    detail: str = answer.json()["detail"]
    return detail


def events_of(door: Doors, event_type: str) -> list[Json]:
    found: list[Json] = door.get("/v1/events", params={"type": event_type}).json()["items"]
    return found


def sweep(works: Works, queue: Database) -> None:
    """What the clock does, and all that follows."""
    with queue.queue() as tx:
        owed = workers_sweep.due(tx, works.ledger.policy)
    works.run(owed)
    works.settle()
