"""The times for which a tenant keeps what do not contradict each other."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import Invalid
from core.storage.db import Database
from core.tenancy import retention
from core.tenancy.retention import Retention
from tests.samples import TENANT


def test_nothing_is_chosen_until_it_is_and_then_all_of_it(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        assert retention.get(tx, TENANT) == Retention()
        retention.put(tx, TENANT, Retention(messages_days=30, quotes="drop"))
        retention.put(tx, TENANT, Retention(events_days=90))
        assert retention.get(tx, TENANT) == Retention(events_days=90)
    with app.tenant("other") as tx:
        assert retention.get(tx, "other") == Retention()


def test_what_has_no_time_of_its_own_goes_by_that_which_it_belongs_to() -> None:
    assert Retention(messages_days=30).tools_days == 30
    assert Retention(messages_days=30, tool_results_days=7).tools_days == 7
    assert Retention(events_days=30).traces_days == 30
    assert Retention(events_days=30, dispatches_days=7).traces_days == 7
    assert Retention(dispatches_days=7).traces_days == 7


@pytest.mark.parametrize(
    ("days", "pointers"),
    [
        ({"messages_days": 1, "tool_results_days": 2}, ["/tool_results_days"]),
        ({"events_days": 7, "dispatches_days": 8, "dead_letters_days": 7}, ["/dispatches_days", "/dispatches_days"]),
        ({"tool_results_days": 2, "dispatches_days": 300, "sessions_days": 0}, []),
    ],
)
def test_a_time_that_another_makes_pointless_is_refused(days: dict[str, Any], pointers: list[str]) -> None:
    found: list[str] = []
    try:
        retention.check(Retention(**days))
    except Invalid as refused:
        found = [problem.pointer for problem in refused.problems]
    assert found == pointers
