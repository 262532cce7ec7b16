"""Events, decisions and dispatches leave in the order of the log, and nothing that is needed leaves with them."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from core.config import Settings
from core.erasure import session
from core.events import expiries, feed, log
from core.events.publishing import Author
from core.expiry import log_rows
from core.storage.db import Database
from core.tenancy.retention import Retention
from rules.registry import store
from tests.core.bulk.asking import a_job, begin
from tests.core.erasing import rows
from tests.core.expiry.sweeping import choose, swept
from tests.doors import OTHER, key_of
from tests.rules.samples import a_document
from tests.samples import TENANT, accept, accept_all, ended, event, said
from tests.works import Works


@pytest.fixture(autouse=True)
def plain(app: Database) -> None:
    """One rule, which answers an order."""
    with app.tenant(TENANT) as tx:
        for stored in store.in_force(tx):
            store.delete(tx, TENANT, stored.name, author="test")
        emit = {"action_type": "emit", "event_type": "order.seen", "payload": {"of": "{{payload.n}}"}}
        store.save(tx, TENANT, a_document(name="answers", event_type="order.placed", actions=[emit]), author="test")


def set_back(app: Database, days: float) -> None:
    """Let all that the log, the ledger and the decisions hold have happened earlier."""
    with app.tenant(TENANT) as tx:
        values = {"days": days}
        moved = "make_interval(secs => :days * 86400)"
        tx.execute(text(f"UPDATE events SET received_at = received_at - {moved}, time = time - {moved}"), values)
        tx.execute(text(f"UPDATE decisions SET at = at - {moved}"), values)
        for row in tx.execute(text("SELECT id FROM dispatches")).all():
            earlier = {"id": row.id, "earlier": UUID(int=row.id.int - (int(days * 86_400_000) << 80))}
            columns = f"created_at = created_at - {moved}, ended_at = ended_at - {moved}"
            tx.execute(text(f"UPDATE dispatches SET id = :earlier, {columns} WHERE id = :id"), values | earlier)


def ordered(app: Database, count: int = 3) -> None:
    accept_all(app, [event(payload={"n": n, "user_id": "ada"}, id=f"order-{n}") for n in range(count)])


def left(app: Database, table: str) -> int:
    return int(rows(app, f"SELECT count(*) FROM {table}")[0][0])


def test_old_events_leave_with_their_dispatches_and_decisions(
    app: Database, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_rows, "ROWS", 2)
    ordered(app, 5)
    works.settle()
    set_back(app, 40)
    ordered(app, 2)
    accept(app, event(id="young"))
    works.settle()
    choose(app, events_days=30)
    assert swept(app) == Counter(events=10 + rules_changed(app), dispatches=5, decisions=5)
    assert left(app, "dispatches") == left(app, "decisions") == 1
    assert [e.id for e in _log(app)][:1] == ["young"]
    assert swept(app) == {}


def rules_changed(app: Database) -> int:
    """Events of the rules that were changed before, which are as old."""
    with app.tenant(TENANT) as tx:
        total = expiries.counts(tx)["events"]["total"]
    return int(total) - 10


def _log(app: Database) -> list[Any]:
    with app.tenant(TENANT) as tx:
        return [e for e in log.find(tx) if not e.event_type.startswith("rule.")][::-1]


def test_within_the_days_of_events_a_repeat_is_a_repeat_and_later_it_is_new(app: Database, works: Works) -> None:
    ordered(app, 1)
    works.settle()
    set_back(app, 29)
    choose(app, events_days=30)
    swept(app)
    assert accept(app, event(id="order-0")).duplicates == 1
    set_back(app, 2)
    swept(app)
    assert accept(app, event(id="order-0")).duplicates == 0


def test_what_says_that_something_was_erased_stays_as_long_as_records_reach_back(app: Database, works: Works) -> None:
    accept(app, said("I keep cats.", session="s1", user="ada", message_id="m1"))
    works.settle()
    with app.tenant(TENANT) as tx:
        session.erase(tx, TENANT, "s1", Author("test"))
    works.settle()
    choose(app, events_days=7)
    erased = "SELECT id FROM events WHERE event_type = 'session.erased'"
    for days, number in ((14.9, 1), (0.2, 0)):
        set_back(app, days)
        swept(app)
        assert len(rows(app, erased)) == number


def test_finished_dispatches_may_leave_before_their_events(app: Database, works: Works) -> None:
    ordered(app)
    works.settle()
    set_back(app, 3)
    choose(app, dispatches_days=2)
    assert swept(app) == Counter(dispatches=3, decisions=3)
    assert len(_log(app)) == 6


def test_what_has_not_ended_stays_with_its_event(app: Database, works: Works) -> None:
    ordered(app)
    works.settle()
    for status, number in (("dead", 0), ("held", 1), ("retrying", 2)):
        with app.tenant(TENANT) as tx:
            values = {"status": status, "id": f"order-{number}"}
            tx.execute(
                text("""
                UPDATE dispatches SET status = :status, ended_at = CASE WHEN :status = 'dead' THEN ended_at END
                WHERE event_seq = (SELECT seq FROM events WHERE id = :id)"""),
                values,
            )
    set_back(app, 40)
    choose(app, events_days=30)
    counts = swept(app)
    assert counts["dispatches"] == counts["decisions"] == 0
    assert [e.id for e in _log(app)] == ["order-0", "order-1", "order-2"]
    choose(app, events_days=30, dead_letters_days=35)
    assert swept(app) == Counter(events=1, dispatches=1, decisions=1)
    assert [e.id for e in _log(app)] == ["order-1", "order-2"]


def test_an_event_that_is_not_routed_or_waits_in_a_rule_stays(app: Database) -> None:
    ordered(app, 2)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE events SET routed_at = now() WHERE id = 'order-1'"))
        tx.execute(
            text("""
            INSERT INTO flows (tenant_id, rule, kind, key, version, gathered, event_seqs, root_seq, opened_at)
            SELECT tenant_id, 'r', 'count', 'k', 1, 1, ARRAY[seq], seq, now() FROM events WHERE id = 'order-1'""")
        )
    set_back(app, 40)
    choose(app, events_days=30)
    swept(app)
    assert [e.id for e in _log(app)] == ["order-0", "order-1"]


def test_the_event_of_a_message_stays_as_long_as_the_message(app: Database, works: Works) -> None:
    then = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    accept_all(app, [said("hello", id="m", time=then), event(id="order", payload={}), ended(time=then, id="end")])
    works.settle()
    set_back(app, 40)
    choose(app, events_days=30)
    swept(app)
    assert [e.id for e in _log(app)] == ["m"]
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE sessions SET extracted_to = 1, indexed_to = 1, ended_at = now() - interval '9 days'"))
    choose(app, events_days=30, sessions_days=5)
    assert swept(app) == Counter(events=1, messages=1, sessions=1)


def test_the_feed_knows_up_to_where_events_have_left(app: Database, works: Works) -> None:
    ordered(app)
    works.settle()
    with app.tenant(TENANT) as tx:
        page = feed.read(tx, feed.BEGINNING, 100)
        assert feed.gap(tx, feed.BEGINNING) is None
    set_back(app, 40)
    ordered(app, 4)
    choose(app, events_days=30)
    swept(app)
    last = page.events[-1][0]
    with app.tenant(TENANT) as tx:
        found = feed.gap(tx, page.events[0][0])
        assert found is not None
        assert found.to == last
        assert feed.gap(tx, last) is None


def test_calls_of_models_keep_rule_and_agent_of_a_dispatch_that_has_left(app: Database, works: Works) -> None:
    ordered(app, 1)
    works.settle()
    set_back(app, 40)
    with app.tenant(TENANT) as tx:
        tx.execute(
            text("""
            INSERT INTO model_calls (tenant_id, dispatch_id, model, prompt, cost, outcome)
            SELECT tenant_id, id, 'm', 'p', 0.5, 'ok' FROM dispatches""")
        )
    choose(app, dispatches_days=30)
    assert swept(app)["dispatches"] == 1
    ((rule, target),) = rows(app, "SELECT rule, target FROM model_calls")
    assert (rule, target) == ("answers", "event_emitter")


def test_replays_that_ended_long_ago_leave_with_their_decisions_page_by_page(
    app: Database, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_rows, "ROWS", 2)
    ordered(app, 5)
    works.settle()
    with app.tenant(TENANT) as tx:
        for days, name in ((40, "old"), (1, "young")):
            values = {"id": UUID(int=days), "tenant": TENANT, "days": days, "request": name}
            tx.execute(_REPLAY, values)
            tx.execute(_REPLAYED, values)
    choose(app, dispatches_days=30)
    assert swept(app)["decisions"] == 5
    assert left(app, "replays") == 1
    assert left(app, "replay_decisions") == 5


def test_decisions_of_a_replay_leave_with_their_events(app: Database, works: Works) -> None:
    ordered(app, 2)
    works.settle()
    with app.tenant(TENANT) as tx:
        values = {"id": UUID(int=1), "tenant": TENANT, "days": 1, "request": "young"}
        tx.execute(_REPLAY, values)
        tx.execute(_REPLAYED, values)
    set_back(app, 40)
    choose(app, events_days=30)
    swept(app)
    assert left(app, "replay_decisions") == 0
    assert left(app, "replays") == 1


_REPLAY = text("""
    INSERT INTO replays (tenant_id, id, request, mode, status, cursor, upto, created_at, ended_at)
    SELECT :tenant, :id, :request, 'shadow', 'done', 0, 0, at, at
    FROM (SELECT now() - make_interval(days => :days)) AS a (at)
