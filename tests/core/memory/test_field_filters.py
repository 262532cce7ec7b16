"""Filters by fields of JSON, as PostgreSQL evaluates them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import text

from core.memory import field_filters
from core.storage.db import Database
from core.types import Json
from tests.samples import TENANT

DATA: Json = {
    "project": "atlas",
    "seats": 4,
    "trial": False,
    "closed": None,
    "stages": ["draft", "review"],
    "customer": {"tier": "gold", "seats": 4},
    "langchain.run": "r1",
}


@pytest.mark.parametrize(
    ("fields", "holds"),
    [
        ({"project": "atlas"}, True),
        ({"project": "Atlas"}, False),
        ({"project": ["borealis", "atlas"]}, True),
        ({"project": ["borealis"]}, False),
        ({"project": "atlas", "seats": 4}, True),
        ({"project": "atlas", "seats": 5}, False),
        ({"seats": 4.0}, True),
        ({"seats": "4"}, False),
        ({"trial": False}, True),
        ({"trial": 0}, False),
        ({"closed": None}, True),
        ({"missing": None}, False),
        ({"stages": "review"}, True),
        ({"stages": ["final", "draft"]}, True),
        ({"stages": "final"}, False),
        ({"customer.tier": "gold"}, True),
        ({"customer.tier": ["silver", "bronze"]}, False),
        ({"customer": {"tier": "gold"}}, True),
        ({"customer.missing": "gold"}, False),
        ({"langchain.run": "r1"}, True),
        ({"project.name": "atlas"}, False),
    ],
)
def test_a_field_matches_by_equality_or_by_one_of_several_values(
    app: Database, fields: dict[str, Any], *, holds: bool
) -> None:
    statement = text(f"SELECT {field_filters.condition('wanted', 'cast(:data AS jsonb)')}")
    values = {"wanted": field_filters.demands(fields), "data": json.dumps(DATA)}
    with app.tenant(TENANT) as tx:
        assert tx.execute(statement, values).scalar_one() is holds


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({}, "names 0 fields; name 1 to 10"),
        ({f"f{n}": 1 for n in range(11)}, "names 11 fields; name 1 to 10"),
        ({"a.b.c": 1}, "names the field 'a.b.c'; send"),
        ({".a": 1}, "names the field '.a'"),
        ({"": 1}, "names the field ''"),
        ({"a": []}, "has 0 values for 'a'; send 1 to 50"),
        ({"a": list(range(51))}, "has 51 values for 'a'"),
        ({"a": list(range(50)), "b.c": None}, None),
    ],
)
def test_a_filter_is_bounded_and_says_what_is_wrong(fields: dict[str, Any], says: str | None) -> None:
    fault = field_filters.fault(fields)
    assert fault is None if says is None else fault is not None and fault.startswith(says)
