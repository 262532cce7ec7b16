"""How likely a sentence is to matter for months."""

from __future__ import annotations

import pytest

from core.extraction import durability

MATTERS = [
    ("My sister Nadia is a paramedic in Leeds.", "en"),
    ("I've been a vegetarian since 2014.", "en"),
    ("We're moving to Bristol in September.", "en"),
    ("我妹妹在重庆当护士。", "zh"),
    ("我从2014年开始吃素。", "zh"),
]
DOES_NOT = [
    ("Ha, that made me laugh.", "en"),
    ("Thanks, good night!", "en"),
    ("What shall I cook tonight?", "en"),
    ("哈哈，笑死我了。", "zh"),
    ("谢谢，晚安。", "zh"),
]


@pytest.mark.parametrize(("sentence", "language"), MATTERS)
def test_what_will_matter_is_likely_to(sentence: str, language: str) -> None:
    assert durability.log_odds(sentence, language) > 0.4


@pytest.mark.parametrize(("sentence", "language"), DOES_NOT)
def test_what_is_of_the_moment_is_not(sentence: str, language: str) -> None:
    assert durability.log_odds(sentence, language) < -0.85


def test_a_short_answer_is_judged_with_its_question() -> None:
    alone = durability.log_odds("Two, Anna and Max.", "en")
    assert durability.log_odds("Two, Anna and Max.", "en", question="Do you have any children?") > alone
