"""Known memories as numbers: what they let through is what a comparison of texts would let through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.consolidation.judge import Kind, judge
from core.memory.identity import KnownMemory
from core.memory.known_set import KnownSet, KnownStatements, features_of
from core.statements import comparison
from tests.core.consolidation.samples import a_candidate, a_known

PLAIN = [f"Ada keeps {n} rabbits in the garden of house {n}." for n in range(3, 40)]


class Shelf:
    """Reads memories by their places, and notes which."""

    def __init__(self, memories: Sequence[KnownMemory]) -> None:
        self.memories = memories
        self.read: list[str] = []

    def load(self, places: Sequence[int]) -> list[KnownMemory]:
        found = [self.memories[place] for place in places]
        self.read += [one.content for one in found]
        return found


def unread(memories: Sequence[KnownMemory]) -> tuple[KnownSet, Shelf]:
    """A set of memories of which no text has been read."""
    shelf = Shelf([replace(one, similarity=None) for one in memories])
    cosines = np.array([np.nan if one.similarity is None else one.similarity for one in memories])
    return KnownSet(KnownStatements(features_of(memories), {}, shelf.load), np.arange(len(memories)), cosines), shelf


def test_a_new_statement_is_told_from_others_without_reading_one() -> None:
    known, shelf = unread([a_known(one, 0.6) for one in PLAIN])
    verdict = judge(a_candidate("Ada met Bob at the harbour."), known)
    assert (verdict.kind, shelf.read) == (Kind.ADD, [])
    assert verdict.reason == "New: the nearest known statement says something else (cosine 0.60)."


@pytest.mark.parametrize("said", [PLAIN[4], PLAIN[4].upper(), f"{PLAIN[4][:-1]}, all of them brown."])
def test_of_what_is_said_again_that_one_is_read(said: str) -> None:
    known, shelf = unread([a_known(one, 0.95) for one in PLAIN])
    verdict = judge(a_candidate(said), known)
    assert verdict.known is not None
    assert (verdict.known.content, verdict.known.similarity) == (PLAIN[4], 0.95)
    assert shelf.read == [PLAIN[4]]


def test_without_something_to_read_from_it_says_so() -> None:
    (one,) = [a_known(PLAIN[0], 0.9)]
    source = KnownStatements(features_of([one]), {})
    with pytest.raises(LookupError):
        source.read([0])


WORDS = "Ada likes tea in the garden with Bob and milk, mostly not on Sundays 5 mg of it".split()


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), min_size=1, max_size=12))
def test_outlines_as_numbers_let_through_what_outlines_let_through(said: list[str]) -> None:
    known = KnownSet.of([a_known(one) for one in said])
    own = comparison.outline(said[0])
    expected = [comparison.may_be_alike(own, comparison.outline(one)) for one in said]
    assert known.may_be_alike(np.arange(len(said)), own).tolist() == expected


def test_the_nearest_come_first_and_of_equals_the_lower_id() -> None:
    ids = [UUID(int=n) for n in (2**127, 5, 2**64 + 1, 7)]
    cosines = [0.5, 0.5, 0.5, None]
    known = KnownSet.of(
        [a_known(f"{n}", cosine, id=one) for n, (one, cosine) in enumerate(zip(ids, cosines, strict=True))]
    )
    assert known.nearest_first(np.ones(4, dtype=np.bool_)).tolist() == [1, 2, 0, 3]
    assert known.ids(np.array([True, False, True, False])) == [ids[0], ids[2]]


def test_a_subject_is_one_however_it_is_written() -> None:
    known = KnownSet.of([a_known("tea", subject=name) for name in ("Ada", "ADA", "Ａda", "Bob")])
    assert known.about("ada").tolist() == [True, True, True, False]


def test_a_set_changes_with_what_a_batch_has_decided() -> None:
    one, two, three = (a_known(f"Ada keeps {n} rabbits.", 0.5) for n in (1, 2, 3))
    known = KnownSet.of([one, two])
    assert [*known.without({one.id})] == [two]
    assert known.without(()) is known
    assert known.more([]) is known
    assert [*known.more([three])] == [one, two, three]
    assert known.more([three])[2] == three
    assert known.more([three])[1:] is not None
    reworded = replace(two, content="Ada keeps 22 rabbits.", similarity=0.7)
    assert [*known.worded(two.id, reworded)] == [one, reworded]
    assert [*known.worded(three.id, three)] == [one, two]
    assert [*known] == [one, two], "the set itself stays"


def test_many_additions_find_room() -> None:
    known = KnownSet.of([a_known("Ada keeps rabbits.")])
    added = [a_known(one) for one in PLAIN * 3]
    assert [*known.more(added)][1:] == added
