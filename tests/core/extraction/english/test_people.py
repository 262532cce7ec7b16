from __future__ import annotations

import pytest

from core.extraction.english.people import NEAR, Person, Persons
from core.extraction.known_people import Acquaintance


def heard(*texts: str) -> Persons:
    """The people of a conversation; each text is a message."""
    people = Persons("Ada")
    for number, text in enumerate(texts, 1):
        people.hear(text, number)
    return people


@pytest.mark.parametrize(
    ("statement", "resolved"),
    [
        ("She is a nurse", "Ann is a nurse"),
        ("He is a cook", "Tom is a cook"),
        ("Her dog is old", "Ann's dog is old"),
        ("I like him", "I like Tom"),
        ("I gave her a book", "I gave Ann a book"),
        ("It is cold", "It is cold"),
        ("My brother is ill and he sleeps", "My brother is ill and he sleeps"),
    ],
)
def test_a_pronoun_becomes_the_name_of_the_one_person_whom_it_fits(statement: str, resolved: str) -> None:
    assert heard("My sister Ann met Tom.").resolve(statement, 2) == resolved


def test_where_two_people_fit_nobody_is_certainly_meant() -> None:
    two = heard("My brother Tom met my cousin Ben.")
    assert two.resolve("He is ill", 1) is None
    assert two.resolve("He is ill", 1, Person("Ben", "m")) == "Ben is ill", "but for one of whom was just spoken"


def test_somebody_who_was_mentioned_long_ago_is_not_meant() -> None:
    people = heard("My sister Ann called.")
    assert people.resolve("She is a nurse", NEAR) == "Ann is a nurse"
    assert people.resolve("She is a nurse", NEAR + 1) is None


def test_who_has_no_name_is_what_they_are_to_the_speaker() -> None:
    people = heard("My mother called.")
    assert people.resolve("She is 74", 2) == "My mother is 74"
    assert people.resolve("I mow her lawn", 2) == "I mow my mother's lawn"


def test_acquaintances_of_earlier_conversations_are_known_by_what_they_are() -> None:
    people = Persons("Ada")
    people.meet([Acquaintance("Oskar", "husband"), Acquaintance("Rex", "dog"), Acquaintance("Zed"),
                 Acquaintance("Ada", "wife")])  # fmt: skip
    assert people.genders == {"Oskar": "m", "Rex": None}
    assert (people.knows("Oskar"), people.knows("Zed")) == (True, False)
    assert people.knows("Anna"), "a first name says enough"


def test_the_one_person_of_a_question_is_whom_its_answer_speaks_of() -> None:
    people = heard("My sister Ann called.")
    people.ask("How is your daughter Yrsa doing?", 2)
    assert people.resolve("She is in 7C", 3) == "Yrsa is in 7C"
    both = heard("My sister Ann called.")
    both.ask("Are Yrsa and your daughter Mia there?", 2)
    assert both.resolve("She is in 7C", 3) != "Yrsa is in 7C"


@pytest.mark.parametrize(
    ("statement", "subject"),
    [
        ("My sister Ann is a nurse", Person("Ann", "f")),
        ("My brother is a nurse", Person("Ada's brother", "m")),
        ("Tibo is six", Person("Tibo", "m")),
        ("Mr Green is away", Person("Mr Green", "m")),
        ("My sister and I sing", None),
        ("My mother tongue is Swiss", None),
        ("Surgery was expensive", None),
        ("Monday is fine", None),
        ("I like tea", None),
    ],
)
def test_a_statement_begins_with_a_person_or_it_does_not(statement: str, subject: Person | None) -> None:
    assert Persons("Ada").subject_of(statement) == subject
