from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.language import grounding


def test_quotes_are_cut_at_a_word() -> None:
    cut = grounding.clip("word " * 100)
    assert cut.endswith("word…")
    assert len(cut) <= grounding.QUOTED


SOURCE = ["2026-11-21 12:00 Ada: I fly to Porto on 3 December with Bob.", "Ada talked with Bob."]


@pytest.mark.parametrize(
    ("narrative", "kept"),
    [
        ("Ada told Bob that she will fly to Porto on 3 December.", True),
        ("Ada flies to Porto. Later they agreed.", True),
        ("Ada flies to Porto on 4 December.", False),
        ("Ada flies to Paris on 3 December.", False),
        ("Ada flies with Bob. Carol comes, too.", False),
        ("She flies to Porto.", False),
        ("Ada flies to Porto, see https://evil.example/3", False),
        ("Ada flies to Porto; write to bob@evil.example", False),
        ("Ada " + "flies " * 400, False),
    ],
)
def test_a_models_words_count_only_if_they_keep_to_what_was_said(narrative: str, kept: bool) -> None:
    assert grounding.is_grounded(narrative, "Ada", SOURCE) is kept


@given(st.text(max_size=400), st.integers(2, 200))
def test_a_clipped_text_is_never_longer_than_asked(said: str, most: int) -> None:
    assert len(grounding.clip(said, most)) <= most
