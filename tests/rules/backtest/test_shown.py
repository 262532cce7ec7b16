"""Firings are shown with what the rule would do, up to a size."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from sqlalchemy import text

from core.storage.db import Database
from rules.backtest import shown
from rules.backtest.counters import Act
from rules.document.schema import parse
from tests.factories import MET, NOON
from tests.rules.samples import a_document
from tests.samples import TENANT, accept, event

NOTIFY = {"action_type": "emit", "event_type": "order.seen", "payload": {"note": "{{payload.note}}"}}
RULE = parse(a_document(name="order", event_type="order.placed", actions=[NOTIFY]))


def acts(app: Database, *notes: str) -> list[Act]:
    accept(app, *(event("order.placed", {"note": note}, id=f"o{n}") for n, note in enumerate(notes)))
    with app.tenant(TENANT) as tx:
        rows = tx.execute(text("SELECT seq, id FROM events WHERE event_type = 'order.placed' ORDER BY seq")).all()
    return [Act(NOON, seq, (name,), "k", "ada") for seq, name in rows]


def test_actions_are_filled_in_from_the_last_event(app: Database) -> None:
    happened = acts(app, "first", "second")
    with app.tenant(TENANT) as tx:
        found = shown.firings(tx, RULE, happened, 10_000)
    assert [one["events"] for one in found] == [["o0"], ["o1"]]
    assert [one["actions"][0]["payload"]["note"] for one in found] == ["first", "second"]
    assert (found[0]["at"], found[0]["key"], found[0]["user_id"]) == ("2026-11-21T12:00:00Z", "k", "ada")


def test_an_event_that_is_not_in_the_log_is_given_with_the_firing(app: Database) -> None:
    tick = Act(NOON, 0, (), "", None, MET)
    with app.tenant(TENANT) as tx:
        (one,) = shown.firings(tx, RULE, [tick], 10_000)
    assert one["actions"][0]["payload"]["note"] == "Größe 42"


def test_what_would_be_too_long_is_left_out_and_says_so(app: Database) -> None:
    happened = acts(app, "x" * 500, "y" * 500)
    with app.tenant(TENANT) as tx:
        first, second = shown.firings(tx, RULE, happened, 700)
    assert first["actions"][0]["payload"]["note"] == "x" * 500
    assert (second["actions"][0]["action_type"], "omitted" in second["actions"][0]) == ("emit", True)


def test_times_are_in_utc() -> None:
    tokyo = datetime(2026, 11, 21, 21, tzinfo=timezone(timedelta(hours=9)))
    assert shown.utc(tokyo) == "2026-11-21T12:00:00Z"
