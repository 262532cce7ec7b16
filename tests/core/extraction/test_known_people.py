from __future__ import annotations

from core.extraction.known_people import Acquaintance, people_in


def test_the_value_of_a_relation_is_a_name() -> None:
    assert list(people_in("relation.daughter", "Mia", "", {})) == [Acquaintance("Mia", "daughter")]


def test_a_spouse_is_what_the_statement_calls_them() -> None:
    found = people_in("relation.spouse", "Tom", "", {}, "Tom is Ada's husband.")
    assert list(found) == [Acquaintance("Tom", "husband")]


def test_several_values_side_by_side_are_several_people() -> None:
    structured = {"attribute": "relation.sister", "values": ["Ines", "Olga"]}
    assert [one.name for one in people_in(None, None, "", structured)] == ["Ines", "Olga"]
    assert list(people_in(None, None, "", structured | {"negated": True})) == []


def test_the_subject_is_known_by_name_and_other_slots_name_nobody() -> None:
    assert list(people_in("home.city", "Porto", "Bob", {})) == [Acquaintance("Bob")]
