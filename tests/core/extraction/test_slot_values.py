from __future__ import annotations

from collections.abc import Callable

import pytest

from core.extraction import slot_values


@pytest.mark.parametrize(
    ("read", "value", "found"),
    [
        (slot_values.person, "Maria da Silva and Tom", "Maria da Silva"),
        (slot_values.person, "French", None),
        (slot_values.person, "the teacher", None),
        (slot_values.own_name, "Swedish", None),
        (slot_values.own_name, "Ada", "Ada"),
        (slot_values.place, "Porto with my sister", "Porto"),
        (slot_values.place, "portugal", "Portugal"),
        (slot_values.place, "March", None),
        (slot_values.organisation, "the Acme Corp as a cook", "Acme Corp"),
        (slot_values.organisation, "a bank", None),
        (slot_values.school, "University of Porto", "University of Porto"),
        (slot_values.school, "night classes", None),
        (slot_values.field, "computer science at Porto", "computer science"),
        (slot_values.occupation, "a software engineer", "software engineer"),
        (slot_values.occupation, "a good cook", None),
        (slot_values.role, "an usual", None),
        (slot_values.liked_thing, "books about my city a lot", "books about their city"),
        (slot_values.liked_thing, "it", None),
        (slot_values.favourite, "because of you", None),
        (slot_values.language, "german and a bit of french", "German and French"),
        (slot_values.language, "nothing", None),
        (slot_values.age, "forty-two", "42"),
        (slot_values.age, "fifteen", "15"),
        (slot_values.age, "300", None),
        (slot_values.count, "two", "2"),
        (slot_values.amount, "300 euros.", "300 euros"),
        (slot_values.birthday, "3rd of May", "05-03"),
        (slot_values.birthday, "May 3, 1990", "1990-05-03"),
        (slot_values.birthday, "soon", None),
    ],
)
def test_a_value_is_what_fits_its_slot_or_none(
    read: Callable[[str], str | None], value: str, found: str | None
) -> None:
    assert read(value) == found


def test_countries_and_occupations_are_known() -> None:
    assert slot_values.is_country("the Netherlands")
    assert not slot_values.is_country("Porto")
    assert slot_values.is_role("teaching assistant")
    assert not slot_values.is_role("blue house")
