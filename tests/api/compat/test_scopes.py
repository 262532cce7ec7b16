"""The four ids of mem0, and the user to whom memories belong."""

from __future__ import annotations

from typing import Any

import pytest

from api.compat import scopes
from core.errors import Invalid


@pytest.mark.parametrize(
    ("given", "owner"),
    [
        ({"user_id": "ada", "agent_id": "chef"}, "ada"),
        ({"agent_id": "chef", "run_id": "r"}, "mem0:agent:chef"),
        ({"app_id": "shop", "run_id": "r"}, "mem0:app:shop"),
        ({"run_id": "r/1"}, "mem0:run:r/1"),
        ({"user_id": 7}, "7"),
    ],
)
def test_the_first_id_owns_and_reads_back(given: dict[str, Any], owner: str) -> None:
    assert scopes.of(given).owner == owner
    entity, name = scopes.entity_of(owner)
    assert str(given[entity]) == name


@pytest.mark.parametrize(
    "given", [{"user_id": ""}, {"user_id": "a/b"}, {"user_id": "mem0:agent:x"}, {"agent_id": "x" * 200}, {"app_id": []}]
)
def test_ids_that_cannot_be_kept_are_refused_by_name(given: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as refused:
        scopes.of(given)
    assert refused.value.problems[0].pointer == f"/{next(iter(given))}"


def test_nobody_owns_what_names_nobody() -> None:
    with pytest.raises(Invalid):
        _ = scopes.of({}).owner
