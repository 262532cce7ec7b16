"""mem0's language of filters on memories in its shape."""

from __future__ import annotations

from typing import Any

import pytest

from api.compat import filters
from core.errors import Invalid
from core.types import Json

MEMORY: Json = {
    "id": "m1",
    "memory": "Ada likes Green Tea.",
    "user_id": "ada",
    "agent_id": "chef",
    "app_id": None,
    "run_id": None,
    "categories": ["preference", "health"],
    "created_at": "2026-05-02T10:00:00+00:00",
    "metadata": {"level": 3, "source": "chat", "done": True},
}


@pytest.mark.parametrize(
    "tree",
    [
        {},
        {"user_id": "ada"},
        {"user_id": "*"},
        {"user_id": {"in": ["bob", "ada"]}},
        {"user_id": ["bob", "ada"]},
        {"AND": [{"user_id": "ada"}, {"agent_id": "chef"}]},
        {"OR": [{"user_id": "bob"}, {"categories": {"contains": "health"}}]},
        {"NOT": [{"user_id": "bob"}, {"run_id": "*"}]},
        {"NOT": {"app_id": "*"}},
        {"created_at": {"gte": "2026-05-01", "lt": "2026-06-01"}},
        {"created_at": {"gt": 1_700_000_000}},
        {"categories": {"in": ["work", "health"]}},
        {"categories": {"ne": "work"}},
        {"keywords": {"icontains": "green tea"}},
        {"metadata": {"level": {"gte": 3}, "source": "chat"}},
        {"level": {"lt": 4}},
        {"metadata.source": {"ne": "mail"}},
        {"done": True},
        {"app_id": {"ne": "x"}},
    ],
)
def test_what_fits_passes(tree: Any) -> None:
    filters.require_valid(tree)
    assert filters.matches(tree, MEMORY)


@pytest.mark.parametrize(
    "tree",
    [
        {"user_id": "bob"},
        {"run_id": "*"},
        {"AND": [{"user_id": "ada"}, {"agent_id": "cook"}]},
        {"OR": [{"user_id": "bob"}, {"user_id": "eve"}]},
        {"NOT": [{"user_id": "bob"}, {"agent_id": "chef"}]},
        {"created_at": {"gte": "2026-06-01"}},
        {"created_at": {"gte": "some day"}},
        {"keywords": {"contains": "green tea"}},
        {"metadata": {"level": {"gte": 3}, "source": "mail"}},
        {"level": {"gt": "many"}},
        {"done": 1},
        {"categories": {"ne": "health"}},
    ],
)
def test_what_does_not_fit_is_left_out(tree: Any) -> None:
    filters.require_valid(tree)
    assert not filters.matches(tree, MEMORY)


def test_a_filter_that_cannot_be_read_is_refused_with_the_place() -> None:
    with pytest.raises(Invalid) as refused:
        filters.require_valid({"AND": [{"user_id": {"like": "a"}}, "b"]})
    assert [one.pointer for one in refused.value.problems] == ["/filters/AND/0/user_id", "/filters/AND/1"]


def test_a_deep_or_long_filter_is_refused() -> None:
    deep: Json = {"user_id": "ada"}
    for _ in range(50):
        deep = {"AND": [deep]}
    for tree in (deep, {"OR": [{"user_id": str(n)} for n in range(200)]}):
        with pytest.raises(Invalid):
            filters.require_valid(tree)


@pytest.mark.parametrize(
    ("tree", "owners"),
    [
        ({"user_id": "ada"}, {"ada"}),
        ({"AND": [{"user_id": "ada"}, {"level": 3}]}, {"ada"}),
        ({"OR": [{"user_id": "ada"}, {"user_id": "bob"}]}, {"ada", "bob"}),
        ({"AND": [{"user_id": ["ada", "bob"]}, {"user_id": "bob"}]}, {"bob"}),
        ({"OR": [{"user_id": "ada"}, {"agent_id": "chef"}]}, None),
        ({"NOT": [{"user_id": "ada"}]}, None),
        ({"user_id": {"ne": "ada"}}, None),
        ({"user_id": "*"}, None),
    ],
)
def test_a_filter_tells_whose_memories_can_fit(tree: Any, owners: set[str] | None) -> None:
    assert filters.owners_of(tree) == owners


def test_the_owners_that_a_filter_names_stand_for_their_entities() -> None:
    tree = {"OR": [{"agent_id": "chef"}, {"NOT": {"user_id": "ada"}}, {"run_id": "*"}]}
    assert filters.named_owners(tree) == ["mem0:agent:chef", "ada"]


def test_the_ids_that_a_filter_demands_are_those_of_what_is_added() -> None:
    tree = {"AND": [{"user_id": "ada"}, {"run_id": "r1"}], "OR": [{"agent_id": "chef"}]}
    assert filters.scope_of(tree).named == {"user_id": "ada", "run_id": "r1"}


def test_a_list_within_a_condition_names_owners_too() -> None:
    assert filters.named_owners({"AND": [{}, [{"user_id": "ada"}, {"agent_id": "chef"}]]}) == ["ada", "mem0:agent:chef"]


@pytest.mark.parametrize(
    ("tree", "demanded"),
    [
        ({"user_id": "ada", "trip": "asia"}, {"trip": ["asia"]}),
        (
            {"AND": [{"metadata": {"trip": {"in": ["asia", 7]}}}, {"metadata.day": 3}]},
            {"trip": ["asia", 7], "day": [3]},
        ),
        ({"OR": [{"trip": "asia"}]}, {}),
        ({"NOT": [{"trip": "asia"}]}, {}),
        ({"trip": "*", "day": {"gte": 3}, "at": None, "keywords": "tea", "of": {"a": 1}, "nul": "\0"}, {}),
        ({f"f{n}": n for n in range(20)}, {f"f{n}": [n] for n in range(10)}),
    ],
)
def test_values_that_metadata_must_have_are_told_from_others(tree: Any, demanded: Any) -> None:
    assert filters.metadata_of(tree) == demanded
