from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.index.resident import vectors
from core.index.resident.arrays import Flags, Floats
from core.index.resident.vectors import Cosines, Vectors
from tests.retrieval import vectors as recorded

HALVES = np.arange(2**16, dtype=np.uint16).view(np.float16)
COUNT, DIMENSION = 20_000, 96

ROUNDED = 0.01
"""Cosines of 20 dimensions that are rounded differ by less."""


def unit(rows: NDArray[Any]) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def held(rows: NDArray[Any], there: Flags | None = None) -> Vectors:
    """Rows as the database has them; some have no vector."""
    halves = rows.astype(np.float16)
    scales = vectors.scales(halves)
    if there is not None:
        halves[~there], scales[~there] = 0, 0
    return vectors.of(halves, scales)


def talk(chance: np.random.Generator, mean: float) -> tuple[Floats, Floats]:
    """Rows as a model makes them, some like others and all with something in common, and what is asked about them."""
    themes = unit(chance.standard_normal((400, DIMENSION)))
    common = mean * unit(chance.standard_normal((1, DIMENSION)))
    of = chance.integers(len(themes), size=(COUNT, 2))
    rows = themes[of[:, 0]] + 0.5 * themes[of[:, 1]] + 0.05 * chance.standard_normal((COUNT, DIMENSION))
    asked = rows[::1_000] + 0.07 * chance.standard_normal((COUNT // 1_000, DIMENSION))
    return unit(unit(rows) + common), unit(unit(asked) + common)


def nearest(rows: Floats, vector: Floats, count: int) -> set[int]:
    return set(np.argsort(-(rows @ vector))[:count].tolist())


def test_halves_are_turned_into_the_numbers_that_they_are() -> None:
    finite = HALVES[np.isfinite(HALVES)].reshape(1, -1)
    (turned,) = Vectors(finite, np.ones(1, np.float32), None).rows(np.array([0]))
    assert np.array_equal(turned, finite[0].astype(np.float32))


@pytest.mark.parametrize("mean", [0.0, 0.5, 2.0])
def test_of_many_the_ten_nearest_are_among_those_that_their_signs_name(mean: float) -> None:
    rows, asked = talk(np.random.default_rng(1), mean)
    kept = held(rows)
    assert kept.signs is not None
    everyone, exact = np.ones(COUNT, dtype=np.bool_), kept.rows(np.arange(COUNT))
    found = [
        len(nearest(exact, one, 10) & set(kept.signs.nearest(one, everyone, vectors.SIGN_CANDIDATES).tolist()))
        for one in asked
    ]
    assert sum(found) / len(found) >= 9.95


def test_of_many_of_the_local_model_the_ten_nearest_are_named() -> None:
    texts, chance = np.stack(list(recorded.load(recorded.FILE).values())).astype(np.float32), np.random.default_rng(5)
    said, asked = texts[40:], texts[:40]
    of = chance.integers(len(said), size=(COUNT, 2))
    noise = chance.standard_normal((COUNT, texts.shape[1])) / np.sqrt(texts.shape[1])
    kept = held(unit(said[of[:, 0]] + 0.45 * said[of[:, 1]] + 0.3 * noise))
    assert kept.signs is not None
    exact = kept.rows(np.arange(COUNT))
    named = [set(kept.signs.nearest(one, np.ones(COUNT, np.bool_), vectors.SIGN_CANDIDATES).tolist()) for one in asked]
    found = [len(nearest(exact, one, 10) & some) for one, some in zip(asked, named, strict=True)]
    assert sum(found) / len(found) >= 9.95


@given(st.integers(0, 2**32 - 1), st.integers(0, 60), st.sampled_from([3, 64, 70]), st.integers(1, 40))
def test_so_many_are_named_as_are_wanted_and_none_that_did_not_pass(
    seed: int, count: int, dimension: int, wanted: int
) -> None:
    chance = np.random.default_rng(seed)
    # Of few kinds, so that many agree with the question in as many signs.
    rows = unit(chance.standard_normal((4, dimension)))[chance.integers(4, size=count)].astype(np.float16)
    signs = vectors._signs(rows, vectors.scales(rows))
    passed = chance.random(count) < 0.5
    named = signs.nearest(unit(chance.standard_normal((1, dimension)))[0], passed, wanted)
    assert passed[named].all()
    assert len(set(named.tolist())) == len(named) == min(wanted, int(passed.sum()))


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(0, 30))
def test_in_whatever_form_and_order_they_come_rows_come_to_the_same_as_far_as_they_are_rounded(
    seed: int, first: int, more: int
) -> None:
    chance = np.random.default_rng(seed)
    rows = unit(chance.standard_normal((first + more, 20)))
    there, wanted = chance.random(len(rows)) < 0.8, chance.random(len(rows)) < 0.7
    asked, places = unit(chance.standard_normal((1, 20)))[0], np.arange(len(rows))
    few = held(rows, there)
    assert few.signs is None
    expected = Cosines([few], there, asked).of(places)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(vectors, "SIGNS_FROM", 12)
        patched.setattr(vectors, "BLOCK", 5)
        parts = [held(rows[:first], there[:first]), held(rows[first:], there[first:])]
        assert (parts[0].signs is not None) == (first >= 12)
        together = vectors.concatenate(*parts)
        assert (together.signs is not None) == (len(rows) >= 12)
        for some in (parts, [together]):
            assert np.allclose(Cosines(some, there, asked).of(places), expected, atol=ROUNDED, equal_nan=True)
            backwards = Cosines(some, there, asked)
            backwards.of(places[::2])
            assert np.allclose(backwards.of(places[::-1]), expected[::-1], atol=ROUNDED, equal_nan=True)
        kept = together.selected(wanted)
        assert np.allclose(kept.rows(np.arange(len(kept))), together.rows(places[wanted]), atol=1e-6)
    assert np.array_equal(np.isnan(expected), ~there)


def test_bytes_are_rounded_once_and_move_a_cosine_by_less_than_a_thousandth() -> None:
    rows = unit(np.random.default_rng(6).standard_normal((12_000, 384)))
    asked, places = unit(np.random.default_rng(7).standard_normal((1, 384)))[0], np.arange(6_000)
    below, above = held(rows[:6_000]), held(rows[6_000:])
    together = vectors.concatenate(below, above)
    assert together.values.dtype == np.int8
    assert together.nbytes <= len(rows) * (384 + 384 / 8 + 4)
    assert np.array_equal(together.values, np.concatenate([below.values, above.values]))
    assert np.array_equal(vectors.of(vectors._singles(below.values), below.scales).values, below.values)
    apart = together.cosines_of(places, asked) - rows[:6_000] @ asked
    assert float(apart.std()) < 0.0005
    assert float(np.abs(apart).max()) < 0.003


def test_at_the_number_from_which_on_signs_are_kept_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "SIGNS_FROM", 50)
    rows = unit(np.random.default_rng(2).standard_normal((51, DIMENSION)))
    for count in (49, 50, 51):
        there, places = np.ones(count, dtype=np.bool_), np.arange(count)
        kept = held(rows[:count])
        assert (kept.signs is None) == (count < 50)
        cosines = Cosines([kept], there, rows[3])
        assert sorted(cosines.nearest(places).tolist()) == places.tolist()
        assert np.allclose(cosines.of(places), kept.rows(places) @ rows[3], atol=1e-6)


