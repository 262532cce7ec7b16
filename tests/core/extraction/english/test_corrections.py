from __future__ import annotations

import pytest

from core.extraction.english import corrections


@pytest.mark.parametrize(
    ("said", "before", "statement"),
    [
        ("Sorry, I meant Hall D.", "I'm speaking in Hall B", "I'm speaking in Hall D"),
        ("I mean 14 June, not 12 June.", "The exam is on 12 June", "The exam is on 14 June"),
        ("No, it's Tuesday.", "I swim on Monday", "I swim on Tuesday"),
        ("It's Tuesday at 10:30, sorry.", "I swim on Monday", None),
        ("Sorry, it's Tuesday at 10:30.", "I swim on Monday at 9:00", "I swim on Tuesday at 10:30"),
        ("Sorry, I meant the left knee.", "My right knee hurts", "My left knee hurts"),
        ("It should be GBX-4482.", "My ticket is GBX-4471", "My ticket is GBX-4482"),
        ("Oops, make that Kotlin.", "I write code in Java", "I write code in Kotlin"),
        ("Actually, 45.", "I am 44 years old", "I am 45 years old"),
        ("Sorry, 6.5.", "I run 6 km", "I run 6.5 km"),
        ("I meant seven.", "I have three cats and two dogs", None),
        ("I meant Hall B.", "I'm speaking in Hall B", None),
        ("No, it's fine.", "My locker is number 40", None),
        ("I like tea.", "I like coffee", None),
    ],
)
def test_a_value_takes_the_place_of_the_one_of_its_kind(said: str, before: str, statement: str | None) -> None:
    mended = corrections.correct(said, [before])
    assert (mended and mended.statement) == statement
    assert mended is None or mended.replaced == before


def test_of_several_statements_the_latest_that_has_such_a_value_is_put_right() -> None:
    before = ["I have three cats", "My locker is number 40", "I live in Oslo"]
    mended = corrections.correct("Make that 41.", before)
    assert mended is not None
    assert (mended.replaced, mended.statement) == ("My locker is number 40", "My locker is number 41")


def test_a_hall_takes_the_place_of_a_hall_and_not_of_a_town_that_was_named_later() -> None:
    mended = corrections.correct("Sorry, I meant Hall D.", ["I'm speaking in Hall B", "I live in Oslo"])
    assert mended is not None
    assert mended.statement == "I'm speaking in Hall D"


@pytest.mark.parametrize(
    ("said", "gone"),
    [
        ("Scratch that.", "I have a cat"),
        ("OK, ignore that.", "I have a cat"),
        ("Scratch that, the Monday swim is off.", "I swim on Mondays"),
        ("Forget that, no more fridays.", "I run on Fridays"),
        ("Forget that, Sunday is off.", "I have a cat"),
        ("I like tea.", None),
    ],
)
def test_what_is_scratched_is_what_was_said_of_that_day_or_else_last(said: str, gone: str | None) -> None:
    before = ["I swim on Mondays", "I run on Fridays", "I have a cat"]
    assert corrections.withdrawn_statement(said, before) == gone
    assert corrections.withdrawn_statement(said, []) is None


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ("Scratch what I said about the car: it's from 1990", "The car is from 1990"),
        ("Never mind what I said about the trip – it has moved to May", "The trip has moved to May"),
        ("Forget everything I told you about Monday: I am free on Monday", "I am free on Monday"),
        ("Ignore what I said about lunch: my sister cooks", "For lunch, my sister cooks"),
        ("I like tea", None),
    ],
)
def test_what_is_said_instead_stands_alone(said: str, instead: str | None) -> None:
    assert corrections.statement_instead(said) == instead


def test_what_follows_a_correction_is_left_for_itself() -> None:
    assert corrections.corrected_words("Sorry, I meant Hall D. It starts at nine.") == "Hall D"
    assert corrections.after_correction("Sorry, I meant Hall D. It starts at nine.") == "It starts at nine."
    assert corrections.after_correction("I like tea.") == "I like tea."


@pytest.mark.parametrize(
    ("sentence", "does"),
    [("No wait, that is wrong.", True), ("Correction: it is five.", True), ("I like it.", False), ("No.", False)],
)
def test_a_correction_is_known_by_how_it_begins(sentence: str, does: bool) -> None:
    assert corrections.corrects(sentence) is does
