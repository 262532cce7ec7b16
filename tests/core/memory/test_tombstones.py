"""What was erased is known again when it is told again, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from core.memory import memories, tombstones
from core.storage.db import Database
from core.types import Candidate, Category, Evidence, Topic
from tests.factories import a_candidate
from tests.samples import TENANT, accept, said

LISBON = a_candidate("Ada moved to a flat in Lisbon with Bob.", attribute="home.city", value="Lisbon")


def _lay(app: Database, *statements: Candidate, user: str = "ada") -> int:
    with app.tenant(TENANT) as tx:
        return tombstones.lay(tx, TENANT, user, statements)


def _buried(app: Database, candidate: Candidate, user: str = "ada") -> bool:
    with app.tenant(TENANT) as tx:
        return tombstones.are_erased(tx, TENANT, user, [candidate])[0]


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"content": "ADA moved to a flat in Lisbon with Bob", "attribute": None, "value": None},
        {"content": "With Bob, Ada moved to a flat in Lisbon.", "attribute": None, "value": None},
        {"content": "Ada's home is there.", "value": " LISBON "},
    ],
)
def test_what_was_erased_is_known_again_as_it_was_in_another_order_and_by_its_slot(
    app: Database, said: dict[str, Any]
) -> None:
    _lay(app, LISBON)
    assert _buried(app, replace(LISBON, **said))


@pytest.mark.parametrize(
    "said",
    [
        {"content": "Ada moved to a flat in Porto with Bob.", "value": "Porto"},
        {"content": "Ada never moved to a flat in Lisbon with Bob.", "attribute": None, "value": None},
        {"subject": "bob"},
        {"content": "Ada moved to a flat in Lisbon with Bob, number 4.", "attribute": None, "value": None},
    ],
)
def test_another_value_a_denial_another_subject_and_another_number_are_not_buried(
    app: Database, said: dict[str, Any]
) -> None:
    _lay(app, LISBON)
    assert not _buried(app, replace(LISBON, **said))


def test_where_the_direction_matters_the_order_of_words_does() -> None:
    there, back = (
        tombstones.words_of(f"Ada flew with Bob from {a} to {b}.") for a, b in (("Rome", "Bern"), ("Bern", "Rome"))
    )
    assert there != back


def test_it_stays_away_for_one_user_only(app: Database) -> None:
    _lay(app, LISBON)
    assert not _buried(app, LISBON, user="bob")


def test_a_user_who_was_erased_begins_anew_but_nothing_said_before_comes_back(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        tombstones.lay_user(tx, TENANT, "ada")
    now = memories.now()
    assert _buried(app, replace(LISBON, occurred_at=now - timedelta(hours=1)))
    assert not _buried(app, replace(LISBON, occurred_at=now + timedelta(seconds=1)))
    assert not _buried(app, replace(LISBON, occurred_at=now - timedelta(hours=1)), user="bob")


def test_a_user_who_is_erased_twice_is_gone_until_the_second_time(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        tombstones.lay_user(tx, TENANT, "ada")
    between = memories.now()
    with app.tenant(TENANT) as tx:
        assert tombstones.lay_user(tx, TENANT, "ada") == 1
    assert _buried(app, replace(LISBON, occurred_at=between))


def test_who_asks_for_it_again_may_have_it_again(app: Database) -> None:
    laid = _lay(app, LISBON)
    with app.tenant(TENANT) as tx:
        assert tombstones.lift(tx, TENANT, "ada", [LISBON]) == laid
    assert not _buried(app, LISBON)


def test_laying_twice_changes_nothing(app: Database) -> None:
    assert _lay(app, LISBON) == 3
    assert _lay(app, LISBON) == 0


def test_neither_a_word_nor_the_user_can_be_read_from_what_is_kept(app: Database, unique: str) -> None:
    _lay(app, replace(LISBON, content=f"Ada keeps {unique} at home."), user=unique)
    with app.tenant(TENANT) as tx:
        kept = " ".join(tx.execute(text("SELECT t::text FROM tombstones t")).scalars())
    assert kept
    assert unique not in kept
    assert "isbon" not in kept


def test_another_tenants_salt_gives_another_hash(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        one = tombstones.digest(tx, TENANT, "user", "ada")
    with app.tenant("other") as tx:
        tx.execute(text("INSERT INTO tenants (id) VALUES ('other')"))
        assert tombstones.digest(tx, "other", "user", "ada") != one


@given(words=st.lists(st.sampled_from("red blue cat dog plays sings Lisbon tea 4 7".split()), min_size=3, max_size=8))
def test_words_are_known_again_in_any_order(words: list[str]) -> None:
    assert tombstones.words_of(" ".join(words)) == tombstones.words_of(" ".join(sorted(words)))


def test_what_is_said_after_an_erasure_is_new_though_it_happened_before(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        tombstones.lay_user(tx, TENANT, "ada")
    accept(app, said("I moved in May.", message_id="m1", time="2099-01-01T00:00:00Z"))
    long_ago = datetime(2020, 5, 1, tzinfo=UTC)
    cited = (Evidence("s1", "m1", "e1", "I moved in May."),)
    new = Candidate("Ada moved in May.", Category.FACT, Topic.PERSONAL, "ada", cited, long_ago)
    with app.tenant(TENANT) as tx:
        assert tombstones.are_erased(tx, TENANT, "ada", [new, replace(new, evidence=())]) == [False, True]


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=9))
def test_the_least_rotation_is_the_first_of_all(words: list[str]) -> None:
    rotations = [tuple(words[at:] + words[:at]) for at in range(len(words))]
    assert tombstones._least_rotation(words) == min(rotations)
