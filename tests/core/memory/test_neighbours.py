"""What a candidate is compared with, when most of it was met before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import TextClause, text

from core.errors import Conflict
from core.memory import feature_cache, neighbours
from core.memory.changes import Add, Archive, Edit, Owner
from core.memory.feature_cache import UserFeatures
from core.memory.known_set import KnownSet
from core.storage.db import Database, Tx
from core.types import Candidate, Json
from tests.factories import ADA, EMBEDDER, a_candidate, a_memory, carry_out
from tests.samples import TENANT

THINGS = [f"Ada sold chair {n} to Marek." for n in range(12)]
SOLD = a_candidate("Ada gave up selling chairs to Marek.", 3)


def some() -> list[Add]:
    return [a_memory(one) for one in THINGS]


def found(
    app: Database, *, lazily: bool = True, user: str = "ada", group: str | None = None, of: Candidate = SOLD
) -> KnownSet:
    vectors = EMBEDDER.embed([of.content])
    reopen = partial(app.tenant, TENANT) if lazily else None
    with app.tenant(TENANT) as tx:
        (known,) = neighbours.of(tx, user, [of], vectors, group, reopen=reopen)
    return known


def read(known: KnownSet) -> set[int]:
    """The places of which texts were read."""
    return set(known.source._read)


def contents(known: KnownSet) -> Sequence[str]:
    return sorted(one.content for one in known)


def test_texts_are_read_once_and_then_on_demand(app: Database) -> None:
    carry_out(app, *some())
    first = found(app)
    assert len(read(first)) == len(THINGS), "none was met before"
    again = found(app)
    assert read(again) == set()
    assert again.rows.tobytes() == first.rows.tobytes()
    assert contents(again) == sorted(THINGS)
    assert [*again] == [*found(app, lazily=False)]


def test_what_has_changed_is_read_again_and_what_ended_is_gone(app: Database) -> None:
    reworded, archived, *_ = mine = some()
    carry_out(app, *mine)
    found(app)
    said = "Ada sold a green chair to Marek."
    carry_out(app, Edit(reworded.id, 1, {"content": said}, "put right", EMBEDDER.embed([said])[0]))
    carry_out(app, Archive(archived.id, 1, "no"))
    known = found(app)
    assert len(read(known)) <= 1, "the changed one"
    assert contents(known) == sorted([said, *THINGS[2:]])
    assert [one.version for one in known if one.content == said] == [2]


def test_a_version_that_was_taken_back_and_written_anew_is_another_one(app: Database) -> None:
    mine = some()
    carry_out(app, *mine)
    found(app)
    with app.tenant(TENANT) as tx:
        tx.execute(
            text("UPDATE memories SET content = :said, updated_at = clock_timestamp() WHERE id = :id"),
            {"said": "Ada sold a table.", "id": mine[0].id},
        )
    assert contents(found(app)) == sorted(["Ada sold a table.", *THINGS[1:]])


def test_other_places_and_other_users_are_left_out(app: Database) -> None:
    carry_out(app, *some())
    carry_out(app, a_memory("Ada sold a lamp to Marek."), owner=Owner("ada", "book-club"))
    carry_out(app, a_memory("Bob sold a lamp to Marek."), owner=Owner("bob"))
    for _ in range(2):
        assert contents(found(app)) == sorted(THINGS)
        assert contents(found(app, group="book-club")) == ["Ada sold a lamp to Marek."]
        assert contents(found(app, user="bob")) == ["Bob sold a lamp to Marek."]


def test_what_changes_while_it_is_judged_is_a_conflict(app: Database) -> None:
    mine = some()
    carry_out(app, *mine)
    found(app)
    known = found(app)
    carry_out(app, Archive(mine[0].id, 1, "no"))
    with pytest.raises(Conflict):
        list(known)


def test_what_is_dropped_in_between_is_read(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    carry_out(app, *some())
    found(app)
    known_before = UserFeatures.stamps

    def then_dropped(self: UserFeatures, keys: Sequence[str]) -> list[int]:
        stamps = known_before(self, keys)
        self.drop(float("inf"), 0)
        return stamps

    monkeypatch.setattr(UserFeatures, "stamps", then_dropped)
    assert contents(found(app)) == sorted(THINGS)


def test_everything_is_read_where_no_text_can_be_read_later(app: Database) -> None:
    carry_out(app, *some())
    found(app)
    assert len(read(found(app, lazily=False))) == len(THINGS)
    assert {type(one) for one in found(app).ids(found(app).about("Ada"))} <= {UUID}
    assert ADA.user_id == "ada"


@contextmanager
def looked_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Count the memories that each look-up names, without those that `found` reads by id."""
    asked: list[int] = []
    rows = neighbours._rows

    def counted(tx: Tx, said: TextClause, values: Json) -> list[Any]:
        asked.append(values["ids"].count("-") // 4)
        return rows(tx, said, values)

    with monkeypatch.context() as patched:
        patched.setattr(neighbours, "_rows", counted)
        yield asked


def test_what_was_met_and_is_as_it_was_is_not_looked_up(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = some()
    carry_out(app, *mine[:6])
    found(app)
    carry_out(app, *mine[6:])
    with looked_up(monkeypatch) as asked:
        first = found(app)
    assert asked == [], "neither is what this process has written"
    with looked_up(monkeypatch) as asked:
        assert contents(first) == contents(found(app))
    assert len(asked) == 2, "texts alone, of either"
    with app.tenant(TENANT) as tx:
        changing = text("UPDATE memories SET said_at = said_at, updated_at = clock_timestamp() WHERE id = :id")
        tx.execute(changing, {"id": mine[0].id})
    with looked_up(monkeypatch) as asked:
        found(app)
    assert asked == [1], "its change is noted, whatever has changed"


def test_what_expires_is_looked_up_each_time(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    chair, bought = a_memory("Ada has a chair."), a_candidate("Ada has a green chair.")
    carry_out(app, chair)
    found(app, of=bought)
    for when, asked_of, left in (("1 day", [1], 1), ("-1 day", [1], 0)):
        with app.tenant(TENANT) as tx:
            values = {"id": chair.id, "when": when}
            tx.execute(text("UPDATE memories SET expires_at = now() + cast(:when AS interval) WHERE id = :id"), values)
        for _ in range(2):
            with looked_up(monkeypatch) as asked:
                assert len(found(app, of=bought)) == left
            assert asked == asked_of


def test_features_of_all_are_read_once_some_are_known(app: Database) -> None:
    carry_out(app, *some())
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET features = NULL WHERE content = :said"), {"said": THINGS[0]})
    for one in ("Ada has tea.", "Marek has chair 7.", "Chair 11.", "Ada sold 4."):
        found(app, of=a_candidate(one))
    known = feature_cache.of(app.engine).user(TENANT, "ada")
    assert len(THINGS) - 1 <= len(known) <= len(THINGS), "all that have features"
    assert contents(found(app)) == sorted(THINGS)
    assert len(known) == len(THINGS)


def test_what_was_deleted_without_a_note_is_not_found_again(app: Database) -> None:
    mine = some()
    carry_out(app, *mine)
    bought = a_candidate("Ada sold chair 3 to Marek once.")
    found(app, of=bought)
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM memories"))
    with pytest.raises(neighbours.Vanished):
        list(found(app, of=bought))
    assert len(found(app, of=bought)) == 0
