"""The plan of a replay; that the replay does the same is tested in tests/api/http/test_replays.py."""

from __future__ import annotations

from typing import Any

import pytest

from core.inference.embedders import HashEmbedder
from core.storage.db import Database
from core.types import Event, Json
from rules.backtest import plan, selection
from rules.backtest.plan import PlanRequest
from rules.backtest.selection import EventSelector
from rules.document.schema import parse
from rules.document.targets import TARGETS
from rules.engine.ruleset import Ruleset
from rules.engine.similarity import Meanings
from tests.rules.samples import a_document
from tests.samples import TENANT, accept, event


def planned(app: Database, *documents: Json, limit: int = 1_000, samples: int = 2) -> Json:
    wanted = EventSelector(types=("order.placed",))
    with app.tenant(TENANT) as tx:
        extent = selection.measure(tx, wanted, limit)
    rules = [(parse(document, TARGETS), 3) for document in documents]
    asked = PlanRequest(wanted, extent, rules, samples, 100_000)
    return plan.make(app, TENANT, asked, Meanings(HashEmbedder()), max_hops=8)


def orders(app: Database, count: int) -> None:
    accept(app, *(event("order.placed", {"user_id": f"u{n % 3}", "n": n}, id=f"o{n}") for n in range(count)))


ORDER = a_document(name="order", event_type="order.placed")
OTHER = a_document(name="other", event_type="ping")


def test_it_says_what_each_rule_would_do_and_which_have_nothing_to_do(app: Database) -> None:
    orders(app, 5)
    made = planned(app, ORDER, OTHER)
    assert (made["events"], made["dispatches"], made["idle"]) == (5, 5, ["other"])
    [rule] = made["rules"]
    assert (rule["rule"], rule["version"], rule["fired"], rule["users"]) == ("order", 3, 5, 3)
    assert [sample["events"] for sample in rule["samples"]] == [["o0"], ["o1"], ["o3"], ["o4"]]
    [action] = rule["estimate"]["actions"]
    assert action["times"] == 5


def test_it_ends_where_the_extent_ends_over_several_pages(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    orders(app, 7)
    monkeypatch.setattr(plan, "PAGE", 2)
    made = planned(app, ORDER, limit=5)
    assert (made["events"], made["truncated"], made["dispatches"]) == (5, True, 5)
    assert planned(app, ORDER, limit=7)["next"] is None


def test_an_estimate_that_is_not_known_of_one_rule_is_not_known_of_all(app: Database) -> None:
    orders(app, 1)
    made = planned(app, ORDER)
    assert made["estimate"]["seconds"] is None
    assert made["rules"][0]["estimate"]["notes"]


def test_events_on_which_the_rules_fail_are_counted(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    orders(app, 2)

    def failing(*_args: Any, **_more: Any) -> list[Event]:
        raise RuntimeError("It cannot be decided.")

    monkeypatch.setattr(Ruleset, "decide", failing)
    made = planned(app, ORDER)
    assert (made["events"], made["failed"], made["rules"]) == (2, 2, [])
