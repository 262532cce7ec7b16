"""How addresses outside fare: which have been failing, since when, and which were given up."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import text

from core.errors import Later, Never
from core.events import log
from core.events.log import Cause, Emission
from core.storage.db import Database, Tx
from core.types import Json
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools

PATIENCE: Final = (5, 300, 1_800, 7_200, 18_000, 36_000, 36_000)
"""Seconds until an address is tried again after each failure, as Standard Webhooks advises: over a day in all."""


def reached(tools: Tools, job: Job, address: str, call: Callable[[], Json]) -> Outcome:
    """Call an address unless it was given up, and note how it fares; the outcome is what `call` answers.

    Later: not now, with when, later each time. Never: refused for good, or given up.
    """
    failing = _require_enabled(tools.db, job, address)
    try:
        result = call()
    except Later as error:
        _failed(tools.db, job, address, str(error), tools.settings.webhook_give_up_seconds)
        raise Later(str(error), after=_patience(job.attempt, error.after)) from error

    def write(tx: Tx) -> Json:
        if failing:
            tx.execute(_WELL, {"address": address})
        return result

    return Outcome(write)


def _patience(attempt: int, asked: timedelta | None) -> timedelta:
    mine = timedelta(seconds=PATIENCE[min(attempt, len(PATIENCE)) - 1])
    return max(mine, asked or mine)


def _require_enabled(db: Database, job: Job, address: str) -> bool:
    """Never: the address was given up. Else whether it was failing the last time."""
    with db.tenant(job.tenant_id) as tx:
        row = tx.execute(_STANDS, {"address": address}).one_or_none()
    if row is not None and row.disabled_at is not None:
        raise Never(
            f"{address} was disabled at {_minute(row.disabled_at)} after failing since {_minute(row.failing_since)}. "
            f"Put it right, then POST /v1/endpoints/enable."
        )
    return row is not None


def _failed(db: Database, job: Job, address: str, error: str, give_up_s: float) -> None:
    """Note a failure; where they have gone on for `give_up_s`, disable the address and say so by an event."""
    values = {"tenant": job.tenant_id, "address": address, "error": error[:300], "give_up": give_up_s}
    with db.tenant(job.tenant_id) as tx:
        row = tx.execute(_NOTE, values).one()
        if row.disabled_at is None or not row.disabled_now:
            return
        payload = {"address": address, "failing_since": row.failing_since.isoformat(), "error": row.error}
        log.emit(tx, job.tenant_id, Cause(job.event, job.id), [Emission("endpoint.disabled", payload)])


def _minute(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M %Z}"


_STANDS = text("SELECT failing_since, disabled_at FROM endpoints WHERE address = :address")

_WELL = text("DELETE FROM endpoints WHERE address = :address")
"""It answers again: what was noted of its failures goes."""

_NOTE = text("""
    INSERT INTO endpoints AS e (tenant_id, address, failing_since, failures, error)
    VALUES (:tenant, :address, clock_timestamp(), 1, :error)
    ON CONFLICT (tenant_id, address) DO UPDATE SET
        failures = e.failures + 1, error = excluded.error,
        disabled_at = coalesce(e.disabled_at, CASE
            WHEN e.failing_since <= clock_timestamp() - make_interval(secs => :give_up) THEN clock_timestamp() END)
    RETURNING failing_since, disabled_at, error, disabled_at >= now() AS disabled_now
""")
