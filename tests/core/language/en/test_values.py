from __future__ import annotations

from collections.abc import Callable

import pytest

from core.language.en import values


@pytest.mark.parametrize(
    ("read", "value", "found"),
    [
        (values.person, "Maria da Silva and Tom", "Maria da Silva"),
        (values.person, "French", None),
        (values.person, "the teacher", None),
        (values.own_name, "Swedish", None),
        (values.own_name, "Ada", "Ada"),
        (values.place, "Porto with my sister", "Porto"),
        (values.place, "portugal", "Portugal"),
        (values.place, "March", None),
        (values.organisation, "the Acme Corp as a cook", "Acme Corp"),
        (values.organisation, "a bank", None),
        (values.school, "University of Porto", "University of Porto"),
        (values.school, "night classes", None),
        (values.field, "computer science at Porto", "computer science"),
        (values.occupation, "a software engineer", "software engineer"),
        (values.occupation, "a good cook", None),
        (values.role, "an usual", None),
        (values.liked_thing, "books about my city a lot", "books about their city"),
        (values.liked_thing, "it", None),
        (values.favourite, "because of you", None),
        (values.language, "german and a bit of french", "German and French"),
        (values.language, "nothing", None),
        (values.age, "forty-two", "42"),
        (values.age, "fifteen", "15"),
        (values.age, "300", None),
        (values.count, "two", "2"),
        (values.amount, "300 euros.", "300 euros"),
        (values.birthday, "3rd of May", "05-03"),
        (values.birthday, "May 3, 1990", "1990-05-03"),
        (values.birthday, "soon", None),
    ],
)
def test_a_value_is_what_fits_its_slot_or_none(
    read: Callable[[str], str | None], value: str, found: str | None
) -> None:
    assert read(value) == found


def test_countries_are_known() -> None:
    assert values.is_country("the Netherlands")
    assert not values.is_country("Porto")
