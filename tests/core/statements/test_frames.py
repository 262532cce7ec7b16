from __future__ import annotations

import pytest

from core.statements import frames
from core.statements.frames import Values


def differing_values(one: str, other: str) -> Values | None:
    first, second = frames.sentence(one), frames.sentence(other)
    return first and second and frames.differing_values(first, second)


def _values(one: str, other: str) -> tuple[str, str] | None:
    found = differing_values(one, other)
    return found and (found.one, found.other)


@pytest.mark.parametrize(
    ("one", "other", "values"),
    [
        ("The capital of India is Delhi.", "The capital of India is Agra.", ("Delhi", "Agra")),
        ("Ines plays jazz guitar music.", "Ines plays jazz folk music.", ("guitar", "folk")),
        ("我的手机是小米的。", "我的手机是苹果的。", ("小 米", "苹 果")),
        (
            "The music that Ines plays is rap rock.",
            "The music that Ines plays is rock music.",
            ("rap rock", "rock music"),
        ),
        ("Our wifi password is tulip7", "Our wifi password is\nrose 9.", ("tulip7", "rose 9")),
    ],
)
def test_one_subject_and_relation_with_two_values_are_of_one_frame(
    one: str, other: str, values: tuple[str, str]
) -> None:
    assert _values(one, other) == values
    assert _values(other, one) == values[::-1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The capital of India is Delhi.", "The capital of India is Delhi!"),
        ("The capital of India is Delhi.", "The capital of Peru is Lima."),
        ("I like tea.", "I like coffee."),
        ("Order 4411 has shipped to Rome.", "Order 4412 has shipped to Rome."),
        ("We met at noon", "We met at noon with the others from the choir and stayed until ten"),
        ("We met at noon " * 40, "We met at one " * 40),
        ("", "We met at noon."),
    ],
)
def test_other_sentences_are_not(one: str, other: str) -> None:
    assert differing_values(one, other) is None


def test_a_question_that_names_a_value_is_about_that_one() -> None:
    values = differing_values("Ada was born in the city of Rome.", "Ada was born in the city of Bern.")
    assert values is not None
    assert frames.asks_about("Why was Rome named?", values)
    assert not frames.asks_about("Where was Ada born?", values)


def test_a_word_of_the_subject_names_no_value() -> None:
    values = differing_values("Ada Moss is married to Jo Moss.", "Ada Moss is married to Lee Park.")
    assert values is not None
    assert not frames.asks_about("Who is Ada Moss married to?", values)
    assert frames.asks_about("When did Ada Moss meet Jo?", values)
