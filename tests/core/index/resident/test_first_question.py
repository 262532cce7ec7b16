from __future__ import annotations

import pytest

from core.search.recipes import RECIPES
from core.storage.db import Database
from tests.core.index.resident.answers import FILTERS, everything, lived
from tests.core.index.resident.kept import cold
from tests.works import Works


@pytest.fixture
def ada(app: Database, works: Works) -> Database:
    return lived(app, works)


@pytest.mark.parametrize("recipe", ["default", "precise", "associative", "chat", "profile", "even_blend"])
def test_the_first_answer_is_the_same_as_later_ones(ada: Database, recipe: str) -> None:
    # A blend ranks no messages, and needs vectors.
    blends = RECIPES[recipe].formula is not None
    wanted = [one for one in FILTERS if not blends or ("include" not in one and one.get("method") != "keyword")]
    warm = [everything(ada, recipe, asked) for asked in wanted]  # Of rows that came one after the other.
    for asked, (results, considered) in zip(wanted, warm, strict=True):
        cold(ada)
        first = everything(ada, recipe, asked)
        assert sorted(map(str, first[0])) == sorted(map(str, results)), asked
        assert first[1] == considered, asked
        assert everything(ada, recipe, asked) == first, asked
    assert sum(len(results) for results, _ in warm) > 20
