from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.inference.local_models.pieces import IDS, PieceTable


@given(st.lists(st.text(max_size=6), unique=True, max_size=200), st.lists(st.text(max_size=6), max_size=50))
def test_pieces_have_the_ids_of_their_order_and_nothing_else_has_one(pieces: list[str], others: list[str]) -> None:
    table = PieceTable(pieces, len(pieces))
    known = {piece: number for number, piece in enumerate(pieces)}
    assert {text: table.get(text) for text in [*pieces, *others]} == {
        text: known.get(text) for text in [*pieces, *others]
    }


def test_more_pieces_than_ids_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        PieceTable([], IDS)


def test_texts_of_the_same_bytes_are_told_apart() -> None:
    """Python keeps "te" in one byte a character and 整 in two, and hashes the bytes."""
    assert hash("te") == hash("整")
    table = PieceTable(["te", "整"], 2)
    assert [table.get(text) for text in ("te", "整", "㘸", "86")] == [0, 1, None, None]
