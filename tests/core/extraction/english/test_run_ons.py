"""Where a chat message runs on from one sentence into the next, and where it only seems to."""

from __future__ import annotations

import pytest

from core.extraction.english import run_ons


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("I work nights this week she's on days", ["I work nights this week", "she's on days"]),
        ("we got a cat he's a tabby", ["we got a cat", "he's a tabby"]),
        ("my brother moved to Hull we're seeing him in May", ["my brother moved to Hull", "we're seeing him in May"]),
        ("Rosie's my wife she teaches", ["Rosie's my wife she teaches"]),
        ("dinner was lovely I've booked the same place again", None),
        (
            "yoga has changed it's on Fridays now we're doing the advanced class",
            ["yoga has changed", "it's on Fridays now we're doing the advanced class"],
        ),
        ("the vet doubled the dose He was not happy", ["the vet doubled the dose", "He was not happy"]),
        ("March 2021 she's a stray", ["March 2021", "she's a stray"]),
        ("they delivered the sofa Hannah's in charge", ["they delivered the sofa", "Hannah's in charge"]),
        ("I sold the van also my rent went up", ["I sold the van", "also my rent went up"]),
        ("York dad was a postman", ["York", "dad was a postman"]),
    ],
)
def test_a_sentence_ends_where_another_subject_has_its_verb(text: str, pieces: list[str] | None) -> None:
    assert run_ons.split(text) == (pieces or [text])


@pytest.mark.parametrize(
    "text",
    [
        "I think she's a lawyer",
        "my sister says he's the best",
        "because it's a long way",
        "I told my boss I'm the wrong person",
        "the flat we're renting is small",
        "I like the house he's in",
        "that is the one I've told you about",
        "we were sure it's the right day",
        "when it rains we're indoors",
        "I love the book she gave me",
        "it's so good I've bought a second",
        "I wonder if it's a cold",
        "all the help I've had from the neighbours",
        "my friend Tom is a nurse",
        "do you think it's a good idea or is it bad?",
        'he said "I am off" and it was true',
        "it's cool they were all there",
        "from there it's a short walk",
        "I found out recently I'm allergic to cats",
    ],
)
def test_what_hangs_together_is_not_cut(text: str) -> None:
    assert run_ons.split(text) == [text]


def test_sentences_that_run_on_stand_on_lines_of_their_own() -> None:
    text, several = run_ons.spread("we got a cat he's a tabby", ["we got a cat he's a tabby"])
    assert text.split("\n") == several == ["we got a cat", "he's a tabby"]
    assert run_ons.spread("We got a cat.", ["We got a cat."]) == ("We got a cat.", ["We got a cat."])
