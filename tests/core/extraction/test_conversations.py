"""English talk: short answers, pronouns, what a statement leaves out, what is set right, and who is not in earnest."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.extraction.rule_extractor import statements_of_rules
from core.types import Message

BEGAN = datetime(2026, 5, 20, 15, tzinfo=UTC)


def told(*turns: str) -> list[str]:
    """The memories of a conversation, one after the other; "A:" begins what the assistant says."""
    messages = [
        Message(
            "s",
            f"m{n}",
            n,
            "e",
            "ada",
            "assistant" if turn.startswith("A:") else "user",
            turn.removeprefix("A:"),
            BEGAN + timedelta(minutes=n),
            None if turn.startswith("A:") else "Ada",
        )
        for n, turn in enumerate(turns, 1)
    ]
    return [candidate.content for candidate in statements_of_rules(messages)]


@pytest.mark.parametrize(
    "remark",
    [
        "My sister swears garlic cures colds.",
        "The shop is closing, or so the neighbours say.",
        "Rumour has it Joan is leaving.",
        "I just got in from the late shift.",
        "I have to pick up the kids.",
    ],
)
def test_hearsay_and_idle_remarks_say_nothing(remark: str) -> None:
    assert told(remark) == []


def test_somebody_who_has_an_opinion_is_still_introduced() -> None:
    assert told("My cousin Joan thinks I should move.") == ["Ada's cousin is called Joan."]


@pytest.mark.parametrize(
    ("turns", "content"),
    [
        (("Our cat Moss is old. He is allergic to chicken.",), "Moss is allergic to chicken."),
        (("Two cats, Moss and Fern.", "Moss is six years old."), "Moss is six years old."),
        (("My neighbour Mr Bell is 80. He works as a baker.",), "Mr Bell works as a baker."),
        (
            ("My sister Ann has a son, Ned.", "His teacher is Mrs Cole. He hates nuts."),
            "Ned hates nuts.",
        ),
    ],
)
def test_a_pronoun_means_who_was_spoken_of_last(turns: tuple[str, ...], content: str) -> None:
    assert content in told(*turns)


@pytest.mark.parametrize(
    ("turns", "content", "gone"),
    [
        (("The gate code is X-118. No wait, it's X-181.",), "The gate code is X-181.", "X-118"),
        (("My locker is number 40.", "Scratch that, it's 41."), "Ada's locker is number 41.", "40"),
        (("My check-up is on 3 June at 9:15.", "Hang on, it's 4 June at 9:15."), "4 June 2026", "3 June"),
        (("I moved the lesson to Friday. Sorry, I meant Monday.",), "Monday", "Friday"),
    ],
)
def test_what_is_set_right_at_once_stands_alone(turns: tuple[str, ...], content: str, gone: str) -> None:
    found = told(*turns)
    assert any(content in one for one in found)
    assert not any(gone in one for one in found)


def test_a_game_ends_where_talk_turns_elsewhere() -> None:
    assert told("Pretend I'm a pirate.", "Aye, I own a parrot!", "ok so I'm allergic to nuts.") == [
        "Ada is allergic to nuts."
    ]


@pytest.mark.parametrize(
    "wish",
    ["Use metric units with me.", "When you talk about money, always use euros.", "Speak in plain words to me."],
)
def test_how_to_talk_to_somebody_is_a_standing_instruction(wish: str) -> None:
    assert any("standing instruction" in one for one in told(wish))
