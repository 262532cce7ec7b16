from __future__ import annotations

from core.context import guidance


def test_it_is_short_and_in_the_language_of_the_question() -> None:
    assert guidance.guidance("What should I cook?", 4000) == guidance.ENGLISH
    assert guidance.guidance("晚上吃什么？", 4000) == guidance.CHINESE
    assert "ask the user" in guidance.ENGLISH
    assert "请先问用户" in guidance.CHINESE


def test_a_small_context_has_no_room_for_it() -> None:
    assert guidance.guidance("What should I cook?", guidance.LEAST - 1) == ""
