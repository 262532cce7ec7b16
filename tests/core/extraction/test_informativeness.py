from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.extraction import informativeness
from core.extraction.protocol import Window
from core.types import Message

LEAST = 20


def message(content: str, role: str = "user") -> Message:
    return Message("s", "m", 1, "e", "ada", role, content, datetime(2026, 11, 21, tzinfo=UTC))


@pytest.mark.parametrize(
    "content",
    [
        "ok",
        "OK!!!",
        "thanks!",
        "Thank you so much, that is really amazing!",
        "No!",
        "Hello! How are you doing today?",
        "Good morning everyone, hope you have a great day!",
        "Sounds good, talk to you later tonight!",
        "See you tomorrow then, take care!",
        "haha yes yes yes yes yes yes yes",
        "哈哈",
        "哈哈哈哈哈哈哈哈",
        "好的，谢谢你！",
        "太好了，恭喜恭喜！加油哦",
        "嗯嗯，我知道了，没问题的",
        "早上好！",
        "",
        " \n\t ",
        "😀" * 40,
        "?!?!?!?!?!?!?!?!?!?!?!?!",
        "My cat.",
    ],
)
def test_courtesies_and_words_too_few_tell_nothing(content: str) -> None:
    assert not informativeness.tells(message(content), LEAST)


@pytest.mark.parametrize(
    "content",
    [
        "My sister is coming to visit us.",
        "I'll be in Porto on 3 May.",
        "我妹妹下个月要去上海工作。",
        "ok thanks! By the way, the plumber comes on Friday.",
        "哈哈，对了，我对花生过敏，别忘了。",
    ],
)
def test_words_enough_that_mean_something_tell(content: str) -> None:
    assert informativeness.tells(message(content), LEAST)


@pytest.mark.parametrize(
    "content",
    [
        "Call me Al.",
        "Don't use emojis",
        "Always be brief.",
        "Actually, Tuesday.",
        "No, it's Porto.",
        "I meant Porto.",
        "Remember this.",
        "以后都用中文",
        "不对，是周二",
        "别再用表情",
    ],
)
def test_instructions_and_corrections_tell_however_short_they_are(content: str) -> None:
    assert informativeness.tells(message(content), LEAST)
    assert informativeness.is_minded(content)


@pytest.mark.parametrize("content", ["I'm Ada.", "I live in Rome.", "叫我小王"])
def test_a_fact_that_rules_read_tells_however_short_it_is(content: str) -> None:
    assert informativeness.tells(message(content), LEAST)
    assert not informativeness.tells(message(content, "assistant"), LEAST), "it says nothing of an assistant"


@pytest.mark.parametrize(
    "content", ["No!", "ok", "thanks", "哈哈", "I live in Rome.", "My sister is coming to visit us."]
)
def test_what_only_tells_or_agrees_sets_nothing_right(content: str) -> None:
    assert not informativeness.is_minded(content)


@pytest.mark.parametrize("role", ["tool", "system"])
def test_what_tools_and_prompts_say_tells_nothing_by_itself(role: str) -> None:
    assert not informativeness.tells(message("The customer Ada Lovelace lives in London since 1815.", role), LEAST)


def test_an_assistant_may_tell_what_was_done() -> None:
    assert informativeness.tells(message("Your flight to Porto is booked for 3 May.", "assistant"), LEAST)


@pytest.mark.parametrize(
    ("content", "expected"), [(" Go on,\n\n Ada! ", 11), ("我在上海", 12), ("去 Porto", 9), ("", 0)]
)
def test_a_chinese_character_counts_as_three(content: str, expected: int) -> None:
    assert informativeness.length(content) == expected


def test_an_answer_means_what_was_asked_right_before_it() -> None:
    asked, answer = message("Are you allergic to nuts or shellfish?", "assistant"), message("Yes!")
    assert informativeness.messages_to_read(Window((), (answer,)), LEAST) == []
    assert informativeness.messages_to_read(Window((asked,), (answer,)), LEAST) == [asked]
    assert informativeness.messages_to_read(Window((asked, message("Wait.")), (answer,)), LEAST) == []


@given(st.text(max_size=300), st.sampled_from(["user", "assistant", "tool", "system"]))
def test_any_text_is_judged_and_the_same_every_time(content: str, role: str) -> None:
    said = message(content, role)
    assert informativeness.tells(said, LEAST) == informativeness.tells(said, LEAST)
    assert informativeness.weight(content) >= 0
    assert informativeness.length(content) >= 0
