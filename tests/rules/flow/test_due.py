from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import text

from core.storage.db import Database
from rules.flow import due
from tests.samples import TENANT

NOW = datetime.now(UTC)


def put(app: Database, rule: str, schedule: str, fired_to: datetime) -> None:
    with app.tenant(TENANT) as tx:
        tx.execute(
            text("INSERT INTO schedules (tenant_id, rule, schedule, fired_to) VALUES (:t, :r, cast(:s AS jsonb), :at)"),
            {"t": TENANT, "r": rule, "s": schedule, "at": fired_to},
        )


def test_what_is_due_first_comes_first_and_a_schedule_that_nobody_fires_is_late(app: Database) -> None:
    put(app, "nightly", '{"cron": "0 3 * * *", "timezone": "Europe/Lisbon"}', NOW)
    put(app, "hourly", '{"every_seconds": 3600}', NOW - timedelta(hours=3))
    put(app, "paused", '{"every_seconds": 60, "enabled": false}', NOW - timedelta(hours=3))
    with app.tenant(TENANT) as tx:
        found = due.of_tenant(tx)
    assert [(one.rule, one.late, one.enabled) for one in found] == [
        ("hourly", True, True),
        ("nightly", False, True),
        ("paused", False, False),
    ]
    assert found[0].next_at is not None
    assert found[0].next_at < NOW
    assert (found[1].cron, found[1].timezone) == ("0 3 * * *", "Europe/Lisbon")
    assert found[2].next_at is None
