"""Lists that are read whole are cut behind a name."""

from __future__ import annotations

from operator import itemgetter

import pytest

from api.ingress import paging
from core.errors import Invalid
from core.types import Json

NAMED = [{"name": name, "size": len(name)} for name in ("a", "bb", "ccc")]


def page(after: str | None, limit: int) -> Json:
    return paging.cut(NAMED, itemgetter("size"), itemgetter("name"), after, limit)


def test_a_page_says_where_the_next_one_begins_and_the_last_that_it_is_the_last() -> None:
    assert page(None, 2) == {"items": [1, 2], "next": "bb"}
    assert page("bb", 2) == {"items": [3], "next": None}
    assert page(None, 3) == {"items": [1, 2, 3], "next": None}


def test_behind_the_last_there_is_nothing() -> None:
    assert page("ccc", 5) == {"items": [], "next": None}
    assert paging.cut([], str, str, None, 5) == {"items": [], "next": None}


def test_a_name_that_is_gone_is_refused_with_what_to_do() -> None:
    with pytest.raises(Invalid) as refused:
        page("zz", 2)
    assert [(one.pointer, "begin anew" in one.detail) for one in refused.value.problems] == [("/after", True)]


def test_a_name_of_another_type_is_found_by_how_it_is_written() -> None:
    assert paging.cut([7, 8], str, int, "7", 5) == {"items": ["8"], "next": None}
