"""What is known of memories between judgements: digests and numbers, for as long as somebody asks."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Mapping
from uuid import UUID

import pytest

from core.memory import feature_cache, stored_features
from core.memory.changes import Owner
from core.memory.codes import microseconds
from core.memory.feature_cache import FeatureCache, ReadMemory, StoredRows, UserFeatures
from core.memory.identity import KnownMemory
from core.memory.known_set import Described
from core.storage.db import Database
from tests.core.consolidation.samples import a_known
from tests.factories import a_memory, carry_out
from tests.samples import TENANT

TEA, RABBITS, PIANO = (a_known(f"Ada {what}.") for what in ("drinks green tea", "keeps rabbits", "plays the piano"))


def read(*memories: KnownMemory, stamp: int = 1) -> dict[str, ReadMemory]:
    return {str(one.id): ReadMemory(stamp, one) for one in memories}


def test_what_was_read_once_is_known_by_its_stamp() -> None:
    features, keys = UserFeatures(), [str(TEA.id), str(RABBITS.id)]
    assert features.take(keys, {}) is None
    first = features.take(keys, read(TEA, RABBITS))
    again = features.take(keys[::-1], {})
    assert first is not None
    assert again is not None
    assert features.stamps([*keys, "?"]) == [1, 1, 0]
    assert again[::-1].tobytes() == first.tobytes()


def test_a_later_stamp_brings_another_wording() -> None:
    features, key = UserFeatures(), str(TEA.id)
    taken = features.take([key], read(TEA))
    assert taken is not None
    reworded = a_known("Ada drinks black coffee.", id=TEA.id)
    later = features.take([key], read(reworded, stamp=2))
    assert later is not None
    assert later["content"] != taken["content"]
    features.drop(0.0, 10)
    assert len(features) == 1, "of a memory there is one row"
    assert features.stamps([key]) == [2]


def test_what_nobody_has_asked_for_is_dropped() -> None:
    features = UserFeatures()
    features.take([str(TEA.id), str(RABBITS.id)], read(TEA, RABBITS))
    between = time.monotonic()
    before = features.take([str(RABBITS.id)], {})
    features.drop(between, 10)
    assert features.stamps([str(TEA.id), str(RABBITS.id)]) == [0, 1]
    after = features.take([str(RABBITS.id)], {})
    assert before is not None
    assert after is not None
    assert after.tobytes() == before.tobytes()


def stored_rows(*memories: KnownMemory, stamp: int = 1) -> StoredRows:
    described = Described(
        [str(one.id) for one in memories],
        [microseconds(one.told_at) for one in memories],
        [one.subject for one in memories],
        [one.attribute for one in memories],
        [one.category for one in memories],
    )
    return StoredRows(described, [stamp] * len(memories), [stored_features.encoded(one.content) for one in memories])


def test_what_is_stored_is_added_without_its_text_unless_it_is_known() -> None:
    features, keys = UserFeatures(), [str(TEA.id), str(RABBITS.id)]
    features.add(stored_rows(TEA, RABBITS))
    features.add(stored_rows(RABBITS))
    assert len(features) == 2
    taken, by_text = features.take(keys, {}), UserFeatures().take(keys, read(TEA, RABBITS))
    assert taken is not None
    assert by_text is not None
    assert taken.tobytes() == by_text.tobytes()
    features.add(stored_rows(RABBITS, stamp=2))
    assert features.stamps(keys) == [1, 2]
    before = time.monotonic()
    features.drop(before - 60, 10)
    assert features.stamps(keys) == [1, 2], "what was added counts as asked for"


def test_all_are_read_at_once_if_some_are_known_and_many_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_cache, "_MOST_AT_ONCE", 20)
    features = UserFeatures()
    assert not features.lacks_most(1)
    features.add(stored_rows(TEA, RABBITS))
    assert [features.lacks_most(count) for count in (2, 3, 8, 9)] == [False, True, True, False]
    monkeypatch.setattr(feature_cache, "_MOST_AT_ONCE", 7)
    assert not features.lacks_most(8)


def test_what_is_written_of_a_user_who_was_compared_is_taken_over(app: Database) -> None:
    mine, other = a_memory("Ada keeps three rabbits."), a_memory("Bob keeps three rabbits.")
    known = feature_cache.of(app.engine).user(TENANT, "ada")
    carry_out(app, mine)
    carry_out(app, other, owner=Owner("bob"))
    assert len(known) == 1
    assert features_alike(known, mine.id, "Ada keeps three rabbits.")
    assert len(feature_cache.of(app.engine)._users) == 1, "others are read when they are compared"


def features_alike(known: UserFeatures, memory_id: UUID, content: str) -> bool:
    found = known.take([str(memory_id)], {})
    by_text = UserFeatures().take([str(memory_id)], read(a_known(content, id=memory_id)))
    assert found is not None
    assert by_text is not None
    return bool(found["words"] == by_text["words"])


def test_the_longest_unused_go_first() -> None:
    features = UserFeatures()
    for one in (TEA, RABBITS, PIANO):
        features.take([str(one.id)], read(one))
    features.drop(0.0, 2)
    assert features.stamps([str(one.id) for one in (TEA, RABBITS, PIANO)]) == [0, 1, 1]


def test_all_users_together_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_cache, "MOST", 3)
    cache = FeatureCache()
    for user in ("ada", "bob"):
        cache.user("t", user).take([str(TEA.id), str(RABBITS.id)], read(TEA, RABBITS))
    cache.user("t", "bob")
    assert len(cache.user("t", "ada")) == 0
    assert len(cache.user("t", "bob")) == 2
    cache.user("t", "bob").take([str(one.id) for one in (PIANO, a_known("x"))][:1], read(PIANO, a_known("Ada rows.")))
    assert len(cache.user("t", "bob")) == 1, "one user alone keeps what was used last"


def test_tenants_do_not_share() -> None:
    cache = FeatureCache()
    cache.user("t", "ada").take([str(TEA.id)], read(TEA))
    assert cache.user("other", "ada").stamps([str(TEA.id)]) == [0]
    assert cache.user("t", "ada").stamps([str(TEA.id)]) == [1]


def test_a_sweep_leaves_nothing_of_users_who_are_gone(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = feature_cache.of(app.engine)
    cache.user("t", "ada").take([str(TEA.id)], read(TEA))
    feature_cache.sweep()
    assert cache.user("t", "ada").stamps([str(TEA.id)]) == [1]
    monkeypatch.setattr(feature_cache, "KEPT_SECONDS", -1)
    feature_cache.sweep()
    assert not cache._users


def texts(held: object, seen: set[int]) -> Iterator[str]:
    """All texts that an object holds."""
    if id(held) in seen or isinstance(held, type):
        return
    seen.add(id(held))
    if isinstance(held, str):
        yield held
    # The collector passes over the keys of a dict that are all texts.
    keys = held.keys() if isinstance(held, Mapping) else ()
    for one in () if isinstance(held, str) else (*keys, *gc.get_referents(held)):
        yield from texts(one, seen)


def test_it_holds_no_word() -> None:
    features = UserFeatures()
    features.take([str(TEA.id)], read(TEA))
    assert set(texts([features._places], set())) == {str(TEA.id)}
    assert features._rows.dtype.hasobject is False
