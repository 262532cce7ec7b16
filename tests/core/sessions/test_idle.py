from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread

import pytest
from sqlalchemy import text

from core.config import Settings
from core.sessions import idle, sessions, transcripts, working_memory
from core.sessions.sessions import Session
from core.sessions.transcripts import SessionFilter
from core.storage.db import Database
from core.types import Event
from tests import databases
from tests.core.erasing import rows
from tests.doors import OTHER, key_of
from tests.samples import TENANT, accept, accept_all, ended, event, said

DAY = 86_400
NOW = datetime.now(UTC)


def ago(**span: float) -> str:
    return (NOW - timedelta(**span)).isoformat()


def close(app: Database, page: int = 100, tenant: str = TENANT) -> int:
    with app.tenant(tenant) as tx:
        return idle.end_idle(tx, tenant, DAY, page)


def stands(app: Database, session: str = "s1") -> Session:
    with app.tenant(TENANT) as tx:
        return sessions.get(tx, session)


def told(app: Database) -> list[Event]:
    query = "SELECT id, payload, subject, source FROM events WHERE source = 'imprint' ORDER BY seq"
    return rows(app, query)


def test_a_session_nobody_ended_ends_after_its_silence_and_says_so_once(app: Database) -> None:
    accept_all(app, [said(f"line {n}", time=ago(days=2)) for n in range(3)])
    assert [close(app) for _ in range(3)] == [1, 0, 0]
    assert stands(app).ended_at == stands(app).last_at
    (one,) = told(app)
    assert one.payload == {"session_id": "s1", "user_id": "ada", "message_count": 3, "reason": "idle"}
    assert one.subject == "session:s1"


@pytest.mark.parametrize(
    "last",
    [said("hi", time=ago(hours=12)), said("from the future", time="2999-01-01T00:00:00Z"), ended(time=ago(days=1.5))],
)
def test_what_is_not_idle_or_has_ended_is_left_alone(app: Database, last: dict[str, object]) -> None:
    accept(app, said("hello", time=ago(days=3)), last)
    before = stands(app)
    assert close(app) == 0
    assert (stands(app), told(app)) == (before, [])


def test_a_session_that_goes_on_can_fall_silent_again(app: Database) -> None:
    accept(app, said("hello", time=ago(days=9)))
    close(app)
    accept(app, said("again", time=ago(days=5)))
    assert stands(app).ended_at is None
    assert [close(app), close(app)] == [1, 0]
    accept(app, event("session.started", {"session_id": "s1", "user_id": "ada"}, time=ago(days=4)))
    assert [close(app), close(app)] == [1, 0]
    assert [one.payload["message_count"] for one in told(app)] == [1, 2, 2]


def test_what_comes_late_after_the_silence_is_not_forgotten(app: Database) -> None:
    """Its time lies at the end itself, so the session opens; the silence is another one, for there is one more."""
    accept(app, said("hello", time=ago(days=9)))
    close(app)
    accept(app, said("of the same second", time=ago(days=9)))
    assert close(app) == 1
    assert [one.payload["message_count"] for one in told(app)] == [1, 2]


def test_one_silence_is_told_once_even_where_the_end_is_taken_back(app: Database) -> None:
    accept(app, said("hello", time=ago(days=9)))
    close(app)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE sessions SET ended_at = NULL"))
    assert [close(app), close(app)] == [1, 0]
    assert len(told(app)) == 1


def test_pages_begin_with_the_longest_silence(app: Database) -> None:
    accept_all(app, [said("x", session=f"s{n}", time=ago(days=2 + n)) for n in range(7)])
    assert [close(app, page=3) for _ in range(4)] == [3, 3, 1, 0]
    assert len({one.id for one in told(app)}) == 7
    assert [one.payload["session_id"] for one in told(app)][-1] == "s0"


