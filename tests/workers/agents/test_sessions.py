from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from core.config import Settings
from core.maintenance import sweeps
from core.sessions import sessions, working_memory
from core.storage.db import Database
from rules.registry import defaults
from tests.core.erasing import rows
from tests.samples import TENANT, accept, accept_all, event, said
from tests.workers.running import run
from tests.works import Works, at_work

NOW = datetime.now(UTC)
LONG_AGO = (NOW - timedelta(days=2)).isoformat()
ENDS = "SELECT payload FROM events WHERE event_type = 'session.ended' ORDER BY seq"


def test_all_idle_sessions_end_page_by_page_and_each_once(
    settings: Settings, app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept_all(app, [said("x", session=f"s{n}", time=LONG_AGO) for n in range(7)])
    accept(app, said("y", session="lively", time=NOW.isoformat()))
    monkeypatch.setattr(sweeps, "PAGE", 3)
    with at_work(settings) as works:
        results = run(app, works, "session_closer")
        assert [result["closed"] for result in results] == [3, 3, 1]
        assert run(app, works, "session_closer")[-1]["closed"] == 0
    assert sorted(row.payload["session_id"] for row in rows(app, ENDS)) == [f"s{n}" for n in range(7)]
    with app.tenant(TENANT) as tx:
        assert sessions.get(tx, "lively").ended_at is None


def test_the_silence_that_counts_is_the_one_that_is_set(settings: Settings, app: Database) -> None:
    accept(app, said("x", time=LONG_AGO))
    with at_work(settings.model_copy(update={"session_idle_seconds": 3 * 86_400})) as works:
        assert run(app, works, "session_closer") == [{"closed": 0, "swept": 0}]
    with at_work(settings.model_copy(update={"session_idle_seconds": 86_400})) as works:
        assert run(app, works, "session_closer")[-1] == {"closed": 1, "swept": 0}


def test_expired_working_memory_is_swept_page_by_page(
    settings: Settings, app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept(app, said("x", time=NOW.isoformat()))
    with app.tenant(TENANT) as tx:
        for n in range(5):
            working_memory.put(tx, TENANT, "s1", f"k{n}", n, 60)
        working_memory.put(tx, TENANT, "s1", "stays", 1)
        tx.execute(text("UPDATE working SET expires_at = expires_at - interval '61 s'"))
    monkeypatch.setattr(sweeps, "PAGE", 2)
    with at_work(settings) as works:
        assert [result["swept"] for result in run(app, works, "session_closer")] == [2, 2, 1]
    assert [row.key for row in rows(app, "SELECT key FROM working")] == ["stays"]


def test_what_waits_for_the_end_of_a_session_follows_from_its_silence(app: Database, works: Works) -> None:
    accept_all(app, [said(line, time=LONG_AGO) for line in ("I live in Lisbon.", "I work at Nokia.", "I play chess.")])
    run(app, works, "session_closer")
    (end,) = rows(app, ENDS)
    assert end.payload == {"session_id": "s1", "user_id": "ada", "message_count": 3, "reason": "idle"}
    done = "SELECT d.status FROM dispatches d WHERE d.target = 'memory_consolidator'"
    assert [row.status for row in rows(app, done)] == ["done"]
    assert rows(app, "SELECT FROM memories WHERE value = 'Lisbon'")


def test_what_a_tool_answers_is_put_into_the_search_index(app: Database, works: Works) -> None:
    payload = {"session_id": "s1", "user_id": "ada", "content": "It rains in Lisbon.", "message_id": "t1"}
    accept(app, event("tool.result.added", payload))
    works.settle()
    (row,) = rows(app, "SELECT ref, embedding IS NOT NULL AS has_vector FROM search_index")
    assert (row.ref, row.has_vector) == ("t1", True)
    assert rows(app, "SELECT FROM memories") == []


def test_the_default_rule_runs_it_on_a_schedule() -> None:
    (rule,) = [one for one in defaults.load() if one["name"] == "close_idle_sessions"]
    assert rule["schedule"] == {"every_seconds": 600}
    assert [action["target"] for action in rule["actions"]] == ["session_closer"]
