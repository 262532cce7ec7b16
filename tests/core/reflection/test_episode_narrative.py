from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.language.topics import ASSISTANT
from core.reflection import episode_narrative
from core.reflection.episode_narrative import Ending, EpisodeFacts
from core.types import Message

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
PLAIN = EpisodeFacts(
    name="Ada",
    others=["Bob", ASSISTANT],
    topics=["hotel", "Porto"],
    started_at=NOON,
    ended_at=NOON + timedelta(minutes=20),
    messages=6,
    sentences=[("I will fly to Porto on 3 December.", ""), ("I am allergic to feathers.", "")],
    actions=["Ada will fly to Porto on 3 December 2026."],
    ending=Ending("ended"),
)


def message(content: str) -> Message:
    return Message("s1", content, 1, "e1", "ada", "user", content, NOON)


@pytest.mark.parametrize(
    ("last", "outcome", "success"),
    [
        ("Thanks, that solved it!", "resolved", True),
        ("Perfect, it works now.", "resolved", True),
        ("Thanks, but it still doesn't work.", "ended", None),
        ("The upload failed again.", "ended", None),
        ("Sounds good, see you on Friday.", "agreed", None),
        ("Which of the two shall I take?", "open", None),
        ("I had soup.", "ended", None),
        ("谢谢，问题解决了。", "resolved", True),
        ("I gave up running.", "ended", None),
        ("还是不行。", "ended", None),
        ("一言为定。", "agreed", None),
        ("要带什么？", "open", None),
    ],
)
def test_how_it_ended_is_read_from_the_last_words(last: str, outcome: str, success: bool | None) -> None:
    ending = episode_narrative.ending_of([message("I need a hotel."), message(last)])
    assert (ending.outcome, ending.success) == (outcome, success)


def test_thanks_at_the_beginning_say_nothing_of_the_end() -> None:
    talk = [message("Thank you for joining."), *(message(f"I had soup number {n}.") for n in range(4))]
    assert episode_narrative.ending_of(talk).outcome == "ended"


def test_it_tells_with_whom_when_in_whose_words_and_how_it_ended() -> None:
    ended = replace(PLAIN, ending=Ending("resolved", message("Thanks, that solved it!"), reward=0.5))
    assert episode_narrative.narrate(ended) == (
        "Ada talked with Bob and the assistant on 21 November 2026. “I will fly to Porto on 3 December.” "
        "“I am allergic to feathers.” It was resolved: “Thanks, that solved it!” Reward: 0.5."
    )


def test_who_only_listened_is_told_who_said_what() -> None:
    listened = replace(PLAIN, name="Dan", others=["Bob"], sentences=[("I will bring the tent.", "Bob")])
    assert episode_narrative.narrate(listened) == (
        "Dan talked with Bob on 21 November 2026. Bob: “I will bring the tent.”"
    )


def test_a_chinese_conversation_is_told_in_chinese() -> None:
    chinese = replace(
        PLAIN, name="小明", others=[ASSISTANT], sentences=[("下周去北京出差。", "")],
        ending=Ending("failed", message("还是不行。")),
    )  # fmt: skip
    assert episode_narrative.narrate(chinese) == (
        "小明于2026年11月21日与助手谈话。“下周去北京出差。”没有成功：“还是不行。”。"
    )
