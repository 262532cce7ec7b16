"""German: its sentences, which texts are in it, and what the rooms do without."""

from __future__ import annotations

import pytest

from core.language import languages, sentences
from core.language.de.language import GERMAN


@pytest.mark.parametrize(
    "text",
    ["Ich wohne seit drei Jahren in Lübeck.", "Wann war ich zuletzt beim Arzt?", "Was habe ich dir gestern erzählt?"],
)
def test_german_is_known_by_its_small_words(text: str) -> None:
    assert languages.of(text) is GERMAN


@pytest.mark.parametrize(
    "text",
    [
        "My hat is in the bin.",
        "I met Herr Wie in town, with Ada.",
        "MIT",
        "我住在柏林",
        "Ik woon in Utrecht en werk daar.",
    ],
)
def test_other_languages_are_not_german(text: str) -> None:
    assert languages.of(text) is not GERMAN


@pytest.mark.parametrize(
    "text",
    [
        "Lukas heiratet am 12. September in Lübeck.",
        "Ich mag z. B. Tee und Kaffee.",
        "Ich mag z.B. Tee, d. h. grünen.",
        "Das kostet ca. 30 Euro.",
    ],
)
def test_an_abbreviation_ends_no_sentence(text: str) -> None:
    assert sentences.split(text) == [text]


def test_german_asserts_what_it_does_not_ask() -> None:
    assert sentences.asserted_part("Ich wohne in Lübeck.") == "Ich wohne in Lübeck."
    assert sentences.asserted_part("Wo habe ich früher gewohnt?") is None
