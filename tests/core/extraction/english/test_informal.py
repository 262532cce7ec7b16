"""Names may hold any sign: no pattern and no template is made of them."""

from __future__ import annotations

import pytest

from core.extraction.english import informal
from core.language import third_person

NAMES = ["A\\q", "\\g<0>", "C++", "Ann (b", "Dr. Who", "a|b", "$^"]


@pytest.mark.parametrize("name", NAMES)
def test_whoever_speaks_is_named_as_they_are_called(name: str) -> None:
    assert third_person.third_person_zh("我自己住在北京", name) == f"{name}住在北京"
    assert third_person.third_person_zh("我认识您", "Ada", name) == f"Ada认识{name}"
    assert third_person.third_person_zh("我妈妈住在北京", name) == f"{name}的妈妈住在北京"
    assert third_person.without_own_name(f"My name is {name} and I live in Bern.", name) == "I live in Bern."


@pytest.mark.parametrize("name", NAMES)
def test_whoever_is_spoken_to_is_left_out_of_what_is_said(name: str) -> None:
    assert informal.clean(f"{name}, I live in Bern.", frozenset({name})) == "I live in Bern."
    assert informal.clean(f"I live in Bern, {name}.", frozenset({name, "Ada"})) == "I live in Bern."
    assert informal.clean(f"I live in Bern, {name}ter.", frozenset({name})) == f"I live in Bern, {name}ter."
