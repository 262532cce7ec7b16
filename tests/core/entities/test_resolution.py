"""Who is who by what was told, in the order in which it was told."""

from __future__ import annotations

import time

import pytest

from core.entities import resolution
from core.entities.resolution import Decision, Entity, Introduction
from tests.core.entities.introducing import apart, day, forms, heard, same


def found(directory: resolution.Directory, written: str) -> str | None:
    entity = directory.bearer_of(written)
    return entity.name if entity else None


def test_a_name_and_a_role_mean_one_person() -> None:
    directory = heard("Evelyn, my mother, is coming.")
    assert directory.bearer_of("my mother") is directory.bearer_of("Mum") is directory.bearer_of("evelyn") is not None


def test_a_full_name_is_its_parts() -> None:
    directory = heard("My boss is Graham Miller.", "Graham Miller wants the report.")
    assert {found(directory, name) for name in ("Graham", "Mr Miller", "my boss")} == {"Graham Miller"}
    assert len(directory.entities) == 1


def test_a_name_with_roles_that_exclude_each_other_is_two_peoples() -> None:
    directory = heard("My brother Tom is a cook.", "My boss Tom is strict.")
    assert forms(directory) == [["/boss", "Tom"], ["/brother", "Tom"]]
    assert directory.bearer_of("my boss") is not directory.bearer_of("my brother")
    assert directory.find("Tom") is directory.bearer_of("my boss"), "who was introduced last"
    assert directory.find("Tom", day(0)) is directory.bearer_of("my brother"), "who was known then"


def test_full_names_that_contradict_each_other_are_two_peoples() -> None:
    directory = heard("Our neighbour is Tom Asher.", "The new manager is Tom Ridley.", "Mr Asher has a cough.")
    assert found(directory, "Mr Asher") == "Tom Asher"
    assert found(directory, "Mr Ridley") == "Tom Ridley"


def test_a_role_that_one_person_has_at_a_time_is_the_last_ones() -> None:
    directory = heard("My boss is Graham Miller.", "My new boss is Petra Klein.")
    assert found(directory, "my boss") == "Petra Klein"
    assert directory.find("/boss", day(0)).name == "Graham Miller"  # type: ignore[union-attr]


def test_a_role_of_several_means_nobody_by_itself() -> None:
    directory = heard("My sister Nora lives in Lyon.", "My sister Kim lives in Rome.")
    assert found(directory, "my sister") is None
    assert found(directory, "Nora") == "Nora"


def test_a_mother_has_one_bearer_under_whatever_names() -> None:
    assert forms(heard("My mother Evelyn paints.", "My mother Eve has a cold.")) == [["/mother", "Eve", "Evelyn"]]


def test_whose_somebody_is_may_be_said_by_name_or_role() -> None:
    directory = heard("My husband Graham is tall.", "Graham's mother Evelyn visits us.")
    assert found(directory, "my husband's mother") == found(directory, "Graham's mother") == "Evelyn"
    assert found(directory, "my mother") is None


def test_roles_of_the_user_by_name_are_their_own() -> None:
    directory = heard("Ada's mother Evelyn paints.", own=frozenset({"Ada"}))
    assert found(directory, "my mother") == "Evelyn"
    assert "Ada" not in [name for entity in directory.entities for name in entity.names]


def test_names_told_together_join_two_who_were_known_apart() -> None:
    told = [("Caz", "/sister"), ("Caroline", "Kim/friend"), ("Caz", "Caroline")]
    directory = resolution.resolve(Introduction(names, day(n)) for n, names in enumerate(told))
    assert forms(directory) == [["/sister", "Caroline", "Caz", "Kim/friend"]]


def test_a_decision_joins_and_another_parts() -> None:
    texts = ("My sister Caz is here.", "My cousin Caroline called.")
    assert len(heard(*texts).entities) == 2
    assert len(heard(*texts, decisions=(same("Caz", "Caroline"),)).entities) == 1
    parted = heard("My boss is Graham Miller.", decisions=(apart("/boss", "Graham Miller"),))
    assert found(parted, "my boss") == "/boss", "somebody who has no name yet"
    assert found(heard("Our neighbour is Tom Asher.", decisions=(apart("Tom", "Tom Asher"),)), "Tom") is None


def test_of_forms_told_together_those_that_were_parted_are_of_different_people() -> None:
    told = [Introduction(("Graham Miller", "Bear", "/boss"), day(0))]
    assert forms(resolution.resolve(told, [apart("Bear", "/boss")])) == [["/boss"], ["Bear", "Graham Miller"]]


def test_many_introductions_are_joined_soon() -> None:
    told = [
        Introduction((f"Tom {chr(65 + n % 26)}{'abcdefghij'[n // 26 % 10]}{'klmno'[n // 260 % 5]}", "/friend"), day(n))
        for n in range(1_300)
    ]
    began = time.monotonic()
    assert len(resolution.resolve(told).entities) <= resolution.MOST
    assert time.monotonic() - began < 5


def test_a_decision_about_a_part_of_a_name_or_a_role_joins_nobody_else() -> None:
    texts = ("My boss is Graham Miller.", "My dentist is Graham Olsen.")
    directory = heard(*texts, decisions=(same("Graham Olsen", "Graham"), same("Graham Olsen", "/neighbour")))
    assert len(directory.entities) == 2
    assert found(directory, "our neighbour") == "Graham Olsen"


def test_names_that_nothing_introduces_may_be_joined_by_hand() -> None:
    assert forms(heard(decisions=(same("Caz", "Caroline"),))) == [["Caroline", "Caz"]]


def test_the_name_shown_is_the_fullest_or_the_one_chosen() -> None:
    told = [Introduction(("my work wife", "Shreya"), day(0)), Introduction(("Shreya", "Shreya Nair"), day(1))]
    assert resolution.resolve(told).entities[0].name == "Shreya Nair"
    assert resolution.resolve(told, [same("Shreya")]).entities[0].name == "Shreya"
    assert Entity.known_as("/mother").name == "/mother"


@pytest.mark.parametrize("order", [1, -1])
def test_what_was_told_first_does_not_depend_on_the_order_of_rows(order: int) -> None:
    told = [Introduction(("Tom", "/brother"), day(0)), Introduction(("Tom", "/boss"), day(1))][::order]
    assert forms(resolution.resolve(told)) == [["/boss", "Tom"], ["/brother", "Tom"]]


def test_a_decision_is_a_plain_tuple() -> None:
    assert same("a", "b") == Decision("a", "b", True, day(99))
