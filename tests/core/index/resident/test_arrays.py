from __future__ import annotations

from core.index.resident import arrays


def test_texts_of_any_length_are_kept_whole_as_objects() -> None:
    words = ["tea", "", "a" * 1_000, "茶"]
    found = arrays.texts(words)
    found[1] = "longer than all that were there at first"
    assert found.tolist() == ["tea", "longer than all that were there at first", "a" * 1_000, "茶"]


def test_sequences_of_one_length_stay_values_and_make_no_matrix() -> None:
    found = arrays.texts([("a", "b"), ("c", "d")])
    assert found.shape == (2,)
    assert found[1] == ("c", "d")


def test_no_values_make_an_empty_array() -> None:
    assert arrays.texts([]).shape == (0,)
