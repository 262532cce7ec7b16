from __future__ import annotations

import re

from core.extraction import slot_statements
from core.language.language import Pattern, Slot
from core.types import Category, Topic
from tests.core.consolidation.samples import a_candidate

CITY = Pattern(re.compile(""), "home.city", Topic.PERSONAL, 0.7)
ALLERGY = Pattern(re.compile(""), "health.allergy", Topic.HEALTH, 0.9, exclusive=False)


def test_slots_of_one_attribute_of_one_subject_are_one_group() -> None:
    given = [Slot("health.allergy", "nuts", ALLERGY), Slot("home.city", "Porto", CITY)]
    given += [Slot("health.allergy", "eggs", ALLERGY), Slot("health.allergy", "milk", ALLERGY, about="Bob")]
    groups = slot_statements.by_attribute(given)
    assert [[slot.value for slot in group] for group in groups] == [["nuts", "eggs"], ["Porto"], ["milk"]]


def test_a_value_that_excludes_others_fills_the_slot() -> None:
    filled = slot_statements.fill_slot(a_candidate("I live in Porto."), [Slot("home.city", "Porto", CITY)], "Ada")
    assert (filled.subject, filled.attribute, filled.value) == ("Ada", "home.city", "Porto")
    assert (filled.topic, filled.category, filled.importance) == (Topic.PERSONAL, Category.FACT, 0.7)


def test_values_that_may_stand_side_by_side_fill_none() -> None:
    several = [Slot("health.allergy", "nuts", ALLERGY), Slot("health.allergy", "eggs", ALLERGY)]
    filled = slot_statements.fill_slot(a_candidate("I am allergic to nuts and eggs."), several, "Ada")
    assert (filled.attribute, filled.value) == (None, None)
    assert filled.structured == {"attribute": "health.allergy", "values": ["nuts", "eggs"], "negated": False}
