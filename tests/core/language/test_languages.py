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


@pytest.mark.parametrize(
    ("sentence", "leans"),
    [
        ("I live in Porto.", False),
        ("She lives in Porto.", True),
        ("And it is blue.", True),
        ("My sister lives in Oslo.", False),
        ("我住在杭州。", False),
        ("她住在杭州。", True),
    ],
)
def test_a_sentence_that_refers_back_needs_the_one_before(sentence: str, leans: bool) -> None:
    assert languages.grammar_of(sentence).refers_back(sentence) is leans


@pytest.mark.parametrize(
    ("sentence", "corrects"),
    [("No wait, it's Leeds.", True), ("It's Leeds.", False), ("说错了，是宁波。", True), ("我住在宁波。", False)],
)
def test_a_correction_says_so_at_its_beginning(sentence: str, corrects: bool) -> None:
    assert bool(languages.grammar_of(sentence).corrects.search(sentence)) is corrects


def test_neither_sarcasm_nor_hearsay_is_meant() -> None:
    assert languages.grammar_of("x").is_meant("I live in Porto.")
    assert not languages.grammar_of("x").is_meant("Rumour has it Joan is leaving.")
    assert not languages.grammar_of("听说他要走了").is_meant("听说他要走了")
