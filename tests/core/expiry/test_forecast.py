"""What would leave is counted by the conditions by which it leaves."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.expiry import forecast
from core.storage.db import Database
from core.tenancy.retention import Retention
from tests.core.expiry.sweeping import choose, swept
from tests.samples import TENANT, accept_all, ended, event, said
from tests.works import Works


def ago(days: float) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).isoformat()


def counted(app: Database, **days: Any) -> Counter[str]:
    with app.tenant(TENANT) as tx:
        return +Counter(forecast.count_due(tx, Retention(**days)))


@pytest.mark.parametrize(
    "days",
    [
        {},
        {"messages_days": 2},
        {"messages_days": 5},
        {"tool_results_days": 2},
        {"sessions_days": 0},
        {"sessions_days": 5, "messages_days": 2},
    ],
)
def test_as_much_leaves_as_was_counted(app: Database, works: Works, days: dict[str, int]) -> None:
    for session, age in (("open", 4), ("ended", 4), ("old", 9), ("own", 4)):
        owned = {"session_id": session, "user_id": "ada"}
        found = owned | {"content": "found it", "tool_name": "web"}
        start = owned | ({"keep_days": 0} if session == "own" else {})
        accept_all(
            app,
            [
                event("session.started", start, time=ago(age)),
                said("hello", session=session, time=ago(age)),
                event("tool.result.added", found, time=ago(age)),
                said("and now?", session=session, time=ago(0.01 if session == "open" else age)),
                *([] if session == "open" else [ended(session, time=ago(age))]),
            ],
        )
    works.settle()
    before = counted(app, **days)
    choose(app, **days)
    left = swept(app)
    assert {kind: left[kind] for kind in before} == dict(before)
    assert set(left) == set(before)
    assert counted(app, **days) == {}


def test_counting_ends_where_nobody_needs_to_know_more(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    accept_all(app, [said("hello", session=f"s{n}", time=ago(9)) for n in range(5)])
    monkeypatch.setattr(forecast, "MOST", 3)
    assert counted(app, messages_days=2) == Counter(messages=3)
