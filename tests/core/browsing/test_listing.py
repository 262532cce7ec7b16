"""Pages of memories; the filters and orders themselves are tested through `GET /v1/memories`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest
from sqlalchemy import text

from core.browsing import listing
from core.browsing.listing import ListedMemories, MemoryFilter, Order
from core.config import Settings
from core.errors import Invalid
from core.memory import retention
from core.memory.as_of import Moment
from core.search.filters import SERVED
from core.storage.db import Database
from core.types import Category, Status
from tests.databases import analyzed, carried_out, looked_at
from tests.factories import a_memory, carry_out, set_back
from tests.samples import TENANT


def test_the_usual_lists_go_by_an_index(app: Database, settings: Settings) -> None:
    fill = """
        INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, trust,
                              status, occurred_at, attribute)
        SELECT :tenant, uuidv7(), 'u' || n % 200, 'x', 'semantic', 'c' || n % 50, 'other', repeat('x', 200), 'k' || n,
               'candidate', 'active', now(), 'a' || n % 100
        FROM generate_series(1, 20000) AS n
    """
    place = {"now": datetime.now(UTC), "after": None, "after_value": None, "limit": 50, "from_id": None, "searched": 9}
    plain = listing._values(MemoryFilter(SERVED)) | place
    indexed = {
        "memories_of_user": {"user_id": "u1"},
        "memories_category": {"user_id": "u1", "category": "c1"},
    }
    with app.tenant(TENANT) as tx:
        tx.execute(text(fill), {"tenant": TENANT})
    analyzed(settings, "memories")
    with app.tenant(TENANT) as tx:
        for index, asked in indexed.items():
            explained = text(f"EXPLAIN {listing._PAGES['newest'].text}")
            plan = str(tx.execute(explained, {**plain, **asked}).all())
            assert index in plan, plan


def test_no_list_looks_through_more_memories_than_a_page_may(app: Database, settings: Settings) -> None:
    fill = """
        INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, trust,
                              status, occurred_at, importance)
        SELECT :tenant, uuidv7(), 'u' || n % 3, 'x', 'semantic', 'fact', 'other', repeat('x', 200), 'k' || n,
               CASE WHEN n % 5000 = 0 THEN 'disputed' ELSE 'candidate' END, 'active', now(), n % 100 / 100.0
        FROM generate_series(1, 20000) AS n
    """
    place = {"now": datetime.now(UTC), "after": None, "after_value": None, "limit": 50, "from_id": None}
    kinds = [
        MemoryFilter(SERVED),
        MemoryFilter(SERVED, category="plan"),
        MemoryFilter(SERVED, user_id="u1", q="nothing"),
        MemoryFilter(SERVED, user_id="nobody"),
        MemoryFilter(["rejected"]),
        MemoryFilter(["disputed"]),
    ]
    with app.tenant(TENANT) as tx:
        tx.execute(text(fill), {"tenant": TENANT})
    analyzed(settings, "memories")
    with app.tenant(TENANT) as tx:
        for order, statement in listing._PAGES.items():
            for kind in kinds:
                nodes = carried_out(tx, statement.text, listing._values(kind) | place | {"searched": 1000})
                assert sum(looked_at(nodes, "memories")) <= 1000, (order, kind, nodes)
        disputed = listing._values(MemoryFilter(["disputed"])) | place | {"searched": 1000}
        nodes = carried_out(tx, listing._PAGES["newest"].text, disputed)
        assert looked_at(nodes, "memories") == [4]


def test_a_list_goes_on_behind_what_a_page_has_looked_through(app: Database) -> None:
    old = a_memory("Ada has a cat.", category=Category.PREFERENCE)
    carry_out(app, old, *(a_memory(f"Ada has {n} dogs.", importance=0.1 * n) for n in range(1, 9)))
    wanted = MemoryFilter(SERVED, category="preference")
    with app.tenant(TENANT) as tx, mock.patch.object(listing, "SEARCHED", 4):
        pages = [listing.page(tx, wanted)]
        while (after := pages[-1].following) is not None:
            pages.append(listing.page(tx, wanted, after=after))
        strongest = listing.page(tx, MemoryFilter(SERVED), "importance", limit=3)
    assert [contents(page) for page in pages] == [[], [], ["Ada has a cat."]]
    assert contents(strongest) == [f"Ada has {n} dogs." for n in (8, 7, 6)]
    assert (strongest.sorted_newest, pages[0].sorted_newest) == (4, None)


def contents(page: ListedMemories) -> list[str]:
    return [row.content for row in page.rows]


@pytest.mark.parametrize("order", listing.ORDERS)
def test_a_page_begins_where_the_one_before_ended_and_the_last_one_names_no_next(app: Database, order: Order) -> None:
    carry_out(app, *(a_memory(f"Ada has {n} cats.", importance=0.5) for n in range(5)))
    with app.tenant(TENANT) as tx:
        whole = contents(listing.page(tx, MemoryFilter(SERVED), order))
        first = listing.page(tx, MemoryFilter(SERVED), order, limit=3)
        second = listing.page(tx, MemoryFilter(SERVED), order, after=first.following, limit=3)
    assert contents(first) + contents(second) == whole
    assert len(whole) == 5
    assert second.following is None


@pytest.mark.parametrize(
    ("order", "after"),
    [
        ("newest", ""),
        ("oldest", "7"),
        ("importance", "01a201d5-e5cb-7040-9e09-b43e1d5743a6"),
        ("updated", "01a201d5-e5cb-7040-9e09-b43e1d5743a6,0.5"),
        ("updated", "01a201d5-e5cb-7040-9e09-b43e1d5743a6,2026-11-21T12:00:00"),
        ("uses", "01a201d5-e5cb-7040-9e09-b43e1d5743a6,x"),
        ("strength", "01a201d5-e5cb-7040-9e09-b43e1d5743a6,0.5"),
    ],
)
def test_what_is_no_cursor_of_this_order_is_refused(app: Database, order: Order, after: str) -> None:
    with app.tenant(TENANT) as tx, pytest.raises(Invalid, match="next"):
        listing.page(tx, MemoryFilter(SERVED), order, after=after)


def test_an_asked_status_replaces_the_usual_ones_and_archived_memories_may_be_added(app: Database) -> None:
    active, archived = a_memory("Ada has a cat."), a_memory("Ada had a dog.")
    carry_out(app, active, archived)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET status = 'archived' WHERE id = :id"), {"id": archived.id})
        usual = contents(listing.page(tx, MemoryFilter(SERVED)))
        both = contents(listing.page(tx, MemoryFilter(SERVED, include_archived=True)))
        named = contents(listing.page(tx, MemoryFilter(SERVED, status=Status.ACTIVE, include_archived=True)))
        alone = contents(listing.page(tx, MemoryFilter(SERVED, status=Status.ARCHIVED)))
    assert usual == ["Ada has a cat."]
    assert set(both) == set(named) == {"Ada has a cat.", "Ada had a dog."}
    assert alone == ["Ada had a dog."]


def test_a_list_as_it_was_known_leaves_out_what_was_recorded_later(app: Database) -> None:
    add = a_memory("Ada has a cat.")
    carry_out(app, add)
    now = datetime.now(UTC)
    with app.tenant(TENANT) as tx:
        before, after = (
            contents(listing.page(tx, MemoryFilter(SERVED, moment=Moment(known_at=now + timedelta(hours=hours)))))
            for hours in (-1, 1)
        )
    assert (before, after) == ([], ["Ada has a cat."])


def test_strength_is_that_of_the_formula_and_pages_of_it_keep_the_time_of_the_first(app: Database) -> None:
    adds = [
        a_memory(f"Ada has {n} cats.", importance=0.1 * n, half_life_days=None if n % 2 else 3.0 * n, pinned=n == 5)
        for n in range(1, 9)
    ]
    carry_out(app, *adds)
    for n, add in enumerate(adds):
        set_back(app, [add.id], 9.0 * n)
    for _ in range(20):
        set_back(app, [adds[5].id], 20_000)  # so weak that its power is out of the range of PostgreSQL's numbers
    with app.tenant(TENANT) as tx:
        whole = listing.page(tx, MemoryFilter(SERVED), "strength")
        assert [row.ordered_by for row in whole.rows] == pytest.approx(
            [retention.strength(row, whole.now) for row in whole.rows]
        )
        assert [row.ordered_by for row in whole.rows] == sorted((row.ordered_by for row in whole.rows), reverse=True)
        first = listing.page(tx, MemoryFilter(SERVED), "strength", limit=3)
        second = listing.page(tx, MemoryFilter(SERVED), "strength", after=first.following, limit=5)
        strong = listing.page(tx, MemoryFilter(SERVED, min_strength=whole.rows[2].ordered_by - 1e-6))
    assert second.now == first.now
    assert contents(first) + contents(second) == contents(whole)
    assert set(contents(strong)) == set(contents(whole)[:3])


@pytest.mark.parametrize("reward", [True, "0.5", None, [1], 10**400])
def test_a_reward_that_is_no_number_comes_last(app: Database, reward: object) -> None:
    odd, good = a_memory("Odd.", structured={"reward": reward}), a_memory("Good.", structured={"reward": -3})
    carry_out(app, good, odd)
    with app.tenant(TENANT) as tx:
        assert contents(listing.page(tx, MemoryFilter(SERVED), "reward")) == ["Good.", "Odd."]
        first = listing.page(tx, MemoryFilter(SERVED), "reward", limit=1)
        second = listing.page(tx, MemoryFilter(SERVED), "reward", after=first.following, limit=1)
        assert contents(listing.page(tx, MemoryFilter(SERVED), "reward", after=second.following)) == []
    assert contents(second) == ["Odd."]
