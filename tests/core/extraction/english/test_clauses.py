"""English sentences cut into clauses, and clauses given back what they leave out."""

from __future__ import annotations

import pytest

from core.extraction.english import clauses


@pytest.mark.parametrize(
    ("sentence", "pieces"),
    [
        (
            "I moved to Lisbon in May and I am allergic to peanuts",
            ["I moved to Lisbon in May", "I am allergic to peanuts"],
        ),
        (
            "My daughter Mia is eight and in third grade; her brother is five",
            ["My daughter Mia is eight", "My daughter Mia is in third grade", "her brother is five"],
        ),
        ("GBX-4482 is done, I closed it on 5 March", ["GBX-4482 is done", "I closed it on 5 March"]),
        ("Ann rang: she is pregnant", ["Ann rang", "she is pregnant"]),
        ("The bike is red, and it is mine", ["The bike is red", "The bike is mine"]),
        ("I like tea, my wife prefers wine", ["I like tea", "my wife prefers wine"]),
        ("When I was young, I lived in Rome", ["When I was young, I lived in Rome"]),
        ("On Sundays, I go running", ["On Sundays, I go running"]),
        ("My wife, my kids and I live in Oslo", ["My wife, my kids and I live in Oslo"]),
        ("I live with my wife, my three kids and a dog", ["I live with my wife, my three kids and a dog"]),
        ("I drink five coffees a day, which is four too many", ["I drink five coffees a day"]),
        ("I have never been to Rome, would you believe", ["I have never been to Rome"]),
        ("I work as a nurse and live in Porto", ["I work as a nurse and live in Porto"]),
    ],
)
def test_a_sentence_is_cut_into_what_stands_alone(sentence: str, pieces: list[str]) -> None:
    assert clauses.split(sentence) == pieces


@pytest.mark.parametrize(
    ("sentence", "pieces"),
    [
        ("Leo is a nurse in Porto", ["Leo is a nurse", "Leo works in Porto"]),
        ("I have a boat from 1985, in Faro", ["I have a boat", "The boat is from 1985", "The boat is in Faro"]),
        ("My bike is red; it is fast", ["My bike is red", "My bike is fast"]),
        ("My meeting is between noon and one", ["My meeting is between noon and one"]),
        ("She asked, I said yes", ["She asked, I said yes"]),
        ("Keep it short, I am busy", ["Keep it short", "I am busy"]),
    ],
)
def test_two_things_that_are_said_of_one_subject_both_name_it(sentence: str, pieces: list[str]) -> None:
    assert clauses.split(sentence) == pieces


@pytest.mark.parametrize(
    ("statement", "kept"),
    [
        ("I moved to Lisbon, believe it or not", "I moved to Lisbon"),
        ("I drink tea, which is odd", "I drink tea"),
        ("I met Tom, which is what Ada called him", "I met Tom, which is what Ada called him"),
        ("My rent is due, which is 900 euros", "My rent is due, which is 900 euros"),
    ],
)
def test_a_comment_is_dropped_unless_it_names_or_counts_something(statement: str, kept: str) -> None:
    assert clauses.without_comment(statement) == kept


def test_a_clause_of_its_own_is_no_second_thing_that_is_said_of_the_subject() -> None:
    sentence = "The graphics driver is i915 and the flicker starts after suspend."
    assert not any(piece.startswith("The graphics driver is the") for piece in clauses.split(sentence))
