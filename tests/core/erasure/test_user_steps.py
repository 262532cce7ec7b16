from __future__ import annotations

from core.erasure.user_steps import KEPT, STEPS
from core.storage import tables


def test_every_table_of_a_tenant_is_treated_or_says_why_not() -> None:
    treated = {step.table for step in STEPS}
    assert treated | set(KEPT) == {table.name for table in tables.TENANT_TABLES}
    assert not treated & set(KEPT)
