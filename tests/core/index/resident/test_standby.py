"""The cache over a standby, whose snapshots name no open transaction."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as trying
from hypothesis import strategies as st
from sqlalchemy import Connection, text

from bench.standby import Standby
from core.index.resident import cache
from core.storage.db import Database, Tx
from tests.core.search.searching import contents, remember, search
from tests.samples import TENANT

MATTERS = {"include": frozenset({"memories"}), "min_importance": 0.5, "limit": 200}
NAMES = ("tea", "rain", "bread", "ships")
MANY = 200
"""Subtransactions, of which a standby cannot follow more than 64."""


def weigh(tx: Tx, name: str, importance: float, subtransactions: int = 0) -> None:
    values = {"content": f"Ada likes {name}.", "importance": importance}
    for _ in range(subtransactions):
        with tx.begin_nested():
            tx.execute(WEIGH, values)
    tx.execute(WEIGH, values)


def important(tx: Tx) -> list[str]:
    return sorted(tx.execute(IMPORTANT).scalars())


def found(database: Database) -> list[str]:
    return sorted(contents(search(database, "What does Ada like?", **MATTERS)))


WEIGH = text("UPDATE memories SET importance = :importance WHERE content = :content")
IMPORTANT = text("SELECT content FROM memories WHERE importance >= 0.5")


@contextmanager
def open_transaction(app: Database) -> Iterator[Connection]:
    with app.engine.connect() as tx:
        tx.execute(text("SELECT set_config('imprint.tenant', :tenant, true), set_config('imprint.reader', '*', true)"),
                   {"tenant": TENANT})  # fmt: skip
        yield tx


@pytest.mark.parametrize("subtransactions", [0, MANY])
def test_what_commits_after_a_later_transaction_is_found_on_a_standby(
    app: Database, copy: Database, standby: Standby, subtransactions: int
) -> None:
    remember(app, "Ada likes tea.", importance=0.2)
    with open_transaction(app) as early:
        weigh(early, "tea", 0.9, subtransactions)
        remember(app, "Ada likes rain.", importance=0.9)
        standby.catch_up()
        for _ in range(3):  # From the second on, the statement is prepared.
            assert found(copy) == ["Ada likes rain."]
        early.commit()
    standby.catch_up()
    for _ in range(3):
        assert found(copy) == ["Ada likes rain.", "Ada likes tea."]


def test_a_standbys_snapshot_as_it_is_would_miss_what_commits_later(
    app: Database, copy: Database, standby: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    conservative, plain = r"(?s)CASE WHEN .* END AS seen", "cast(pg_current_snapshot() AS text) AS seen"
    monkeypatch.setattr(cache, "CHANGED", text(re.sub(conservative, plain, cache.CHANGED.text)))
    remember(app, "Ada likes tea.", importance=0.2)
    with open_transaction(app) as early:
        weigh(early, "tea", 0.9)
        remember(app, "Ada likes rain.", importance=0.9)
        standby.catch_up()
        assert found(copy) == ["Ada likes rain."]
        early.commit()
    standby.catch_up()
    assert found(copy) == ["Ada likes rain."]
    assert found(app) == ["Ada likes rain.", "Ada likes tea."]


def test_what_a_primary_has_seen_is_not_read_again_while_a_transaction_is_open(app: Database) -> None:
    remember(app, "Ada likes tea.", importance=0.2)
    with open_transaction(app) as early:
        weigh(early, "tea", 0.9)
        remember(app, "Ada likes rain.", importance=0.9)
        found(app)
        mine = cache.of(app.engine).owner(TENANT, "ada", None)
        with app.tenant(TENANT) as tx:
            changes = tx.execute(cache.CHANGED, mine.check(1).values | {"seen": mine.state.seen}).one()
        assert changes.types is None
        early.rollback()


STEPS = st.lists(
    st.tuples(st.sampled_from(["weigh", "open", "open with many", "commit", "roll back", "ask"]), st.integers(0, 3)),
    min_size=4,
    max_size=14,
)


@given(STEPS)
@trying(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_a_standby_always_answers_by_the_rows_that_it_shows(
    app: Database, copy: Database, standby: Standby, steps: list[tuple[str, int]]
) -> None:
    with app.tenant(TENANT) as tx:
        known = set(tx.execute(text("SELECT content FROM memories")).scalars())
    for name in NAMES:
        if f"Ada likes {name}." not in known:
            remember(app, f"Ada likes {name}.", importance=0.2)
    importance = 0.0
    with ExitStack() as stack:
        open_ones: dict[str, Connection] = {}
        for step, number in steps:
            name, importance = NAMES[number], 0.9 if importance < 0.5 else 0.1
            if step == "weigh" and name not in open_ones:
                with app.tenant(TENANT) as tx:
                    weigh(tx, name, importance)
            elif step.startswith("open") and name not in open_ones and len(open_ones) < 2:
                open_ones[name] = stack.enter_context(open_transaction(app))
                weigh(open_ones[name], name, importance, MANY if step == "open with many" else 0)
            elif step == "commit" and name in open_ones:
                open_ones.pop(name).commit()
            elif step == "roll back" and name in open_ones:
                open_ones.pop(name).rollback()
            standby.catch_up()
            with copy.tenant(TENANT) as tx:
                shown = important(tx)
            assert found(copy) == shown
            with app.tenant(TENANT) as tx:
                assert important(tx) == shown
