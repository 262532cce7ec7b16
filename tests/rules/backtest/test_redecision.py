"""What rules make of stored events when they decide again."""

from __future__ import annotations

from typing import Any

import pytest

from core.inference.embedders import HashEmbedder
from core.storage.db import Database
from core.types import Event, Json
from rules.backtest import redecision
from rules.backtest.redecision import Decided, Firing, HeldLater, Redecision
from rules.document.schema import parse
from rules.document.targets import TARGETS
from rules.engine.ruleset import Ruleset
from rules.engine.similarity import Meanings
from tests.factories import events_since
from tests.rules.samples import a_document
from tests.samples import TENANT, accept, said


def deciding(app: Database, *documents: Json, hops: int = 8) -> tuple[Redecision, list[Event]]:
    rules = [(parse(document, TARGETS), 1) for document in documents]
    with app.tenant(TENANT) as tx:
        return Redecision.of(rules, hops), events_since(tx, 0, 100)


def steps(app: Database, *documents: Json, hops: int = 8) -> list[Any]:
    decider, events = deciding(app, *documents, hops=hops)
    verdicts = redecision.decide(app, TENANT, decider.ruleset, events, Meanings(HashEmbedder()))
    found = list[Any]()
    for event in events:
        met = verdicts[event.seq]
        assert not isinstance(met, Exception)
        found += decider.step(event, met)
    return found + decider.close()


def words(found: list[Any]) -> list[Any]:
    """Steps in short: decisions as verdict and reason, firings as their number of events."""
    return [
        (step.verdict, step.reason)
        if isinstance(step, Decided)
        else len(step.seqs)
        if isinstance(step, Firing)
        else (step.stage, len(step.seqs))
        for step in found
    ]


def talk(app: Database, *minutes: int) -> None:
    accept(app, *(said(f"m{minute}", time=f"2026-11-20T12:{minute:02}:00Z") for minute in minutes))


def rule(**flow: Json) -> Json:
    return a_document(name="r", event_type="message.added", flow=flow)


def test_each_decision_precedes_what_follows_from_it(app: Database) -> None:
    talk(app, 0, 1)
    assert words(steps(app, rule())) == [("fired", None), 1, ("fired", None), 1]


def test_a_debounce_gathers_and_fires_before_the_event_that_is_too_late(app: Database) -> None:
    talk(app, 0, 1, 9)
    found = steps(app, rule(debounce={"seconds": 120}))
    assert words(found) == [*[("gathered", "debounce")] * 2, 2, ("gathered", "debounce"), 1]
    assert [step.waited for step in found if isinstance(step, Firing)] == [2, 1]


def test_what_a_later_stage_holds_back_is_said_of_all_that_had_waited(app: Database) -> None:
    talk(app, 0, 1, 9, 10)
    found = steps(app, rule(debounce={"seconds": 120}, cooldown={"seconds": 3_600}))
    assert words(found)[-1] == ("cooldown", 2)
    assert isinstance(found[-1], HeldLater)


def test_the_last_of_a_count_fires_and_has_not_waited(app: Database) -> None:
    talk(app, 0, 1, 2)
    found = steps(app, rule(count={"threshold": 3}))
    assert words(found) == [*[("gathered", "count")] * 2, ("fired", None), 3]
    assert found[-1].waited == 2


def test_an_event_may_end_a_wait_that_it_is_part_of(app: Database) -> None:
    talk(app, 0)
    document = rule(debounce={"seconds": 120, "flush_on": ["message.added"]}, cooldown={"seconds": 3_600})
    talk(app, 1)
    found = steps(app, document)
    assert words(found) == [("gathered", "debounce"), 1, ("gathered", "debounce"), ("cooldown", 1)]


def test_what_is_held_back_at_once_says_by_what(app: Database) -> None:
    talk(app, 0, 1)
    assert words(steps(app, rule(cooldown={"seconds": 3_600})))[2:] == [("held", "cooldown")]
    assert words(steps(app, rule() | {"enabled": False})) == [("held", "disabled")] * 2
    assert words(steps(app, rule(), hops=0)) == [("held", "hop")] * 2


def test_an_event_on_which_the_rules_fail_stops_no_other(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    talk(app, 0, 1)
    decider, events = deciding(app, rule())
    decide = Ruleset.decide

    def failing(self: Ruleset, event: Event, *args: Any, **more: Any) -> Any:
        if event.seq == events[0].seq:
            raise RuntimeError("It cannot be decided.")
        return decide(self, event, *args, **more)

    monkeypatch.setattr(Ruleset, "decide", failing)
    verdicts = redecision.decide(app, TENANT, decider.ruleset, events, Meanings(HashEmbedder()))
    failed, fine = (verdicts[event.seq] for event in events)
    assert isinstance(failed, RuntimeError)
    assert not isinstance(fine, Exception)
    assert [verdict.fired for verdict in fine] == [True]
