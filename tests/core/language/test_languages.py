"""Which language a text is in, and what stands in for a part that a language lacks."""

from __future__ import annotations

import pytest

from core.language import languages


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("I moved to Porto.", "en"),
        ("我搬到了波尔图。", "zh"),
        ("Ich bin nach Porto gezogen.", "de"),
        ("Ik woon hier.", "en"),
    ],
)
def test_a_text_is_in_one_language(text: str, code: str) -> None:
    assert languages.of(text).code == code


def test_letters_of_its_own_show_a_language_however_few() -> None:
    assert languages.of("Where does 小明 live, and since when?").code == "en"
    assert languages.by_script("Where does 小明 live, and since when?").code == "zh"


def test_english_stands_in_for_grammar_and_phrases() -> None:
    german = languages.of("Ich bin nach Porto gezogen.")
    assert german.grammar is None
    assert languages.grammar_of("Ich bin nach Porto gezogen.") is languages.DEFAULT.grammar
    assert languages.phrases(german) is languages.DEFAULT.phrases
