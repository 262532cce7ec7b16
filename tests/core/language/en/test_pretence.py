from __future__ import annotations

import pytest

from core.language.en import pretence
from core.language.en.pretence import LONGEST_GAME, Play


@pytest.mark.parametrize(
    ("texts", "meant"),
    [
        (["I own a castle."], [True]),
        (
            ["Let's pretend you're a king and I'm a knight.", "I own a castle!", "OK, enough.", "I like tea."],
            [False, False, False, True],
        ),
        (["Let's play a game.", "I own a castle.", "OK so, how do I cook rice?"], [False, False, True]),
        (["I own a castle.", "Just kidding!"], [False, False]),
        (["I own a castle.", "Ignore what I just typed.", "I like tea."], [True, False, True]),
        (["I have a cat.", "I own a castle.", "That was a joke."], [True, False, False]),
        (["OK, enough.", "I like tea."], [True, True]),
    ],
)
def test_what_is_said_in_a_game_or_taken_back_as_a_joke_is_not_meant(texts: list[str], meant: list[bool]) -> None:
    assert pretence.in_earnest(texts) == meant


def test_a_game_that_nobody_ends_is_over_some_messages_later() -> None:
    texts = ["Let's pretend you're a king.", *["I own a castle."] * LONGEST_GAME]
    assert pretence.in_earnest(texts) == [*[False] * LONGEST_GAME, True]
    again = [*texts[:-1], "Let's pretend it is winter.", "I own a castle."]
    assert not any(pretence.in_earnest(again)), "a game within a game begins anew"


@pytest.mark.parametrize(
    ("sentence", "is_meant"),
    [
        ("Who needs sleep?", False),
        ("I could sleep for a week.", False),
        ("I've told you a million times.", False),
        ("I LOVE waiting.", False),
        ("I sleep for a living.", True),
        ("I paid a million dollars for it.", True),
        ("I love waiting for the sunrise.", True),
    ],
)
def test_sarcasm_and_exaggeration_are_told_from_what_is_meant(sentence: str, is_meant: bool) -> None:
    assert pretence.is_meant(sentence) is is_meant


@pytest.mark.parametrize(
    ("statement", "is_hearsay"),
    [
        ("My sister swears garlic cures colds", True),
        ("Rumour has it Joan is leaving", True),
        ("The shop is closing, or so the neighbours say", True),
        ("My sister insists on garlic", False),
        ("According to my doctor I need iron", False),
        ("My sister grows garlic", False),
    ],
)
def test_what_somebody_else_believes_is_hearsay(statement: str, is_hearsay: bool) -> None:
    assert pretence.is_hearsay(statement) is is_hearsay


def test_a_message_can_begin_a_game_and_take_back_what_was_before_it() -> None:
    both = pretence.plays("Just kidding. Let's pretend you're a king.")
    assert {Play.BEFORE, Play.BEGINS} <= both
    assert pretence.plays("I like tea.") == frozenset()
