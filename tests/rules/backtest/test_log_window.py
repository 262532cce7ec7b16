from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text

from core.config import Settings
from core.errors import Invalid
from core.events import expiries
from core.events.expiries import Removed
from core.inference.embedders import HashEmbedder
from core.storage.db import Database
from rules.backtest.backtest import Backtest, BacktestRequest, Result
from rules.engine.similarity import Meanings
from tests.rules.backtest.tried import HOUR, acts, at, install, tried
from tests.rules.samples import NOON, a_rule
from tests.samples import TENANT, accept, accept_all, event, said


def test_only_what_lies_in_the_range_is_looked_at(app: Database) -> None:
    install(app)
    accept(app, *(event(id=f"e{n}", time=at(n)) for n in range(5)))
    draft = a_rule(event_type="*")
    result = tried(app, draft, since=NOON + timedelta(seconds=1), until=NOON + timedelta(seconds=4))
    assert [ids for _, ids in acts(result)] == [["e1"], ["e2"], ["e3"]]


def test_without_a_beginning_it_starts_with_the_first_event(app: Database) -> None:
    install(app)
    assert tried(app, a_rule(), since=None)["from"] == "2026-11-21T13:00:00Z"
    accept(app, said("late", time=at(0)), said("early", time="2020-01-01T00:00:00Z"))
    result = tried(app, a_rule(), since=None)
    assert (result["from"], result["fired"]) == ("2020-01-01T00:00:00Z", 2)


def test_a_range_that_is_none_is_refused(app: Database) -> None:
    for until in (NOON, NOON - HOUR):
        with pytest.raises(Invalid) as refused:
            tried(app, a_rule(), since=NOON, until=until)
        assert [problem.pointer for problem in refused.value.problems] == ["/to"]


def test_what_comes_while_it_runs_is_not_part_of_it(app: Database) -> None:
    install(app)
    accept(app, event(id="a"))
    started = Backtest(
        app, TENANT, BacktestRequest(a_rule(event_type="*"), None, NOON + HOUR), Meanings(HashEmbedder()), max_hops=8
    )
    accept(app, event(id="b"))
    last = list(started.run())[-1]
    assert isinstance(last, Result)
    assert last.document["fired"] == 1


def test_no_transaction_is_open_while_the_caller_has_its_turn(app: Database, settings: Settings) -> None:
    install(app)
    accept_all(app, [event(id=f"e{n}") for n in range(10)])
    running = Backtest(
        app, TENANT, BacktestRequest(a_rule(event_type="*"), None, NOON + HOUR), Meanings(HashEmbedder()), max_hops=8
    ).run()
    for _ in running:
        assert app.engine.pool.checkedout() == 0  # type: ignore[attr-defined]


def test_a_range_of_which_events_have_left_is_refused_and_without_a_beginning_it_starts_behind_them(
    app: Database,
) -> None:
    install(app)
    accept(app, *(event(id=f"e{n}", time=at(n)) for n in range(5)))
    with app.tenant(TENANT) as tx:
        expiries.record(tx, TENANT, Removed("events", 1, NOON + timedelta(seconds=1), 1, 1))
    with pytest.raises(Invalid) as refused:
        tried(app, a_rule(event_type="*"), since=NOON)
    assert [problem.pointer for problem in refused.value.problems] == ["/from"]
    assert "no longer kept" in refused.value.problems[0].detail
    result = tried(app, a_rule(event_type="*"), since=None)
    assert [ids for _, ids in acts(result)] == [["e2"], ["e3"], ["e4"]]
    assert tried(app, a_rule(event_type="*"), since=NOON + timedelta(seconds=2))["events"] == 3


def test_events_that_have_lost_their_words_are_counted_apart(app: Database) -> None:
    install(app)
    accept(app, *(said("hello", id=f"e{n}", time=at(n)) for n in range(3)))
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE events SET payload = payload || '{\"expired\": true}' WHERE id = 'e0'"))
    result = tried(app, a_rule(event_type="*"))
    assert (result["events"], result["expired"]) == (3, 1)