def test_rows_without_a_vector_are_near_to_nothing_and_named_by_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "SIGNS_FROM", 10)
    rows = unit(np.random.default_rng(3).standard_normal((30, DIMENSION)))
    there = np.arange(30) % 3 > 0
    for parts in ([held(rows, there)], [held(rows[:25], there[:25]), held(rows[25:], there[25:])]):
        cosines = Cosines(parts, there, rows[0])
        assert sorted(cosines.nearest(np.arange(30)).tolist()) == np.flatnonzero(there).tolist()
        assert np.array_equal(np.isnan(cosines.of(np.arange(30))), ~there)
    unasked = Cosines([held(rows, there)], there, None)
    assert not unasked.asked
    assert np.isnan(unasked.of(np.arange(30))).all()


def test_many_are_compared_only_as_far_as_someone_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = unit(np.random.default_rng(4).standard_normal((vectors.SIGNS_FROM, DIMENSION)))
    compared: list[int] = []
    whole = Vectors.cosines_of
    monkeypatch.setattr(
        Vectors, "cosines_of", lambda self, places, vector: compared.append(len(places)) or whole(self, places, vector)
    )
    cosines = Cosines([held(rows)], np.ones(len(rows), dtype=np.bool_), rows[0])
    for places in (np.arange(10), np.arange(20)):
        cosines.of(places)
    assert compared == [10, 10]


def test_vectors_compared_again_and_again_are_held_as_single_floats_to_the_same_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chance = np.random.default_rng(5)
    one, other = (held(unit(chance.standard_normal((6_000, DIMENSION)))) for _ in range(2))
    asked = unit(chance.standard_normal((3, DIMENSION)))
    copies = vectors.SinglesCopy()
    monkeypatch.setattr(vectors, "_COPY", copies)
    first, again = (np.empty((3, 6_000), dtype=np.float32) for _ in range(2))
    one.products(asked, first)
    assert copies._held[1] is None, "a user of whom one message comes costs nothing"
    one.products(asked, again)
    assert copies._held[1] is not None
    assert again.tobytes() == first.tobytes()
    other.products(asked, again)
    assert copies._held[1] is None
    monkeypatch.setattr(vectors, "MOST_COPIED_BYTES", 1)
    other.products(asked, again)
    assert copies._held[1] is None, "too many"
    del other
    assert copies._held == (None, None), "it goes with its vectors"
