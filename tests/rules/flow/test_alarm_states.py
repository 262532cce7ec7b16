"""Alarms as they stand, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import text

from core.storage.db import Database
from rules.flow import alarm_states
from rules.flow.alarm_states import AlarmState
from tests.samples import TENANT

FILL = """
    INSERT INTO alarms (tenant_id, rule, key, for_each, version, raised_at, looked_at, counts)
    SELECT tenant, rule, key, for_each, 1, CASE WHEN raised THEN now() END, now(), '{"n": null}'
    FROM (VALUES (:tenant, 'a', '', 'tenant', true), (:tenant, 'b', '', 'source', false),
                 (:tenant, 'b', 'mail/x', 'source', true), (:tenant, 'b', 'post', 'source', true))
         AS r (tenant, rule, key, for_each, raised)
"""


@pytest.fixture
def filled(app: Database) -> Database:
    for tenant in (TENANT, "other"):
        with app.tenant(tenant) as tx:
            tx.execute(text(FILL), {"tenant": tenant})
    return app


def states(app: Database, **criteria: Any) -> Sequence[AlarmState]:
    with app.tenant(TENANT) as tx:
        return alarm_states.of_tenant(tx, **{"raised": False, "rule": None, "after": None, "limit": 10} | criteria)


def named(page: Sequence[AlarmState]) -> list[tuple[str, str | None]]:
    return [(state.rule, state.key) for state in page]


def test_a_tenant_sees_its_own_by_rule_and_key(filled: Database) -> None:
    assert named(states(filled)) == [("a", None), ("b", None), ("b", "mail/x"), ("b", "post")]
    assert states(filled)[0].counts == {"n": None}


def test_only_raised_ones_or_those_of_a_rule_are_listed_on_request(filled: Database) -> None:
    assert named(states(filled, raised=True)) == [("a", None), ("b", "mail/x"), ("b", "post")]
    assert named(states(filled, rule="a")) == [("a", None)]


def test_pages_follow_each_other_without_gap_or_repetition(filled: Database) -> None:
    seen, after = list[AlarmState](), None
    while page := states(filled, after=after, limit=1):
        seen += page
        after = page[0].cursor
    assert seen == states(filled)
