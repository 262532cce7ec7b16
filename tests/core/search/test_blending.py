from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from core.memory.as_of import Moment
from core.memory.changes import Add
from core.search.question import SearchResult
from core.search.recipes import RECIPES
from core.storage.db import Database
from core.types import Category
from tests.core.search.searching import search
from tests.factories import a_memory, carry_out, expire, set_back
from tests.samples import TENANT, accept, said

AT = datetime(2027, 1, 1, tzinfo=UTC)


@pytest.fixture
def adds(app: Database) -> list[Add]:
    """Three statements about tea: the nearest old and unimportant, the others fresh or important."""
    near = a_memory("Ada likes tea.", importance=0.0)
    fresh = a_memory("Ada likes tea with milk.", importance=0.5)
    weighty = a_memory("Ada likes tea from Assam with cold milk.", importance=1.0)
    carry_out(app, near, fresh, weighty)
    return [near, fresh, weighty]


def blended(app: Database, name: str, **more: Any) -> Sequence[SearchResult]:
    recipe = RECIPES[name]
    return search(app, "Ada likes tea.", recipe=recipe, include=recipe.include, **more)


def by_id(found: Sequence[SearchResult]) -> dict[Any, Any]:
    return {one.memory.id: one for one in found}


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("even_blend", lambda cos, days, importance: 0.6 * cos + 0.2 * math.exp(-days / 30) + 0.2 * importance),
        ("recent_blend", lambda cos, days, importance: 0.6 * cos + 0.25 * importance + 0.15 * 0.5 ** (days / 30)),
    ],
)
def test_memories_are_ranked_by_the_formula_of_the_recipe(
    app: Database, adds: list[Add], name: str, formula: Any
) -> None:
    near, fresh, weighty = adds
    set_back(app, [near.id], 300)
    set_back(app, [weighty.id], 45)
    found = blended(app, name, now=AT)
    for one in found:
        days = (AT - one.memory.recorded_at) / timedelta(days=1)
        assert one.ranked.score == pytest.approx(formula(one.ranked.hit.cosine, days, one.memory.importance), abs=1e-5)
        assert set(one.ranked.parts) == {"similarity", "decay", "importance"}
        assert sum(one.ranked.parts.values()) == pytest.approx(one.ranked.score, abs=1e-5)
    assert [one.ranked.score for one in found] == sorted((o.ranked.score for o in found), reverse=True)
    assert {one.memory.id for one in found} == {near.id, fresh.id, weighty.id}


def test_a_use_counts_as_fresh_and_what_is_pinned_or_an_instruction_does_not_decay(
    app: Database, adds: list[Add]
) -> None:
    order = a_memory("Ada likes tea, say so always.", category=Category.INSTRUCTION, importance=0.0)
    pinned = a_memory("Ada likes tea in bed.", importance=0.0, pinned=True)
    carry_out(app, order, pinned)
    used, unused, _ = adds
    set_back(app, [one.id for one in (used, unused, order, pinned)], 900)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET last_used_at = now() WHERE id = :id"), {"id": used.id})
    decays = {key: one.ranked.parts["decay"] for key, one in by_id(blended(app, "even_blend")).items()}
    assert decays[order.id] == decays[pinned.id] == pytest.approx(0.2)
    assert decays[used.id] == pytest.approx(0.2, abs=1e-3)
    assert decays[unused.id] < 1e-6


def test_a_memory_without_a_vector_counts_as_near_as_the_others(app: Database, adds: list[Add]) -> None:
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE search_index SET embedding = NULL WHERE ref = :id"), {"id": str(adds[2].id)})
    found = by_id(blended(app, "even_blend"))
    others = [found[add.id].ranked.parts["similarity"] for add in adds[:2]]
    assert found[adds[2].id].ranked.hit.cosine is None
    assert found[adds[2].id].ranked.parts["similarity"] == pytest.approx(sum(others) / 2)


def test_neither_messages_nor_what_has_expired_are_found(app: Database, adds: list[Add]) -> None:
    accept(app, said("Ada likes tea."))
    expire(app, adds[0].id, datetime.now(UTC) - timedelta(seconds=1))
    assert set(by_id(blended(app, "recent_blend"))) == {add.id for add in adds[1:]}


def test_what_was_known_then_counts_with_the_importance_it_had(app: Database, adds: list[Add]) -> None:
    then = datetime.now(UTC)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET importance = 0 WHERE id = :id"), {"id": adds[2].id})
    assert (
        by_id(blended(app, "recent_blend", moment=Moment(known_at=then)))[adds[2].id].ranked.parts["importance"] == 0.25
    )
    assert by_id(blended(app, "recent_blend"))[adds[2].id].ranked.parts["importance"] == 0.0


def test_where_nothing_is_known_nothing_is_found(app: Database) -> None:
    assert list(blended(app, "even_blend")) == []
