"""Events of the log are selected by a filter; the filter over HTTP is tested in tests/api/http/test_replays.py."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from core.storage.db import Database
from rules.backtest import selection
from rules.backtest.selection import EventSelector
from tests.samples import TENANT, accept, event

FULL = EventSelector(("order.*",), datetime(2026, 11, 1, tzinfo=UTC), None, "ada", "s1", ("e1", "e2"), "shop", 7)


def test_a_stored_filter_is_the_same() -> None:
    for one in (EventSelector(), FULL):
        assert EventSelector.restored(json.loads(json.dumps(one.as_json()))) == one


def test_the_extent_ends_at_the_limit_and_pages_follow_each_other(app: Database) -> None:
    accept(app, *(event("order.placed", {"n": n}, id=f"e{n}") for n in range(5)), event("ping"))
    wanted = EventSelector(types=("order.*",))
    with app.tenant(TENANT) as tx:
        whole, part = selection.measure(tx, wanted, 5), selection.measure(tx, wanted, 3)
        assert (whole.events, whole.more, part.events, part.more) == (5, False, 3, True)
        first = selection.page(tx, wanted, after=0, upto=part.last_seq, limit=2)
        rest = selection.page(tx, wanted, after=first[-1].seq, upto=part.last_seq, limit=2)
    assert [e.id for e in (*first, *rest)] == ["e0", "e1", "e2"]


def test_of_nothing_the_extent_is_empty(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        assert selection.measure(tx, EventSelector(after=4), 10) == (0, 4, False)


def test_a_pattern_is_no_pattern_of_sql(app: Database) -> None:
    accept(app, event("order_placed"), event("orderXplaced"))
    with app.tenant(TENANT) as tx:
        assert selection.measure(tx, EventSelector(types=("order_*",)), 10).events == 1
