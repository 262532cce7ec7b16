from __future__ import annotations

import pytest

from core.memory.changes import Merge
from core.storage.db import Database
from tests.core.changing import Bench, an_add
from tests.core.erasing import _drawn, erased, holding, told
from tests.factories import EMBEDDER, a_candidate


@pytest.mark.parametrize("which", ["keeper", "absorbed"])
def test_of_merged_memories_both_go(app: Database, bench: Bench, unique: str, which: str) -> None:
    keeper, absorbed = an_add(f"Ada keeps {unique}."), an_add(f"At home Ada has {unique}.", 1)
    bench.apply(keeper, absorbed)
    more = a_candidate(f"Ada keeps {unique} at home.", 2)
    vector = EMBEDDER.embed([more.content])[0]
    bench.apply(Merge(bench.known(keeper.id), more, "the same", vector, absorbs=bench.known(absorbed.id)))
    erased(app, keeper.id if which == "keeper" else absorbed.id)
    assert holding(app, unique) == []


@pytest.mark.parametrize("retires", [False, True])
def test_what_was_drawn_from_it_goes_and_the_other_parts_stand_for_themselves(
    app: Database, bench: Bench, unique: str, *, retires: bool
) -> None:
    one, other, whole = _drawn(bench, retires=retires, unique=unique)
    done = erased(app, one)
    assert set(done.memory_ids) == {one, whole}
    assert done.rederive == [other]
    assert told(app, "memory.erased")[0]["rederive"] == [str(other)]
    assert holding(app, unique) == []
    assert bench.row(other).status == "active"


def test_who_erases_a_compressed_memory_means_what_it_stands_for(app: Database, bench: Bench, unique: str) -> None:
    one, other, whole = _drawn(bench, retires=True, unique=unique)
    assert set(erased(app, whole).memory_ids) == {one, other, whole}
    assert holding(app, unique) == []


def test_who_erases_a_pattern_keeps_what_it_was_drawn_from(app: Database, bench: Bench, unique: str) -> None:
    one, other, whole = _drawn(bench, retires=False, unique=unique)
    assert erased(app, whole).memory_ids == [whole]
    assert [bench.row(part).status for part in (one, other)] == ["active", "active"]


def test_a_part_whose_place_was_taken_meanwhile_stays_away(app: Database, bench: Bench, unique: str) -> None:
    one, other, _ = _drawn(bench, retires=True, unique=unique)
    bench.apply(an_add("Ada keeps bees.", 3))
    erased(app, one)
    assert bench.row(other).status == "archived"
