"""The lines of a profile keep their place, and nothing that holds no longer keeps a line."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.context import profile_lines
from core.context.profile_lines import ProfileLine, Value
from core.types import Category, Json, Topic, Trust

PROFILE: Json = {
    "slots": {
        "home.city": {"value": "Lisbon", "memories": ["1"]},
        "job": {"value": "baker", "memories": ["2"], "disputed": True},
    },
    "lists": {
        "allergy": [{"value": "peanuts", "memories": ["3"]}, {"value": "milk", "negated": True, "memories": ["4"]}]
    },
    "preferences": [{"content": "Ada prefers tea.", "memories": ["5"]}],
    "topics": {"work": [{"content": "Ada bakes.", "memories": ["6"]}]},
}


def written(lines: list[ProfileLine]) -> list[str]:
    return [line.piece().text for line in lines]


def test_a_profile_is_written_line_by_line_and_names_its_memories() -> None:
    lines = list(profile_lines.lines(PROFILE))
    assert written(lines) == ["- home.city: Lisbon", "- allergy: peanuts, not milk", "- Ada prefers tea."]
    assert [line.piece().source["memories"] for line in lines] == [["1"], ["3", "4"], ["5"]]


@pytest.mark.parametrize(
    ("gone", "left"),
    [
        ("1", ["- allergy: peanuts, not milk", "- Ada prefers tea."]),
        ("3", ["- home.city: Lisbon", "- allergy: not milk", "- Ada prefers tea."]),
        ("5", ["- home.city: Lisbon", "- allergy: peanuts, not milk"]),
    ],
)
def test_what_rests_on_nothing_any_longer_is_not_written(gone: str, left: list[str]) -> None:
    assert written(list(profile_lines.lines(PROFILE, {gone}))) == left


def test_a_statement_that_is_denied_is_not_written() -> None:
    denied = {"preferences": [{"content": "Ada prefers tea.", "memories": ["5"], "disputed": True}]}
    assert list(profile_lines.lines(denied)) == []


def test_a_value_that_comes_later_stands_in_a_line_of_its_own() -> None:
    known = [ProfileLine("lists.likes", (Value("chess", ("2",)), Value("tea", ("1",))))]
    old, new = profile_lines.split_lines(known, ["1"])
    assert written(old) == ["- likes: tea"]
    assert written(new) == ["- likes: chess"]


def test_lines_keep_their_order_whichever_became_stronger() -> None:
    known = [
        ProfileLine("preferences.2", (Value("Ada prefers tea.", ("2",)),)),
        ProfileLine("habits.1", (Value("Ada runs.", ("1",)),)),
    ]
    assert written(profile_lines.split_lines(known, ["1", "2"])[0]) == ["- Ada runs.", "- Ada prefers tea."]


def row(**fields: Any) -> Any:
    plain = {"id": UUID(int=1), "content": "Ada runs.", "trust": Trust.CONFIRMED, "attribute": None, "value": None}
    return SimpleNamespace(**{**plain, "structured": {}, "category": Category.PATTERN, "topic": Topic.WORK, **fields})


def test_a_statement_that_others_outgrew_is_still_one() -> None:
    line = profile_lines.displaced_line(row())
    assert line is not None
    assert line.piece().text == "- Ada runs."


@pytest.mark.parametrize(
    "fields",
    [
        {"trust": Trust.DISPUTED},
        {"attribute": "sport", "value": "running"},
        {"structured": {"attribute": "likes", "values": ["running"]}},
        {"category": Category.FACT},
    ],
)
def test_what_is_no_statement_of_a_profile_is_not_taken_for_one(fields: dict[str, Any]) -> None:
    assert profile_lines.displaced_line(row(**fields)) is None


memories = st.lists(st.sampled_from("123456789"), min_size=1, max_size=3, unique=True).map(tuple)
values = st.lists(st.builds(Value, st.sampled_from(["tea", "茶", "chess", "rye"]), memories), min_size=1, max_size=4)
profiles = st.lists(
    st.builds(ProfileLine, st.sampled_from(["slots.a", "lists.b", "habits.c"]), values.map(tuple)),
    max_size=3,
    unique_by=lambda line: line.name,
)


@given(profiles)
def test_what_was_laid_out_once_is_laid_out_the_same_again(known: list[ProfileLine]) -> None:
    order = profile_lines.order(known)
    first, rest = profile_lines.split_lines(known, order)
    assert not rest
    assert profile_lines.split_lines(list(reversed(known)), order) == (first, [])


@given(profiles, st.lists(st.sampled_from("123456789"), unique=True))
def test_every_value_is_in_an_old_line_or_in_a_new_one_and_in_one_alone(
    known: list[ProfileLine], before: list[str]
) -> None:
    old, new = profile_lines.split_lines(known, before)

    def said(lines: list[ProfileLine]) -> list[tuple[str, Value]]:
        return sorted(((line.name, value) for line in lines for value in line.values), key=str)

    assert said([*old, *new]) == said(known)
    assert all(set(before) & set(value.memories) for _, value in said(old))
    assert not any(set(before) & set(value.memories) for _, value in said(new))
