"""Each scope of erasing accounts for every table of a tenant."""

from __future__ import annotations

import pytest

from core.erasure.steps import SCOPES, STEPS, UNTOUCHED, UNTOUCHED_BY_SCOPE, ErasurePart
from core.storage import tables


@pytest.mark.parametrize("scope", SCOPES)
def test_every_table_of_a_tenant_is_treated_or_says_why_not(scope: str) -> None:
    treated = {step.table for step in STEPS if step.part in SCOPES[scope]}
    excused = {**UNTOUCHED, **UNTOUCHED_BY_SCOPE[scope]}
    assert treated | set(excused) == {table.name for table in tables.TENANT_TABLES}
    assert not treated & set(excused)
    assert not set(UNTOUCHED) & set(UNTOUCHED_BY_SCOPE[scope])


def test_no_table_without_a_step_has_one_in_some_part() -> None:
    assert not {step.table for step in STEPS} & set(UNTOUCHED)


def test_every_part_belongs_to_a_scope() -> None:
    assert {part for parts in SCOPES.values() for part in parts} == set(ErasurePart)


def test_every_table_with_a_session_in_it_is_treated_with_a_session() -> None:
    treated = {step.table for step in STEPS if step.part in SCOPES["session"]}
    assert {table.name for table in tables.TENANT_TABLES if "session_id" in table.c} <= treated
