from __future__ import annotations

from core.context import guidance
from core.language.en.phrases import PHRASES as ENGLISH
from core.language.zh.phrases import PHRASES as CHINESE


def test_it_is_short_and_in_the_language_of_the_question() -> None:
    assert guidance.guidance("What should I cook?", 4000) == ENGLISH.guidance
    assert guidance.guidance("晚上吃什么？", 4000) == CHINESE.guidance
    assert "ask the user" in ENGLISH.guidance
    assert "请先问用户" in CHINESE.guidance


def test_a_small_context_has_no_room_for_it() -> None:
    assert guidance.guidance("What should I cook?", guidance.LEAST - 1) == ""
