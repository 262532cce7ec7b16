from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from core.events.publishing import Author
from core.memory.as_of import Moment
from core.search.filters import EVERYWHERE
from core.search.question import SearchResult
from core.sessions import hidden_messages
from core.storage.db import Database
from core.summaries import units
from tests.core.search.searching import search
from tests.core.summaries.conversations import HIKE, NOON, TAXES, talk, wrote
from tests.samples import TENANT, accept, accept_all, said

HIKING = "the hike on the mountain trail with tents"
UNITS = EVERYWHERE | {"units"}


@pytest.fixture
def two_units(app: Database) -> None:
    accept_all(app, [*talk(HIKE), *talk(TAXES, 100)])
    wrote(app)


def subjects(app: Database, words: str = HIKING, **more: Any) -> list[str]:
    found = search(app, words, **{"include": frozenset({"units"}), **more})
    assert all(one.unit is not None and one.ranked.hit.type == "unit" for one in found)
    return [one.unit.subject for one in found if one.unit is not None]


def kinds(found: Sequence[SearchResult]) -> set[str]:
    return {one.ranked.hit.type for one in found}


@pytest.mark.usefixtures("two_units")
def test_units_without_a_word_are_not_found_by_words(app: Database) -> None:
    (hike,) = subjects(app, method="keyword")
    assert "trail" in hike


@pytest.mark.usefixtures("two_units")
@pytest.mark.parametrize("method", ["hybrid", "vector"])
def test_units_are_found_by_words_and_by_vectors_best_first(app: Database, method: str) -> None:
    hike, taxes = subjects(app, method=method)
    assert "trail" in hike
    assert "tax" in taxes
    assert subjects(app, "the invoice for the tax office and its accounting", method=method) == [taxes, hike]


@pytest.mark.usefixtures("two_units")
def test_units_are_found_only_if_they_are_asked_for_and_change_no_other_score(app: Database) -> None:
    plain, more = search(app, HIKING, limit=50), search(app, HIKING, limit=50, include=UNITS)
    assert "unit" not in kinds(plain)
    assert "unit" in kinds(more)
    usual = [(one.ranked.hit.key, one.ranked.score) for one in more if one.unit is None]
    assert usual == [(one.ranked.hit.key, one.ranked.score) for one in plain]


@pytest.mark.usefixtures("two_units")
def test_a_fact_of_a_unit_finds_it(app: Database) -> None:
    accept_all(app, talk(["I moved to Lisbon yesterday.", *(f"The cat number {n} is grey." for n in range(9))], 500))
    wrote(app)
    (best, *_) = search(app, "Ada moved to Lisbon", include=frozenset({"units"}))
    assert best.unit is not None
    assert "Lisbon" in str(best.unit.facts)


@pytest.mark.usefixtures("two_units")
def test_filters_hold_for_units(app: Database) -> None:
    middle = NOON + timedelta(minutes=50)
    assert len(subjects(app, until=middle)) == len(subjects(app, since=middle)) == 1
    assert "trail" in subjects(app, until=middle)[0]
    assert len(subjects(app, session_id="s1")) == 2
    assert subjects(app, session_id="s2") == []
    assert subjects(app, moment=Moment(known_at=datetime(2020, 1, 1, tzinfo=UTC))) == []
    assert len(subjects(app, moment=Moment(known_at=datetime.now(UTC)))) == 2
    assert len(subjects(app, moment=Moment(as_of=middle))) == 1
    assert subjects(app, min_similarity=0.999) == []
    assert subjects(app, user="eve") == []
    assert subjects(app, tenant="globex") == []


def test_what_was_said_to_a_group_is_found_in_the_group_and_what_was_not_is_not(app: Database) -> None:
    accept(
        app,
        said("The hike is on Sunday.", group_id="team"),
        said("I pawned my wombat for the hike.", user="bob"),
        said("I will bring a tent for the hike.", user="bob", group_id="team"),
    )
    wrote(app)

    def found(user: str | None, group: str | None) -> set[bool]:
        hits = search(app, "hike wombat", user, group_id=group, include=frozenset({"units"}))
        return {"wombat" in one.unit.narrative for one in hits if one.unit is not None}

    assert found(None, "team") == {False}
    assert found("bob", None) == {True}
    assert found("ada", None) == set()
    assert found("bob", "team") == {True, False}


@pytest.mark.usefixtures("two_units")
def test_a_unit_that_retells_a_hidden_message_says_so(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        hidden_messages.hide(tx, TENANT, "s1", "m2", Author("key:1"), None)
    found = search(app, HIKING, include=frozenset({"units"}))
    assert [one.unit.hidden for one in found if one.unit is not None] == [True, False]


@pytest.mark.usefixtures("two_units")
def test_what_was_erased_is_found_no_longer_and_what_grows_is_found_by_its_new_words(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE messages SET content = '' WHERE id IN ('m0', 'm1', 'm2', 'm3')"))
        units.forget_messages(tx, [("s1", "m0")])
        rows = tx.execute(text("SELECT ref, embedding IS NULL AS bare FROM search_index WHERE type = 'unit'")).all()
    assert sorted(row.bare for row in rows) == [False, True]
    assert "map" not in str([one.unit for one in search(app, HIKING, include=frozenset({"units"}))])
    accept(app, said("The wombat ate the invoice of the tax office.", time="2026-11-21T13:46:00+00:00"))
    wrote(app)
    (best, *_) = search(app, "wombat", include=frozenset({"units"}), method="keyword")
    assert best.unit is not None
    assert "wombat" in best.unit.narrative
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM units"))
        assert tx.execute(text("SELECT count(*) FROM search_index WHERE type = 'unit'")).scalar_one() == 0
