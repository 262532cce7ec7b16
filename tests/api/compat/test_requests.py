"""Requests as mem0's clients of several versions send them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from api.compat.requests import AddRequest, EntityRequest, FindRequest, ListRequest
from core.errors import Invalid
from core.types import Json


def test_messages_may_be_a_text_or_one_message() -> None:
    for said in ("Hi.", {"role": "user", "content": "Hi."}):
        asked = AddRequest.model_validate({"messages": said, "org_id": "ignored"})
        assert asked.messages == [{"role": "user", "content": "Hi."}]
    with pytest.raises(ValidationError):
        AddRequest.model_validate({"messages": []})


def test_ids_are_read_at_the_top_and_from_filters_the_top_first() -> None:
    asked = EntityRequest.model_validate({"user_id": "ada", "filters": {"user_id": "bob", "run_id": "r"}})
    assert asked.scope.named == {"user_id": "ada", "run_id": "r"}


@pytest.mark.parametrize("filters", [{}, [], {"metadata": {"a": 1}}, {"OR": [{"created_at": {"gt": "2026-01-01"}}]}])
def test_a_list_must_say_whose_memories(filters: object) -> None:
    with pytest.raises(Invalid):
        _ = ListRequest.model_validate({"filters": filters}).tree


def test_conditions_with_fields_of_their_own_join_the_filter() -> None:
    asked = FindRequest.model_validate(
        {"query": "x", "limit": 3, "filters": {"user_id": "*"}, "categories": ["health"], "start_date": "2026-01-01"}
    )
    assert asked.top_k == 3
    assert "'in': ['health']" in str(asked.tree)
    assert "'gte': '2026-01-01'" in str(asked.tree)


def test_a_deep_filter_is_refused_wherever_it_is_read() -> None:
    deep: Json = {"user_id": "ada"}
    for _ in range(200):
        deep = {"AND": deep}
    for asked in (EntityRequest.model_validate({"filters": deep}), ListRequest.model_validate({"filters": deep})):
        with pytest.raises(Invalid):
            _ = asked.scope
        with pytest.raises(Invalid):
            _ = asked.tree