def test_working_memory_goes_with_the_silence(app: Database) -> None:
    accept(app, said("x", time=ago(days=2)), said("y", session="s2", time=ago(hours=1)))
    with app.tenant(TENANT) as tx:
        for session in ("s1", "s2"):
            working_memory.put(tx, TENANT, session, "k", 1)
    close(app)
    with app.tenant(TENANT) as tx:
        assert (working_memory.of_session(tx, "s1")[0], len(working_memory.of_session(tx, "s2")[0])) == ([], 1)


def test_two_who_close_at_once_end_each_session_once(app: Database) -> None:
    accept_all(app, [said("x", session=f"s{n}", time=ago(days=2)) for n in range(40)])
    counts: list[int] = []
    barrier = Barrier(3)

    def work() -> None:
        barrier.wait()
        while count := close(app, page=5):
            counts.append(count)

    threads = [Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    while count := close(app, page=5):
        counts.append(count)
    assert (sum(counts), len(told(app))) == (40, 40)


def test_who_is_adding_to_a_session_is_not_waited_for(app: Database) -> None:
    accept(app, said("x", time=ago(days=2)))
    with app.tenant(TENANT) as tx:
        tx.execute(text("SELECT FROM sessions FOR UPDATE"))
        assert close(app) == 0
    assert close(app) == 1


def test_the_name_of_who_was_erased_is_not_told(app: Database) -> None:
    accept(app, said("x", time=ago(days=2)))
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE sessions SET user_id = NULL"))
    close(app)
    assert "user_id" not in told(app)[0].payload


def test_each_tenant_closes_its_own(app: Database, settings: object) -> None:
    key_of(settings, OTHER)  # type: ignore[arg-type]
    for tenant in (TENANT, OTHER):
        accept(app, said("x", time=ago(days=2)), tenant=tenant)
    assert (close(app, tenant=OTHER), len(told(app))) == (1, 0)
    assert close(app) == 1


def test_open_and_ended_sessions_are_listed_apart_and_page_by_page(app: Database) -> None:
    accept_all(
        app, [said("x", session=f"s{n}", time=ago(days=n % 3), group_id="g" if n % 2 else None) for n in range(9)]
    )
    accept(app, said("y", session="other", user="bob", time=ago(hours=1)))
    close(app)
    with app.tenant(TENANT) as tx:
        every = transcripts.find(tx, SessionFilter())
        assert [s.last_at for s in every] == sorted((s.last_at for s in every), reverse=True)
        opened, closed = (transcripts.find(tx, SessionFilter(is_open=one)) for one in (True, False))
        assert {s.id for s in opened} | {s.id for s in closed} == {s.id for s in every}
        assert all(s.ended_at is None for s in opened)
        assert all(s.ended_at is not None for s in closed)
        assert len(closed) == 6
        assert [s.id for s in transcripts.find(tx, SessionFilter(user_id="bob"))] == ["other"]
        assert {s.id for s in transcripts.find(tx, SessionFilter(group_id="g"))} == {"s1", "s3", "s5", "s7"}
        paged: list[Session] = []
        while page := transcripts.find(
            tx, SessionFilter(after=(paged[-1].last_at, paged[-1].id) if paged else None, limit=2)
        ):
            paged += page
    assert paged == every


def test_open_sessions_that_are_not_idle_are_not_read(app: Database, settings: Settings) -> None:
    with app.tenant(TENANT) as tx:
        tx.execute(
            text("""
            INSERT INTO sessions (tenant_id, id, started_at, last_at)
            SELECT :t, 's' || n, now(), now() FROM generate_series(1, 5000) AS n"""),
            {"t": TENANT},
        )
    databases.analyzed(settings, "sessions")
    with app.tenant(TENANT) as tx:
        explain = text(f"EXPLAIN (ANALYZE, FORMAT JSON) {idle._IDLE.text}")
        plan = str(tx.execute(explain, {"seconds": DAY, "page": 100}).scalar_one())
    assert "'Index Name': 'sessions_open'" in plan
    assert "last_at <= (statement_timestamp()" in plan.split("'Index Cond':", 1)[1]
    assert set(re.findall(r"'Rows Removed by Filter': (\d+)", plan)) <= {"0"}
