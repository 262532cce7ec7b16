"""What models have cost: by rule, agent, user and model, and today."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event as hooks
from sqlalchemy import text

from core.config import Settings
from core.events import log
from core.inference import costs
from core.storage.db import Database
from core.types import SPEND_KEYS, Json, SpendKey
from rules.engine import lookups
from tests.core.inference.calls import NOW, call, dispatch
from tests.databases import analyzed, carried_out, looked_at
from tests.samples import TENANT, accept, event

OTHER = "globex"


def told(app: Database, by: SpendKey, tenant: str = TENANT, **between: Any) -> Json:
    with app.tenant(tenant) as tx:
        asked = {"since": None, "until": None, "limit": 100, **between}
        return costs.of(tx, by, asked["since"], asked["until"], asked["limit"])


def keys(found: Json) -> dict[str | None, int]:
    return {one["key"]: one["calls"] for one in found["items"]}


def test_calls_are_added_up_by_each_of_the_four(app: Database) -> None:
    first = dispatch(app, "memory_extractor", "on_end", "ada")
    second = dispatch(app, "episode_writer", "on_end", "bob")
    third = dispatch(app, "episode_writer", None, None)
    for one, model in ((first, "small"), (first, "large"), (second, "small"), (third, "small"), (None, "small")):
        call(app, one, model=model)
    assert keys(told(app, "rule")) == {"on_end": 3, None: 2}
    assert keys(told(app, "agent")) == {"memory_extractor": 2, "episode_writer": 2, None: 1}
    assert keys(told(app, "user")) == {"ada": 2, "bob": 1, None: 2}
    assert keys(told(app, "model")) == {"small": 4, "large": 1}
    for by in SPEND_KEYS:
        found = told(app, by)
        assert found["total"]["calls"] == 5
        for name in ("calls", "input_tokens", "output_tokens", "cost"):
            assert sum(one[name] for one in found["items"]) == pytest.approx(found["total"][name])


def test_the_dearest_come_first_and_the_total_is_of_all(app: Database) -> None:
    for number in range(7):
        call(app, model=f"m{number}", cost=number % 4, input=number, latency=100.0)
    found = told(app, "model", limit=3)
    assert [one["key"] for one in found["items"]] == ["m3", "m6", "m2"]
    assert found["total"] == {
        "calls": 7,
        "input_tokens": 21,
        "output_tokens": 70,
        "cost": 9.0,
        "latency_ms_p95": 100.0,
    }


def test_of_a_hundred_calls_five_took_longer_than_is_said(app: Database) -> None:
    for number in range(1, 101):
        call(app, latency=float(number))
    assert told(app, "model")["items"][0]["latency_ms_p95"] == pytest.approx(95.1, abs=0.1)


def test_each_day_is_told_of_the_dearest_and_of_all_others_together(app: Database) -> None:
    noon = datetime(2026, 11, 20, 12, tzinfo=UTC)
    for model, days, cost in (("a", 0, 3.0), ("a", 2, 1.0), ("b", 0, 2.0), ("c", 1, 1.0), ("d", 1, 0.5), ("a", 4, 9.0)):
        call(app, model=model, cost=cost, at=noon - timedelta(days=days))
    with app.tenant(TENANT) as tx:
        found = costs.by_day(tx, "model", noon - timedelta(days=3), noon + timedelta(hours=12), 2)
    assert [day.day for day in found["days"]] == [17, 18, 19, 20]
    assert [(one["key"], one["cost"]) for one in found["series"]] == [("a", [0, 1.0, 0, 3.0]), ("b", [0, 0, 0, 2.0])]
    assert (found["rest"]["cost"], found["rest"]["calls"]) == ([0, 0, 1.5, 0], [0, 0, 2, 0])


def test_days_begin_later_if_more_calls_are_in_them_than_are_counted(app: Database) -> None:
    noon = datetime(2026, 11, 20, 12, tzinfo=UTC)
    for days in (0, 0, 1, 2, 3):
        call(app, model="a", at=noon - timedelta(days=days))
    with app.tenant(TENANT) as tx:
        found = costs.by_day(tx, "model", noon - timedelta(days=5), noon + timedelta(hours=12), 2, most=3)
    assert found["from"] == noon - timedelta(days=2)
    assert [day.day for day in found["days"]] == [18, 19, 20]
    assert found["series"][0]["calls"] == [1, 1, 2]  # With the one at that very moment.


def test_calls_that_belong_to_no_rule_are_a_group_of_their_own(app: Database) -> None:
    call(app, dispatch(app, "memory_extractor", "on_end", "ada"))
    call(app)
    with app.tenant(TENANT) as tx:
        found = costs.by_day(tx, "rule", NOW - timedelta(days=1), NOW + timedelta(days=1), 5)
    assert {one["key"]: sum(one["calls"]) for one in found["series"]} == {"on_end": 1, None: 1}
    assert sum(found["rest"]["calls"]) == 0


def test_a_sum_does_not_overflow(app: Database) -> None:
    for _ in range(3):
        call(app, input=2_000_000_000, output=2_000_000_000)
    assert told(app, "model")["total"]["input_tokens"] == 6_000_000_000


def test_the_end_of_the_time_asked_for_is_not_in_it(app: Database) -> None:
    for hours in range(5):
        call(app, at=NOW - timedelta(hours=hours))
    found = told(app, "model", since=NOW - timedelta(hours=3), until=NOW)
    assert found["total"]["calls"] == 3


def test_where_nothing_was_asked_nothing_was_spent(app: Database) -> None:
    nothing = {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cost": 0.0, "latency_ms_p95": None}
    assert told(app, "user") == {"from": None, "items": [], "total": nothing}


def test_another_tenant_has_spent_nothing(app: Database) -> None:
    call(app)
    assert told(app, "model", OTHER)["total"]["calls"] == 0
    with app.tenant(OTHER) as tx:
        assert costs.spent_today(tx).tokens == 0


def test_today_is_what_conditions_of_rules_take_it_for(app: Database) -> None:
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    for at in (midnight - timedelta(seconds=1), midnight, datetime.now(UTC)):
        call(app, at=at)
    names = frozenset({"budget.tokens_today", "budget.cost_today"})
    seq = accept(app, event()).last_seq
    with app.tenant(TENANT) as tx:
        spent = costs.spent_today(tx)
        asked = log.at(tx, seq)
        answers = lookups.ask(tx, [(asked, names)])
    look = lookups.lookup_of(answers, asked)
    assert (spent.tokens, spent.cost) == (look("budget.tokens_today"), look("budget.cost_today")) == (220, 0.5)
    assert spent.ends_at == midnight + timedelta(days=1)


def test_the_calls_of_a_day_are_found_by_their_time(settings: Settings, app: Database) -> None:
    """With a table so large that the planner has a choice."""
    fill = """
        INSERT INTO model_calls (tenant_id, dispatch_id, model, prompt, outcome, at)
        SELECT :tenant, uuidv7(), 'm', 'p', 'ok', now() - make_interval(hours => n) FROM generate_series(1, 20000) AS n
    """
    asked: list[str] = []
    with app.tenant(TENANT) as tx:
        tx.execute(text(fill), {"tenant": TENANT})
    analyzed(settings, "model_calls")
    with app.tenant(TENANT) as tx:
        hooks.listen(tx, "before_cursor_execute", lambda _c, _u, sql, *_: asked.append(sql))
        costs.spent_today(tx)
        plan = json.dumps(tx.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {asked[0]}").scalar_one())
    assert '"Index Name": "model_calls_by_time"' in plan


@pytest.mark.parametrize("by", ["model", "rule", "user"])
def test_days_are_summed_up_from_the_calls_of_their_time_alone(settings: Settings, app: Database, by: str) -> None:
    fill = """
        INSERT INTO model_calls (tenant_id, dispatch_id, model, prompt, outcome, at)
        SELECT :tenant, uuidv7(), 'm', 'p', 'ok', now() - make_interval(hours => n) FROM generate_series(1, 20000) AS n
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(fill), {"tenant": TENANT})
    analyzed(settings, "model_calls", "dispatches", "events")
    values = {"by": by, "since": datetime.now(UTC) - timedelta(days=10), "until": datetime.now(UTC), "limit": 5}
    with app.tenant(TENANT) as tx:
        nodes = carried_out(tx, str(costs._BY_DAY), values)
    assert {node["Index Name"] for node in nodes if "Index Name" in node} >= {"model_calls_by_time"}
    assert sum(looked_at(nodes, "model_calls")) == 239
