"""Two rules side by side: what both acted on, and what only one of them did."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest
from sqlalchemy import text

from core.config import Settings
from core.errors import NotFound
from core.storage.db import Database
from core.types import Json
from rules.registry import comparison, store
from rules.registry.comparison import ComparedDecision
from tests import databases
from tests.rules.samples import a_document
from tests.samples import TENANT, accept, event

NOW = datetime.now(UTC)


def on(seq: int, verdict: str, reason: str | None = None, *, version: int = 1) -> tuple[int, ComparedDecision]:
    return seq, ComparedDecision(seq, NOW, version, verdict, reason)


def save(app: Database, name: str, **fields: object) -> None:
    """Put a rule in force, as of a day ago."""
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, a_document(name=name, event_type="order.placed", **fields), author="test")
    _date_back(app)


def _date_back(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE rule_versions SET at = now() - interval '1 day' WHERE at > now() - interval '1 hour'"))


def decided(app: Database, rule: str, verdict: str, seqs: list[int], *, version: int = 1, minutes: float = 5) -> None:
    """Write decisions of a rule on these events, the first of them so many minutes ago, a second apart."""
    rows = [{"seq": seq, "at": (NOW - timedelta(minutes=minutes) + timedelta(seconds=seq)).isoformat()} for seq in seqs]
    insert = """
        INSERT INTO decisions (tenant_id, event_seq, rule, version, verdict, at)
        SELECT :tenant, seq, :rule, :version, :verdict, at
        FROM json_to_recordset(cast(:rows AS json)) AS r (seq bigint, at timestamptz)
    """
    values = {"tenant": TENANT, "rule": rule, "verdict": verdict, "version": version, "rows": json.dumps(rows)}
    with app.tenant(TENANT) as tx:
        tx.execute(text(insert), values)


def compared(app: Database, limit: int = 20) -> Json:
    with app.tenant(TENANT) as tx:
        return comparison.of(tx, "live", "shadow", NOW - timedelta(days=7), NOW, limit)


def test_a_rule_acts_if_it_fires_or_gathers_and_not_if_it_is_held_back() -> None:
    live = dict([on(1, "fired"), on(2, "gathered"), on(3, "held", "cooldown"), on(4, "fired"), on(6, "held", "stop")])
    shadow = dict([on(1, "gathered"), on(2, "held", "sample"), on(3, "fired"), on(5, "fired"), on(6, "held", "stop")])
    found = comparison.overlap(live, shadow)
    assert (found.both, found.only_one, found.only_other, found.neither) == (1, 2, 2, 1)
    assert [one.seq for one in found.differences] == [5, 4, 3, 2]
    assert [one.decision is None for one in found.differences] == [True, False, False, False]


def test_differences_are_shown_with_their_events_and_verdicts(app: Database) -> None:
    save(app, "live")
    save(app, "shadow", action_mode="shadow")
    [both, one] = (accept(app, event("order.placed", {"user_id": "ada"})) for _ in range(2))
    decided(app, "live", "fired", [both.last_seq])
    decided(app, "shadow", "fired", [both.last_seq, one.last_seq])
    found = compared(app)
    assert (found["both"], found["only_rule"], found["only_beside"], found["truncated"]) == (1, 0, 1, False)
    assert (found["rule"]["fired"], found["beside"]["fired"], found["beside"]["mode"]) == (1, 2, "shadow")
    [shown] = found["differences"]
    assert (shown["event_id"], shown["event_type"], shown["user_id"]) == (one.ids[0][0], "order.placed", "ada")
    assert (shown["rule"]["verdict"], shown["beside"]["verdict"]) == ("no match", "fired")
    assert compared(app, limit=0)["differences"] == []


def test_decisions_of_earlier_versions_and_from_before_both_were_in_force_are_left_out(app: Database) -> None:
    save(app, "live")
    save(app, "live", description="again")
    save(app, "shadow")
    decided(app, "live", "fired", [1], version=1)
    decided(app, "live", "fired", [2], version=2)
    decided(app, "live", "fired", [3], version=2, minutes=60 * 25)
    found = compared(app)
    assert (found["only_rule"], found["rule"]["version"], found["rule"]["fired"]) == (1, 2, 1)
    assert found["from"] > NOW - timedelta(days=2)


def test_beyond_a_number_of_decisions_the_newest_are_compared(app: Database) -> None:
    save(app, "live")
    save(app, "shadow")
    decided(app, "live", "fired", [1, 2, 3, 4, 5, 6])
    decided(app, "shadow", "fired", [1, 6])
    with mock.patch.object(comparison, "DECISIONS", 3):
        found = compared(app)
    assert (found["truncated"], found["both"], found["only_rule"], found["only_beside"]) == (True, 1, 2, 0)
    assert found["from"] == NOW - timedelta(minutes=5) + timedelta(seconds=3)


def test_a_rule_that_is_not_in_force_cannot_be_compared(app: Database) -> None:
    save(app, "live")
    with pytest.raises(NotFound, match="shadow"):
        compared(app)


def test_the_newest_decisions_of_a_rule_are_found_by_an_index(settings: Settings, app: Database) -> None:
    fill = """
        INSERT INTO decisions (tenant_id, event_seq, rule, version, verdict, at)
        SELECT :tenant, n, 'r' || n % 20, 1, 'fired', now() - make_interval(secs => n) FROM generate_series(1, 20000) n
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(fill), {"tenant": TENANT})
    databases.analyzed(settings, "decisions")
    values = {"rule": "r7", "since": NOW - timedelta(days=1), "until": NOW, "limit": 100}
    with app.tenant(TENANT) as tx:
        explain = text(f"EXPLAIN (FORMAT JSON) {comparison._DECISIONS}")
        plan = json.dumps(tx.execute(explain, values).scalar_one())
    assert '"Index Name": "decisions_of_rule"' in plan
    assert '"Sort"' not in plan
