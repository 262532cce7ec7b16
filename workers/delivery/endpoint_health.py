"""Health of outside addresses: failing since when, and disabled."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import text

from core.errors import Later, Never
from core.events import log
from core.events.log import Cause, Emission
from core.events.pending import Effect
from core.events.publishing import Author
from core.storage.db import Database, Tx
from core.types import Json
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools

RETRY_PAUSES: Final = (5, 300, 1_800, 7_200, 18_000, 36_000, 36_000)
"""Seconds until an address is tried again after each failure, as Standard Webhooks advises: over a day in all."""


def call_endpoint(tools: Tools, job: Job, address: str, call: Callable[[], Json | None], result: Json) -> Outcome:
    """Call an address unless it is disabled, and record its health; the outcome is `result` with that of the call.

    Later: it failed, with a pause that grows. Never: it refused for good, or is disabled.
    """
    failing = _require_enabled(tools.db, job, address)
    try:
        result = result | (call() or {})
    except Later as error:
        _record_failure(tools.db, job, address, str(error), tools.settings.webhook_give_up_seconds)
        raise Later(str(error), after=_pause(job.attempt, error.after)) from error

    def write(tx: Tx, _author: Author) -> Json:
        if failing:
            tx.execute(_FORGET_FAILURES, {"address": address})
        return result

    return Outcome(Effect(write))


def _pause(attempt: int, requested: timedelta | None) -> timedelta:
    mine = timedelta(seconds=RETRY_PAUSES[min(attempt, len(RETRY_PAUSES)) - 1])
    return max(mine, requested or mine)


def _require_enabled(db: Database, job: Job, address: str) -> bool:
    """Return whether the address was failing the last time. Never: it is disabled."""
    with db.tenant(job.tenant_id) as tx:
        row = tx.execute(_HEALTH, {"address": address}).one_or_none()
    if row is not None and row.disabled_at is not None:
        raise Never(
            f"{address} was disabled at {_minute(row.disabled_at)} after failing since {_minute(row.failing_since)}. "
            f"Repair it, then POST /v1/endpoints/enable."
        )
    return row is not None


def _record_failure(db: Database, job: Job, address: str, error: str, give_up_s: float) -> None:
    """Record a failure; after `give_up_s` seconds of failures disable the address and announce that."""
    values = {"tenant": job.tenant_id, "address": address, "error": error[:300], "give_up": give_up_s}
    with db.tenant(job.tenant_id) as tx:
        row = tx.execute(_RECORD_FAILURE, values).one()
        if row.disabled_at is None or not row.disabled_now:
            return
        payload = {"address": address, "failing_since": row.failing_since.isoformat(), "error": row.error}
        log.emit(tx, job.tenant_id, Cause(job.event, job.id), [Emission("endpoint.disabled", payload)])


def _minute(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M %Z}"


_HEALTH = text("SELECT failing_since, disabled_at FROM endpoints WHERE address = :address")

_FORGET_FAILURES = text("DELETE FROM endpoints WHERE address = :address")
"""The address answers again."""

_RECORD_FAILURE = text("""
    INSERT INTO endpoints AS e (tenant_id, address, failing_since, failures, error)
    VALUES (:tenant, :address, clock_timestamp(), 1, :error)
    ON CONFLICT (tenant_id, address) DO UPDATE SET
        failures = e.failures + 1, error = excluded.error,
        disabled_at = coalesce(e.disabled_at, CASE
            WHEN e.failing_since <= clock_timestamp() - make_interval(secs => :give_up) THEN clock_timestamp() END)
    RETURNING failing_since, disabled_at, error, disabled_at >= now() AS disabled_now
""")
