from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.extraction import actions
from core.types import Message

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def said(content: str, speaker: str = "Ada") -> list[str]:
    message = Message("s1", "m1", 1, "e1", "ada", "user", content, NOON, speaker=speaker)
    return list(actions.actions_of([message]).get("m1", ()))


@pytest.mark.parametrize(
    ("content", "action"),
    [
        ("I will bring the tent.", "Ada will bring the tent."),
        ("Okay, I'll send the report tomorrow.", "Ada will send the report on 22 November 2026."),
        ("I fixed the login bug yesterday.", "Ada fixed the login bug on 20 November 2026."),
        ("We decided to move the meeting.", "Ada decided to move the meeting."),
        ("I just called the dentist.", "Ada just called the dentist."),
        ("我会带帐篷。", "Ada会带帐篷。"),
    ],
)
def test_what_someone_did_or_will_do_is_told_in_the_third_person(content: str, action: str) -> None:
    (told,) = said(content)
    assert told.rstrip("。") == action.rstrip("。")


@pytest.mark.parametrize(
    "content",
    [
        "Will you bring the tent?",
        "If I had a tent, I would come.",
        "I think the tent is fine.",
        "Thanks!",
        "I liked the tent.",
        "你会带帐篷吗？",
    ],
)
def test_wishes_questions_and_opinions_are_no_actions(content: str) -> None:
    assert said(content) == []


def test_what_extraction_finds_and_what_is_plain_is_told_once() -> None:
    told = said("I booked a flight to Porto for 3 December. I will pack tonight.")
    assert len(told) == len(set(told)) == 2


def test_an_assistant_does_nothing_of_its_own() -> None:
    message = Message("s1", "m1", 1, "e1", "ada", "assistant", "I booked a flight for you.", NOON)
    assert actions.actions_of([message]) == {}
