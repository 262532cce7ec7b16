"""Schedules of a tenant as they stand: up to when the clock has dealt with each, and what comes next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import Field
from sqlalchemy import text

from core.storage.db import Tx
from rules.document.timing import Schedule
from rules.flow import schedules

MOST: Final = 1_000
"""Rules of a tenant, of which no more may be in force."""


@dataclass(frozen=True, slots=True)
class ScheduleHealth:
    """A rule with a schedule."""

    rule: str
    enabled: bool
    every_seconds: int | None
    cron: str | None
    timezone: str | None
    fired_to: Annotated[datetime, Field(description="Due times up to this one are dealt with")]
    next_at: datetime | None
    late: Annotated[bool, Field(description="Whether a due time has passed by more than a minute without being fired")]


def of_tenant(tx: Tx) -> list[ScheduleHealth]:
    """Return the tenant's schedules, what is due first on top."""
    due_schedules = [_due(row.rule, dict(row.schedule), row) for row in tx.execute(_ALL, {"most": MOST})]
    return sorted(due_schedules, key=lambda schedule: (schedule.next_at is None, schedule.next_at, schedule.rule))


def _due(rule: str, table: dict[str, object], row: Any) -> ScheduleHealth:
    enabled = bool(table.pop("enabled", True))
    schedule = Schedule.model_validate(table)
    next_at = row.due_at or schedules.next_due(schedule, row.fired_to)
    late = enabled and next_at is not None and next_at < row.now - schedules.GRACE
    return ScheduleHealth(
        rule,
        enabled,
        schedule.every_seconds,
        schedule.cron,
        schedule.timezone if schedule.cron is not None else None,
        row.fired_to,
        next_at if enabled else None,
        late,
    )


_ALL = text("SELECT *, clock_timestamp() AS now FROM schedules ORDER BY rule LIMIT :most")
