from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.reflection import clustering
from core.reflection.clustering import Vectors


def around(*angles: float) -> Vectors:
    """Vectors of length 1 in a plane, by their angles in degrees."""
    turned = np.radians(angles)
    return np.stack([np.cos(turned), np.sin(turned)], axis=1).astype(np.float32)


def groups(vectors: Vectors, bound: float = 0.5) -> list[list[int]]:
    return clustering.groups(["one"] * len(vectors), vectors, bounds=[bound])


def test_what_lies_near_is_one_group_with_its_middle_first() -> None:
    (group,) = groups(around(0, 20, 40, 180))
    assert (group[0], sorted(group)) == (1, [0, 1, 2])


def test_a_chain_of_neighbours_is_not_one_group() -> None:
    bound = float(np.cos(np.radians(25)))
    chain = around(*range(0, 180, 20))
    found = groups(chain, bound)
    assert [len(group) for group in found] == [2, 2, 2, 2]
    assert all(chain[one] @ chain[other] >= bound for group in found for one in group for other in group)


def test_what_is_left_over_is_grouped_by_the_looser_bound() -> None:
    vectors = around(0, 5, 10, 90, 130, 170)
    by_both = clustering.groups([None] * 6, vectors, smallest=3, bounds=[0.95, 0.4])
    assert [sorted(group) for group in by_both] == [[0, 1, 2], [3, 4, 5]]
    assert [sorted(group) for group in clustering.groups([None] * 6, vectors, smallest=4, bounds=[0.95])] == []


def test_another_key_is_another_group() -> None:
    vectors = around(0, 1, 2, 3)
    assert clustering.groups(["a", "b", "a", "b"], vectors) == [[0, 2], [1, 3]]


def test_what_has_no_vector_stays_alone() -> None:
    vectors = clustering.vectors_of(["[1,0]", None, "[1,0.1]", None])
    assert [sorted(group) for group in groups(vectors)] == [[0, 2]]


def test_of_several_lengths_the_last_counts() -> None:
    vectors = clustering.vectors_of(["[1,0,0]", "[3,4]", None])
    assert vectors.tolist() == [[0, 0], [pytest.approx(0.6), pytest.approx(0.8)], [0, 0]]


def test_no_group_is_larger_than_can_be_drawn_together() -> None:
    assert max(map(len, groups(around(*np.linspace(0, 1, 200))))) == clustering.MOST


@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 360)), max_size=40), st.floats(0.1, 0.99))
def test_groups_share_no_member_have_one_key_and_lie_around_their_middle(
    points: list[tuple[str, float]], bound: float
) -> None:
    vectors = around(*(angle for _, angle in points)) if points else np.zeros((0, 2), np.float32)
    keys = [key for key, _ in points]
    found = clustering.groups(keys, vectors, bounds=[bound])
    members = [one for group in found for one in group]
    assert len(members) == len(set(members))
    assert found == clustering.groups(keys, vectors, bounds=[bound])
    for group in found:
        assert len({keys[one] for one in group}) == 1
        assert all(vectors[group[0]] @ vectors[one] >= bound - 1e-6 for one in group)


@given(st.lists(st.floats(0, 360), min_size=1, max_size=30), st.integers(1, 5))
def test_bunches_hold_everything_once(angles: list[float], count: int) -> None:
    found = clustering.bunches(around(*angles), count)
    assert sorted(one for bunch in found for one in bunch) == list(range(len(angles)))
    assert len(found) <= count
    assert all(found)
