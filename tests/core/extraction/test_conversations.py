"""English talk: short answers, pronouns, what a statement leaves out, what is set right, and who is not in earnest."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.extraction.english import corrections, ellipsis
from core.extraction.rule_extractor import stated
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
    return [candidate.content for candidate in stated(messages)]


@pytest.mark.parametrize(
    ("turns", "content"),
    [
        (("I'm learning the harp.", "I started last spring."), "Ada started learning the harp in spring 2025."),
        (("I need 20 hours of practice. I've done 12.",), "Ada has done 12 hours of practice."),
        (("We've bought a caravan. It was £3,200.",), "The caravan was £3,200."),
        (("I grew up in Leeds. My gran still lives there.",), "Ada's gran still lives in Leeds."),
        (("Tom loves jazz. I can't stand it.",), "Ada cannot stand jazz."),
        (("I used to knit a lot. I don't any more.",), "Ada no longer knits a lot."),
        (("I'm seeing someone.", "Her name's Ines. She's a vet."), "Ada is seeing Ines."),
        (("I'm seeing someone.", "Her name's Ines. She's from Porto."), "Ines is from Porto."),
    ],
)
def test_what_a_statement_leaves_out_is_put_back(turns: tuple[str, ...], content: str) -> None:
    assert content in told(*turns)


def test_a_thing_spoken_of_long_ago_is_not_it() -> None:
    assert not any(
        "caravan was" in one for one in told("We've bought a caravan.", "My son is in Year 3.", "It was £12.")
    )
    said = ellipsis.Said()
    said.tell("My manager is Ruth", 1)
    assert ellipsis.completed("It is a 40 minute drive.", said, 1) == "It is a 40 minute drive."


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
        (("Our cat Moss is old. He needs drops every day.",), "Moss needs drops every day."),
        (("Two cats, Moss and Fern.", "Moss is grey."), "Moss is grey."),
        (("My neighbour Mr Bell is 80. He was a baker.",), "Mr Bell was a baker."),
        (("My sister Ann has a son, Ned.", "His teacher is Mrs Cole. He plays the tuba."), "Ned plays the tuba."),
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


def test_words_that_mend_nothing_mend_nothing() -> None:
    assert corrections.mended("No, it's fine.", ["My locker is number 40"]) is None
