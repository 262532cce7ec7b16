from __future__ import annotations

from typing import Any

import pytest

from api.http.search.request import SearchRequest, may_ask_outside, problems


def asked(**fields: Any) -> SearchRequest:
    return SearchRequest(**{"user_id": "ada", "query": "tea", **fields})


@pytest.mark.parametrize(
    ("fields", "pointers"),
    [
        ({"include": ["memories", "outside"]}, []),
        ({"include": ["outside"]}, ["/include"]),
        ({"include": ["memories", "outside"], "tags": ["a"]}, ["/include"]),
        ({"include": ["memories", "outside"], "tags": []}, []),
        ({"include": ["memories", "outside"], "user_id": None, "user_ids": ["ada"]}, ["/include"]),
        ({"include": []}, ["/include"]),
        ({"include": ["messages"], "tags": ["a"]}, ["/tags"]),
    ],
)
def test_what_does_not_go_together_is_named(fields: Any, pointers: list[str]) -> None:
    assert [problem.pointer for problem in problems(asked(**fields))] == pointers


def test_retrievers_are_left_out_where_they_could_not_keep_a_filter() -> None:
    assert may_ask_outside(asked())
    assert not may_ask_outside(asked(min_importance=0.5))
    assert not may_ask_outside(asked(after="x"))
