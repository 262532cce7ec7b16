"""The tokenizer, against the one of the library `tokenizers` on the same pieces."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

from core.inference.local_models.unigram import Unigram

PIECES = {
    "<unk>": 0.0,
    "▁": -2.0,
    "a": -3.0,
    "b": -3.5,
    "ab": -4.0,
    "▁a": -3.2,
    "aba": -6.9,
    "茶": -5.0,
    "绿茶": -6.0,
    "▁ab": -5.1,
}
OURS = Unigram(
    {piece: number for number, piece in enumerate(PIECES)}, list(PIECES.values()), 0, {0xFF21: "a", 0x3000: " "}
)
LIBRARY = Tokenizer(models.Unigram(list(PIECES.items()), unk_id=0, byte_fallback=False))


@given(st.text(alphabet="ab茶绿 x😀", max_size=30))
def test_the_pieces_are_those_of_the_library(text: str) -> None:
    marked = "".join("▁" + word for word in " ".join(text.split()).split(" "))
    assert OURS.ids(text, 100) == LIBRARY.encode(marked).ids


@pytest.mark.parametrize("most", [1, 3, 8])
def test_no_more_pieces_than_asked_for(most: int) -> None:
    assert OURS.ids("ab ab ab ab ab ab", most) == OURS.ids("ab ab ab ab ab ab", 100)[:most]


def test_characters_are_normalised_before() -> None:
    assert OURS.ids("\uff21b\u3000a", 9) == OURS.ids("ab a", 9)


def test_a_long_word_takes_time_in_proportion() -> None:
    assert len(OURS.ids("x" * 100_000, 10)) == 2, "unknown characters that follow each other are one piece"


def test_words_are_cut_at_spaces_alone() -> None:
    lengths = [len(OURS.ids(" ".join(["ab"] * count), 100)) for count in range(1, 6)]
    assert {later - earlier for earlier, later in pairwise(lengths)} == {int(np.ptp(lengths) / 4)}
