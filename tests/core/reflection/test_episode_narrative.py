from __future__ import annotations

import unicodedata
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.language import grounding, topics
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
    opening="Can you find a hotel in Porto?",
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
        ("Thanks, but it still doesn't work.", "failed", False),
        ("The upload failed again.", "failed", False),
        ("Sounds good, see you on Friday.", "agreed", None),
        ("Which of the two shall I take?", "open", None),
        ("I had soup.", "ended", None),
        ("谢谢，问题解决了。", "resolved", True),
        ("还是不行。", "failed", False),
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


def test_the_topic_is_what_was_said_most_and_not_what_everyone_says() -> None:
    own = ["Hello! I need a visa for Japan.", "How long does the visa take?"]
    others = ["Thanks for asking, the visa takes weeks.", "Japan is great."]
    assert topics.topics(own, others)[:2] == ["visa", "Japan"]
    assert topics.topics(["Hi!", "Okay, thanks."], ["You're welcome."]) == []


def test_chinese_topics_are_words_and_none_is_part_of_another() -> None:
    found = topics.topics(["我想订一张去上海的机票", "机票多少钱"], ["上海的机票很贵"])
    assert "机票" in found
    assert not [1 for one in found for other in found if one != other and one in other]


def test_names_of_those_who_speak_are_no_topic() -> None:
    assert topics.topics(["Bob, look at the garden."], ["The garden, Ada!"], ["Ada", "Bob"]) == ["garden"]


def test_it_tells_with_whom_about_what_when_what_was_done_and_how_it_ended() -> None:
    ended = replace(PLAIN, ending=Ending("resolved", message("Thanks, that solved it!"), reward=0.5))
    assert episode_narrative.narrate(ended) == (
        "Ada talked with Bob and the assistant about hotel and Porto on 21 November 2026, 12:00–12:20 UTC (6 messages)."
        " Ada began: “Can you find a hotel in Porto?” Ada will fly to Porto on 3 December 2026. "
        "It was resolved: “Thanks, that solved it!” Reward: 0.5."
    )


def test_a_chinese_conversation_is_told_in_chinese() -> None:
    chinese = replace(
        PLAIN, name="小明", others=[ASSISTANT], topics=["机票"], opening="帮我订机票", actions=[],
        ended_at=NOON, ending=Ending("failed", message("还是不行。")),
    )  # fmt: skip
    assert episode_narrative.narrate(chinese) == (
        "小明于2026年11月21日12:00（UTC）与助手谈了机票（共6条消息）。小明先说：“帮我订机票”。没有成功：“还是不行。”。"
    )


def test_quotes_are_cut_at_a_word() -> None:
    cut = grounding.clip("word " * 100)
    assert cut.endswith("word…")
    assert len(cut) <= grounding.QUOTED


SOURCE = ["2026-11-21 12:00 Ada: I fly to Porto on 3 December with Bob.", "Ada talked with Bob."]


@pytest.mark.parametrize(
    ("narrative", "kept"),
    [
        ("Ada told Bob that she will fly to Porto on 3 December.", True),
        ("Ada flies to Porto. Later they agreed.", True),
        ("Ada flies to Porto on 4 December.", False),
        ("Ada flies to Paris on 3 December.", False),
        ("Ada flies with Bob. Carol comes, too.", False),
        ("She flies to Porto.", False),
        ("Ada flies to Porto, see https://evil.example/3", False),
        ("Ada flies to Porto; write to bob@evil.example", False),
        ("Ada " + "flies " * 400, False),
    ],
)
def test_a_models_words_count_only_if_they_keep_to_what_was_said(narrative: str, kept: bool) -> None:
    assert grounding.is_grounded(narrative, "Ada", SOURCE) is kept


@given(st.lists(st.text(max_size=40), max_size=6), st.lists(st.text(max_size=40), max_size=6))
def test_whatever_is_said_there_are_at_most_five_topics_and_each_was_said(own: list[str], others: list[str]) -> None:
    found = topics.topics(own, others)
    assert len(found) <= topics.WORDS
    said = unicodedata.normalize("NFKC", "\n".join([*own, *others])).casefold()
    assert all(unicodedata.normalize("NFKC", word).casefold() in said for word in found if word.isascii())


@given(st.text(max_size=400), st.integers(2, 200))
def test_a_clipped_text_is_never_longer_than_asked(said: str, most: int) -> None:
    assert len(grounding.clip(said, most)) <= most
