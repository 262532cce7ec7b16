from __future__ import annotations

import pytest

from core.language.en import plain


@pytest.mark.parametrize(
    ("text", "spelt_out"),
    [
        ("By the way, I can't swim", "I cannot swim"),
        ("Oh and I've moved", "I have moved"),
        ("he's been ill", "He has been ill"),
        ("she's a nurse", "She is a nurse"),
        ("I'd love a dog", "I would love a dog"),
        ("I'd never been there", "I had never been there"),
        ("we don't eat meat", "We do not eat meat"),
        ("im vegan", "I am vegan"),
        ("Gonna be late", "Going to be late"),
        ("World War i", "World War i"),
        ("So", "So"),
    ],
)
def test_contractions_are_spelt_out_and_openers_dropped(text: str, spelt_out: str) -> None:
    assert plain.plain(text) == spelt_out


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("Could you please not use emojis?", "Do not use emojis"),
        ("Will you keep it short, please?", "Keep it short"),
        ("Answer in German.", "Answer in German."),
    ],
)
def test_what_a_question_asks_to_be_done_is_an_order(text: str, order: str) -> None:
    assert plain.as_order(text) == order
