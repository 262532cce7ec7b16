"""A sweep of one tenant: transaction after transaction, until nothing that is due can leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from core.errors import Invalid, Problem
from core.expiry import conversations, due, log_rows
from core.expiry.due import Leaving
from core.expiry.log_rows import RemovedPage
from core.storage.db import Tx
from core.tenancy import retention as tenant_retention
from core.tenancy.retention import Retention
from core.types import Json

BEGINNING: Final[Json] = {"stage": 0}


@dataclass(frozen=True, slots=True)
class SweepStep:
    """Rows removed in one transaction, by kind, and where the sweep goes on; None: it has ended."""

    counts: Counter[str]
    after: Json | None


Stage = Callable[[Tx, str, Retention, Json], tuple[Counter[str], Json | None]]
"""Removes a page behind a place, and returns the next place; None: there is nothing more."""


def step(tx: Tx, tenant_id: str, position: Json) -> SweepStep:
    """Carry out the next page of a sweep. Invalid: the position is none that a sweep has returned."""
    retention = tenant_retention.get(tx, tenant_id)
    stages, number = _stages(retention), position.get("stage")
    if not isinstance(number, int):
        raise Invalid([Problem("/after", "is not a place of a sweep; leave it out")])
    counts, after = Counter[str](), None
    while number < len(stages) and not counts and after is None:
        counts, after = stages[number](tx, tenant_id, retention, position)
        if after is None:
            number, position = number + 1, {}
    if after is None and number >= len(stages):
        return SweepStep(counts, None)
    return SweepStep(counts, {**(after or {}), "stage": number})


def _stages(retention: Retention) -> Sequence[Stage]:
    """Return what is to be done, in order: what a message leaves behind in the log can leave after it."""
    stages: list[Stage] = [partial(_sessions, way) for way in due.ways(retention)]
    if retention.traces_days is not None:
        traces = (
            log_rows.remove_dispatches,
            log_rows.remove_decisions,
            log_rows.remove_replays,
            log_rows.remove_bulk_jobs,
        )
        stages += [partial(_rows, remove) for remove in traces]
    if retention.queries_days is not None:
        stages.append(partial(_rows, log_rows.remove_queries))
    if retention.events_days is not None:
        stages.append(partial(_rows, log_rows.remove_events))
    return stages


def _sessions(
    way: Leaving, tx: Tx, tenant_id: str, retention: Retention, position: Json
) -> tuple[Counter[str], Json | None]:
    after = (str(position["at"]), str(position["id"])) if "id" in position else None
    sessions = due.find(tx, way, retention, after)
    if not sessions:
        return Counter(), None
    done = conversations.remove(tx, tenant_id, retention, sessions, way)
    if not done.is_last:
        return done.counts, {name: position[name] for name in ("at", "id") if name in position}
    if len(sessions) < due.SESSIONS:
        return done.counts, None
    return done.counts, {"at": sessions[-1].due_at.isoformat(), "id": sessions[-1].id}


def _rows(
    remove: Callable[[Tx, str, Retention, str | None], RemovedPage],
    tx: Tx,
    tenant_id: str,
    retention: Retention,
    position: Json,
) -> tuple[Counter[str], Json | None]:
    page = remove(tx, tenant_id, retention, position.get("row"))
    return page.counts, None if page.last is None else {"row": page.last}
