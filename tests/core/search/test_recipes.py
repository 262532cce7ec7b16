from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from core.search import recipes
from core.search.recipes import DEFAULT, RECIPES, Recipe


def test_every_name_has_its_recipe_and_the_first_changes_nothing() -> None:
    assert list(RECIPES) == list(get_args(recipes.Name))
    assert next(iter(RECIPES.values())) is DEFAULT
    assert Recipe("default", DEFAULT.meaning) == DEFAULT
    assert len({recipe.meaning for recipe in RECIPES.values()}) == len(RECIPES) <= 10


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_the_numbers_of_a_recipe_make_sense(recipe: Recipe) -> None:
    assert 1 <= recipe.limit <= 200
    assert recipe.half_life_days > 0
    assert 0 <= recipe.diversity <= 1
    assert min(recipe.recency, recipe.association) >= 0
    assert min(recipe.lexical, recipe.vector) > 0
    assert recipe.min_similarity is None or -1 <= recipe.min_similarity <= 1
    assert recipe.include
    assert json.loads(json.dumps(recipe.as_json()))["name"] == recipe.name


@pytest.mark.parametrize("name", RECIPES)
def test_each_recipe_is_explained(root: Path, name: str) -> None:
    assert f"| `{name}` |" in (root / "docs/retrieval.md").read_text()


def test_each_recipe_but_the_first_changes_something() -> None:
    plain = DEFAULT.as_json()
    for recipe in list(RECIPES.values())[1:]:
        numbers = recipe.as_json()
        assert {name for name in plain if plain[name] != numbers[name]} > {"name", "meaning"}