""")

_REPLAYED = text("""
    INSERT INTO replay_decisions (tenant_id, replay_id, event_seq, rule, version, verdict)
    SELECT :tenant, :id, seq, 'answers', 1, 'fired' FROM events WHERE event_type = 'order.placed'
""")


def a_bulk_job(app: Database, count: int, days: float, status: str = "done") -> UUID:
    """A job of so many rows that has ended so long ago, or is still running."""
    job_id = begin(app, a_job(), [(uuid4(), None) for _ in range(count)])
    end = "UPDATE bulk_jobs SET status = :status, ended_at = now() - make_interval(secs => :days * 86400)"
    if status != "running":
        with app.tenant(TENANT) as tx:
            tx.execute(text(f"{end} WHERE id = :id"), {"id": job_id, "status": status, "days": days})
    return job_id


def bulk_rows(app: Database) -> list[tuple[UUID, int]]:
    """Jobs with the number of their rows, oldest first."""
    count = "SELECT id, (SELECT count(*) FROM bulk_rows r WHERE r.job_id = j.id) FROM bulk_jobs j ORDER BY id"
    return [tuple(row) for row in rows(app, count)]


def test_bulk_jobs_that_have_ended_leave_after_their_rows(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_rows, "ROWS", 4)
    old, cancelled = a_bulk_job(app, 6, 31), a_bulk_job(app, 3, 31, "cancelled")
    young, running = a_bulk_job(app, 2, 29), a_bulk_job(app, 1, 0, "running")
    keeps = Retention(dispatches_days=30)
    left = []
    for _ in range(3):
        with app.tenant(TENANT) as tx:
            page = log_rows.remove_bulk_jobs(tx, TENANT, keeps, None)
        left.append((page.last, sum(count for one, count in bulk_rows(app) if one in {old, cancelled})))
    assert left == [("", 5), ("", 1), (None, 0)]
    assert page.counts == {}
    assert bulk_rows(app) == [(young, 2), (running, 1)]


def test_a_sweep_removes_bulk_jobs_of_its_tenant_alone(app: Database, settings: Settings) -> None:
    a_bulk_job(app, 3, 31)
    key_of(settings, OTHER)
    choose(app, OTHER, dispatches_days=30)
    swept(app, OTHER)
    assert len(bulk_rows(app)) == 1
    choose(app, dispatches_days=30)
    swept(app)
    assert bulk_rows(app) == []


def test_where_traces_are_kept_for_good_bulk_jobs_stay(app: Database) -> None:
    a_bulk_job(app, 3, 4000)
    choose(app, messages_days=30)
    swept(app)
    assert len(bulk_rows(app)) == 1


def recalled(app: Database, query: str) -> None:
    told = [{"query": query, "memory_ids": []}]
    payload = {"user_id": "ada", "memory_ids": [], "searches": 1, "queries": told}
    accept(app, event("memory.recalled", payload, time=datetime.now(UTC)))


def told_queries(app: Database) -> list[str]:
    return [row[0] for row in rows(app, "SELECT payload -> 'queries' -> 0 ->> 'query' FROM events ORDER BY seq")]


def test_queries_leave_as_messages_do_and_no_day_is_read_twice(
    app: Database, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_rows, "ROWS", 1)
    for query in ("old", "older"):
        recalled(app, query)
    works.settle()
    set_back(app, days=3)
    recalled(app, "new")
    works.settle()
    choose(app, messages_days=2)
    assert swept(app)["queries"] == 2
    assert told_queries(app)[-3:] == [None, None, "new"]
    with app.tenant(TENANT) as tx:
        known = expiries.newest(tx, "queries")
        assert known is not None
        assert log_rows.remove_queries(tx, TENANT, Retention(messages_days=2), None).counts == Counter()
    assert datetime.now(UTC) - known < timedelta(days=3)
    assert Retention(messages_days=9, sessions_days=4).queries_days == 4
    assert Retention(events_days=9).queries_days is None
