from __future__ import annotations

import pytest

from core.language import languages


@pytest.mark.parametrize(
    ("text", "code"), [("I live in Porto.", "en"), ("我住在杭州。", "zh"), ("我们用 PostgreSQL 16", "zh"), ("", "en")]
)
def test_a_text_has_a_language(text: str, code: str) -> None:
    assert languages.of(text).code == code


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
    assert languages.of(sentence).refers_back(sentence) is leans


@pytest.mark.parametrize(
    ("sentence", "corrects"),
    [("No wait, it's Leeds.", True), ("It's Leeds.", False), ("说错了，是宁波。", True), ("我住在宁波。", False)],
)
def test_a_correction_says_so_at_its_beginning(sentence: str, corrects: bool) -> None:
    assert bool(languages.of(sentence).corrects.search(sentence)) is corrects


def test_neither_sarcasm_nor_hearsay_is_meant() -> None:
    assert languages.of("x").is_meant("I live in Porto.")
    assert not languages.of("x").is_meant("Rumour has it Joan is leaving.")
    assert not languages.of("听说他要走了").is_meant("听说他要走了")
