"""What the rules decided over time: exact where there is little, estimated where there is much, bounded always."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest
from sqlalchemy import text

from core.config import Settings
from core.storage.db import Database
from core.types import Json
from rules.registry import activity, store
from rules.registry.activity import RuleLane, Steps
from tests import databases
from tests.rules.samples import a_document
from tests.samples import TENANT, accept, event
from tests.works import Works

NOW = datetime.now(UTC)
HOUR = Steps(NOW - timedelta(hours=1), NOW, 4)
ORDERS: Json = {"event_type": "order.placed"}


def save(app: Database, **fields: object) -> None:
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, a_document(**{**ORDERS, **fields}), author="test")


def decided(app: Database, rule: str, verdict: str, *minutes: float, first: int = 1) -> None:
    """Write decisions of a rule, each so many minutes ago."""
    rows = [{"seq": first + n, "at": (NOW - timedelta(minutes=m)).isoformat()} for n, m in enumerate(minutes)]
    insert = """
        INSERT INTO decisions (tenant_id, event_seq, rule, version, verdict, at)
        SELECT :tenant, seq, :rule, 1, :verdict, at
        FROM json_to_recordset(cast(:rows AS json)) AS r (seq bigint, at timestamptz)
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(insert), {"tenant": TENANT, "rule": rule, "verdict": verdict, "rows": json.dumps(rows)})


def lanes(app: Database, steps: Steps = HOUR, limit: int = 100) -> tuple[dict[str, RuleLane], int]:
    with app.tenant(TENANT) as tx:
        found, left_out = activity.of(tx, steps, limit)
    return {one.rule: one for one in found}, left_out


def test_each_decision_stands_in_its_step_by_its_verdict(app: Database) -> None:
    save(app, name="busy")
    decided(app, "busy", "fired", 59, 58, 1)
    decided(app, "busy", "held", 31, first=10)
    decided(app, "busy", "gathered", 29, first=20)
    decided(app, "busy", "fired", 61, first=30)
    busy = lanes(app)[0]["busy"]
    assert (busy.fired, busy.held, busy.gathered, busy.estimated) == ([2, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [])
    assert busy.last_met_at == NOW - timedelta(minutes=1)


def test_rules_that_met_an_event_last_come_first_and_the_others_are_counted(app: Database) -> None:
    for name, minutes in (("early", 50), ("late", 5)):
        save(app, name=name)
        decided(app, name, "fired", minutes)
    everything, left_out = lanes(app)
    assert [*everything][:2] == ["late", "early"]
    assert (left_out, lanes(app, limit=1)) == (0, ({"late": everything["late"]}, len(everything) - 1))


def test_a_rule_in_force_is_listed_without_decisions_and_a_deleted_one_with_them(app: Database) -> None:
    save(app, name="paused", enabled=False)
    for name in ("gone", "forgotten"):
        save(app, name=name)
    decided(app, "gone", "fired", 5)
    decided(app, "forgotten", "fired", 100)
    with app.tenant(TENANT) as tx:
        for name in ("gone", "forgotten"):
            store.delete(tx, TENANT, name, author="test")
    found, _ = lanes(app)
    assert (found["paused"].enabled, found["paused"].fired, found["paused"].last_met_at) == (False, [0] * 4, None)
    assert (found["gone"].deleted, found["gone"].enabled, sum(found["gone"].fired)) == (True, False, 1)
    assert "forgotten" not in found


def test_when_a_rule_acted_last_is_told_but_not_of_one_in_shadow_mode(app: Database, works: Works) -> None:
    note: Json = {"actions": [{"action_type": "notify", "channel": "log", "template": "x"}]}
    save(app, name="acts", **note)
    save(app, name="watches", action_mode="shadow", **note)
    accept(app, event())
    works.settle()
    now = datetime.now(UTC)
    found, _ = lanes(app, Steps(now - timedelta(hours=1), now, 1))
    assert (found["acts"].fired, found["watches"].fired) == ([1], [1])
    acted = found["acts"].last_acted_at
    assert acted is not None
    assert now - acted < timedelta(minutes=1)
    assert found["watches"].last_acted_at is None


def test_a_step_with_too_many_decisions_is_estimated_and_named(app: Database) -> None:
    save(app, name="flood")
    decided(app, "flood", "fired", *(15 * n / 1000 for n in range(1, 1000)))
    decided(app, "flood", "held", 40, first=5000)
    with mock.patch.object(activity, "ROWS", 0):
        flood = lanes(app)[0]["flood"]
    assert (flood.estimated, flood.held) == ([3], [0, 1, 0, 0])
    assert flood.fired[3] == pytest.approx(999, rel=0.05)
    assert lanes(app)[0]["flood"].fired == [0, 0, 0, 999]


def test_a_step_that_is_read_from_both_ends_is_still_counted_once(app: Database) -> None:
    save(app, name="some")
    decided(app, "some", "fired", *(n for n in range(1, 15)))
    with mock.patch.object(activity, "ROWS", 0):
        some = lanes(app)[0]["some"]
    assert (some.fired, some.estimated) == ([0, 0, 0, 14], [])


def test_no_more_decisions_are_read_than_the_chart_may_read(app: Database, settings: Settings) -> None:
    save(app, name="flood")
    fill = """
        INSERT INTO decisions (tenant_id, event_seq, rule, version, verdict, at)
        SELECT :tenant, n, 'flood', 1, 'fired', cast(:now AS timestamptz) - n * interval '10 ms'
        FROM generate_series(1, 30000) AS n
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(fill), {"tenant": TENANT, "now": NOW})
    databases.analyzed(settings, "decisions")
    values = {"rules": ["flood"], "since": HOUR.since, "seconds": HOUR.seconds, "steps": HOUR.count, "cap": 10}
    with app.tenant(TENANT) as tx:
        explain = text(f"EXPLAIN (ANALYZE, FORMAT JSON) {activity._CELLS.text}")
        plan = tx.execute(explain, values).scalar_one()[0]["Plan"]
    scans = [node for node in walked(plan) if node.get("Relation Name") == "decisions"]
    assert len(scans) == 2
    for scan in scans:
        assert "rule" in scan["Index Cond"]
        assert scan["Actual Rows"] * scan["Actual Loops"] <= 10 * HOUR.count
        assert scan.get("Rows Removed by Filter", 0) == 0


def walked(plan: Json) -> list[Json]:
    return [plan, *(node for part in plan.get("Plans", ()) for node in walked(part))]
