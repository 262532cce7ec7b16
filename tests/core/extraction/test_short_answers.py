from __future__ import annotations

import pytest

from core.extraction import short_answers


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How are you?", "Tired."),
        ("How was work?", "Long."),
        ("What happened?", "The cat broke a vase."),
        ("What do you need?", "A plan."),
        ("What would you like to know?", "The weather in Rome."),
        ("How can I help?", "Two ideas for dinner."),
        ("When do you want me to remind you?", "At five."),
        ("Where do you want to start?", "At the top."),
    ],
)
def test_small_talk_and_offers_of_help_make_none(question: str, answer: str) -> None:
    assert short_answers.read(question, answer) is None
