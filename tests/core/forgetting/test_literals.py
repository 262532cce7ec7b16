from __future__ import annotations

import pytest

from core.forgetting import literals, requests
from core.forgetting.talk import Talk, Turn


def named(said: list[str], asked: str) -> list[str]:
    """The values that a request names in a group, after others said something."""
    turns = [Turn(n, n, "ada", "Ada", "user", text, alone=False, group_id="g") for n, text in enumerate(said)]
    request = requests.commands(asked)
    assert request is not None
    return literals.named(request, Talk(turns))


@pytest.mark.parametrize(
    ("said", "asked", "values"),
    [
        ("The gate PIN 7719 is new.", "Delete the old gate PIN 7719 from memory.", ["7719"]),
        ("The phrase is green heron.", "Delete the backup phrase green heron as well.", ["green heron"]),
        ("Meet at 6:40 AM at the north dock.", "Delete my exact minute 6:40 AM.", ["6:40 AM"]),
        ("I sit in Dock Annex 313.", "Remove the earlier desk Dock Annex 313 from memory.", ["Dock Annex 313"]),
        ("The dose was 20 mg.", "Please erase the earlier dose 20 mg from memory.", ["20 mg"]),
        ("It is in the red tin shed box.", "Remove the red-tin shed-box location from memory.", ["red tin shed box"]),
        ("We met at the old harbour gate.", "Please remove the exact harbour gate from memory.", ["harbour gate"]),
    ],
)
def test_a_value_is_named_behind_the_word_for_it_or_with_digits(said: str, asked: str, values: list[str]) -> None:
    assert named([said], asked) == values


def test_a_value_is_named_in_the_sentence_to_which_the_request_points() -> None:
    assert named(["Use 'green heron'."], "The phrase 'green heron' is old. Delete it from memory.") == ["green heron"]


def test_what_stays_is_no_value() -> None:
    said = ["The amount was 2,200 USD.", "It is 2,350 USD now."]
    assert named(said, "Remove 2,200 USD from memory. Only 2,350 USD should remain.") == ["2,200 USD"]


def test_what_nobody_is_to_say_again_does_not_stay() -> None:
    asked = "Remove the keypad 8823 from memory. From now on, no one should recall, confirm, or reuse 8823."
    assert named(["The keypad is 8823."], asked) == ["8823"]


def test_a_topic_is_no_value() -> None:
    said = ["The Oak Entry plan is on Friday.", "Oak Entry starts at ten."]
    assert named(said, "Please delete the old Oak Entry code from memory.") == []


def test_runs_of_words_are_candidates_of_erased_values() -> None:
    assert {"2,600 USD", "green heron"} <= set(literals.candidates("The 2,600 USD figure and green heron are deleted."))
