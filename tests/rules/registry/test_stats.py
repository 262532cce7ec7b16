"""What a rule has done and at what cost, and two policies side by side."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from core.errors import NotFound
from core.events import expiries
from core.events.expiries import Removed
from core.storage.db import Database
from core.types import Json
from rules.engine.ruleset import is_sampled
from rules.registry import stats, store
from tests.rules.samples import a_document
from tests.samples import TENANT, accept, ended, event, said
from tests.works import Works

ORDERS: Json = {"event_type": "order.placed"}
NOTE: Json = {"action_type": "notify", "channel": "log", "template": "x"}


def save(app: Database, **fields: object) -> None:
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, a_document(**{**ORDERS, "actions": [NOTE], **fields}), author="test")


def figures(app: Database, name: str, since: datetime | None = None, until: datetime | None = None) -> Json:
    with app.tenant(TENANT) as tx:
        return stats.of(tx, name, since, until)


def test_a_rule_that_nothing_has_met_has_done_nothing(app: Database) -> None:
    found = figures(app, "consolidate_on_session_end")
    assert (found["matched"], found["dispatches"], found["last_acted_at"], found["beside"]) == (0, [], None, [])


def test_of_more_decisions_than_are_asked_for_the_newest_are_counted(app: Database, works: Works) -> None:
    save(app, name="busy")
    for _ in range(5):
        accept(app, event())
        works.settle()
    with app.tenant(TENANT) as tx:
        whole, few = stats.of(tx, "busy"), stats.of(tx, "busy", most=2)
        same = stats.of(tx, "busy", most=5)
    assert (whole["matched"], same["matched"], whole["from"], same["from"]) == (5, 5, None, None)
    assert few["from"] is not None
    assert few["matched"] in {2, 3}  # A dispatch is made after its decision, and the period may begin between them.
    assert sum(one["count"] for one in few["dispatches"]) in {2, 3}


def test_a_rule_that_never_was_has_no_figures(app: Database) -> None:
    with pytest.raises(NotFound):
        figures(app, "nobody")


def test_matches_actions_and_what_was_held_back_are_counted(app: Database, works: Works) -> None:
    save(app, name="acts")
    save(app, name="stopped", enabled=False)
    save(app, name="gathers", flow={"count": {"threshold": 2, "key": ["payload.user_id"]}})
    save(app, name="watches", action_mode="shadow")
    orders = [event(payload={"user_id": user}) for user in ("ada", "ada", "bob")]
    accept(app, *orders)
    works.settle()
    acts = figures(app, "acts")
    assert (acts["matched"], acts["fired"], acts["users"]) == (3, 3, 2)
    assert acts["dispatches"] == [{"target": "notifier", "status": "done", "count": 3}]
    assert acts["run_seconds_p95"] >= acts["run_seconds_mean"] > 0
    assert datetime.now(UTC) - acts["last_acted_at"] < timedelta(minutes=1)
    stopped = figures(app, "stopped")
    assert (stopped["matched"], stopped["held"], stopped["dispatches"]) == (3, {"disabled": 3}, [])
    gathers = figures(app, "gathers")
    assert (gathers["matched"], sum(d["count"] for d in gathers["dispatches"])) == (3, 1)
    watches = figures(app, "watches")
    assert (watches["dispatches"][0]["status"], watches["users"], watches["last_acted_at"]) == ("shadow", 0, None)


def test_memories_and_model_calls_are_counted_for_the_rule_that_led_to_them(app: Database, works: Works) -> None:
    spoken = [said("I live in Lisbon."), said("I work at Acme."), said("My dog is called Rex.")]
    accept(app, *spoken, ended(message_count=3))
    works.settle()
    rules = ("consolidate_on_session_end", "extract_while_chatting")
    assert sum(figures(app, name)["memories_added"] for name in rules) > 0
    with app.tenant(TENANT) as tx:
        columns = "tenant_id, dispatch_id, model, prompt, input_tokens, output_tokens, outcome, cost"
        call = "SELECT tenant_id, id, 'm', 'p', 100, 20, 'ok', 0.5 FROM dispatches WHERE rule = :rule LIMIT 1"
        tx.execute(text(f"INSERT INTO model_calls ({columns}) {call}"), {"rule": rules[0]})
    found = figures(app, rules[0])
    assert (found["model_calls"], found["tokens"], found["cost"]) == (1, 120, 0.5)


def test_only_what_lies_between_two_moments_counts(app: Database, works: Works) -> None:
    save(app, name="acts")
    accept(app, event())
    works.settle()
    now = datetime.now(UTC) + timedelta(seconds=1)
    assert figures(app, "acts", until=now)["matched"] == 1
    later = figures(app, "acts", since=now)
    assert (later["matched"], later["dispatches"]) == (0, [])
    assert figures(app, "acts", until=now - timedelta(hours=1))["matched"] == 0


def test_two_policies_of_a_group_stand_side_by_side(app: Database, works: Works) -> None:
    half = {"sample": {"ratio": 0.5, "key": ["payload.user_id"]}}
    save(app, name="policy_a", group="policy", priority=1, flow=half)
    save(app, name="policy_b", group="policy")
    save(app, name="aside", group="other")
    users = [f"u{n}" for n in range(40)]
    accept(app, *(event(payload={"user_id": user}) for user in users))
    works.settle()
    first = sum(is_sampled("policy_a", f'["{user}"]', 0.5) for user in users)
    found = figures(app, "policy_a")
    assert (found["fired"], found["held"]) == (first, {"sample": 40 - first})
    [other] = found["beside"]
    assert (other["rule"], other["fired"], other["held"]) == ("policy_b", 40 - first, {"group": first})
    assert found["users"] + other["users"] == 40
    assert 0 < first < 40


def test_a_deleted_rule_keeps_its_figures(app: Database, works: Works) -> None:
    save(app, name="acts", group="g")
    accept(app, event())
    works.settle()
    with app.tenant(TENANT) as tx:
        store.delete(tx, TENANT, "acts", author="test")
    assert figures(app, "acts")["fired"] == 1


def test_one_tenant_has_no_figures_of_another(app: Database, works: Works) -> None:
    save(app, name="acts")
    accept(app, event())
    works.settle()
    with app.tenant("globex") as tx:
        store.save(tx, "globex", a_document(name="acts"), author="test")
        assert stats.of(tx, "acts")["matched"] == 0


def test_figures_say_up_to_when_they_are_incomplete(app: Database) -> None:
    left = datetime(2026, 11, 1, tzinfo=UTC)
    assert figures(app, "consolidate_on_session_end")["incomplete_to"] is None
    with app.tenant(TENANT) as tx:
        expiries.record(tx, TENANT, Removed("decisions", 3, left))
    assert figures(app, "consolidate_on_session_end")["incomplete_to"] == left
    assert figures(app, "consolidate_on_session_end", since=left + timedelta(days=1))["incomplete_to"] is None
