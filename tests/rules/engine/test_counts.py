"""Counts of alarms: over a period, of one tenant, bounded, and as of any due time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import TypeAdapter
from sqlalchemy import text

from core.config import Settings
from core.storage import db
from core.storage.db import Database
from core.types import Evidence, Json
from rules.document.counting import Counts
from rules.engine import counts
from rules.engine.counts import DailyBudget, Look, Subject
from tests.databases import analyzed, carried_out, filled, looked_at
from tests.factories import a_memory, carry_out
from tests.samples import TENANT, accept, accept_all, event

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
NO_BUDGET = DailyBudget()


def an_event_count(**fields: Any) -> Json:
    return {"of": "events", "event_type": "order.placed", "within_seconds": 300, **fields}


def looks(
    db: Database,
    named: Json,
    *dues: datetime,
    for_each: str = "tenant",
    budget: DailyBudget = NO_BUDGET,
    tenant: str = TENANT,
    compared: Sequence[str] = (),
    is_live: bool = False,
) -> Sequence[Look]:
    """Look as the router, or as the application, whose rows are those of the tenant."""
    parsed = TypeAdapter(Counts).validate_python(named)
    with db.queue() as tx:
        tx.execute(text("SELECT set_config('imprint.tenant', :tenant, true)"), {"tenant": tenant})
        by_due = counts.look(tx, Subject(tenant, for_each, dues, compared, is_live), parsed, budget)
    return [by_due[due] for due in dues]


def number(db: Database, count: Json, due: datetime = NOON, **more: Any) -> counts.Number:
    [look] = looks(db, {"n": count}, due, **more)
    assert not look.partial
    return look.by_key[""]["n"]


def by_key(db: Database, count: Json, for_each: str) -> dict[str, counts.Number]:
    [look] = looks(db, {"n": count}, NOON, for_each=for_each)
    return {key: numbers["n"] for key, numbers in look.by_key.items()}


def at(queue: Database, moment: datetime) -> None:
    """Have what was just accepted come at another moment."""
    with queue.queue() as tx:
        tx.execute(
            text("UPDATE events SET received_at = :at WHERE received_at > now() - interval '1 hour'"), {"at": moment}
        )


@pytest.fixture(params=["queue", "app"])
def either(request: pytest.FixtureRequest) -> Database:
    """The database as the clock sees it, and as a backtest does."""
    db: Database = request.getfixturevalue(request.param)
    return db


def test_a_period_ends_with_its_due_time_and_begins_after_its_first_moment(
    app: Database, queue: Database, either: Database
) -> None:
    for minutes in (-5, -4, 0):
        accept(app, event())
        at(queue, NOON + minutes * MINUTE)
    counted = [looks(either, {"n": an_event_count()}, due)[0].by_key[""]["n"] for due in (NOON - MINUTE, NOON)]
    assert counted == [2, 2]
    assert [look.by_key[""]["n"] for look in looks(either, {"n": an_event_count()}, NOON - MINUTE, NOON)] == counted


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, 3),
        ({"event_type": ["order.placed", "order.paid"]}, 4),
        ({"event_type": "order.lost"}, 0),
        ({"source": "shop"}, 1),
        ({"user_id": "ada"}, 2),
        ({"session_id": "s1"}, 1),
        ({"source": "shop", "user_id": "ada"}, 0),
        ({"sum": "payload.total"}, 12.5),
        ({"sum": "payload.total", "user_id": "ada"}, 12.5),
        ({"sum": "payload.note"}, 0),
    ],
)
def test_events_are_counted_by_what_is_asked_for(
    app: Database, queue: Database, either: Database, fields: Json, expected: float
) -> None:
    accept_all(
        app,
        [
            event(payload={"user_id": "ada", "session_id": "s1", "total": 2.5, "note": "7"}),
            event(payload={"user_id": "ada", "total": 10}),
            event(source="shop"),
            event("order.paid"),
        ],
    )
    at(queue, NOON)
    assert number(either, an_event_count(**fields)) == expected


def test_another_tenant_is_not_counted(app: Database, queue: Database, either: Database) -> None:
    accept(app, event(), tenant="other")
    at(queue, NOON)
    assert number(either, an_event_count()) == 0
    assert by_key(either, an_event_count(), "source") == {}


def test_the_rows_of_another_tenant_are_out_of_the_applications_reach(app: Database, queue: Database) -> None:
    accept(app, event(), tenant="other")
    at(queue, NOON)
    parsed = TypeAdapter(Counts).validate_python({"n": an_event_count()})
    with app.tenant(TENANT) as tx:
        look = counts.look(tx, Subject("other", "tenant", [NOON]), parsed, NO_BUDGET)[NOON]
    assert look.by_key == {"": {"n": 0}}


def test_a_key_is_counted_apart_and_absent_where_it_has_nothing(app: Database, queue: Database) -> None:
    accept_all(app, [event(payload={"user_id": user}) for user in ("ada", "ada", "bob")])
    accept(app, event(), event("order.paid", {"user_id": "eve"}))
    at(queue, NOON)
    assert by_key(queue, an_event_count(), "user") == {"ada": 2, "bob": 1}
    assert by_key(queue, an_event_count(user_id="ada"), "user") == {"ada": 2}
    assert by_key(queue, an_event_count(), "source") == {"test": 4}


def test_a_key_of_one_count_has_0_in_the_others(app: Database, queue: Database) -> None:
    accept(app, event(payload={"user_id": "ada"}), event("order.paid", {"user_id": "bob"}))
    at(queue, NOON)
    named = {"placed": an_event_count(), "paid": an_event_count(event_type="order.paid")}
    [look] = looks(queue, named, NOON, for_each="user")
    assert look.by_key == {"ada": {"placed": 1, "paid": 0}, "bob": {"placed": 0, "paid": 1}}


def test_a_count_is_divided_by_another_and_unknown_where_that_is_0(app: Database, queue: Database) -> None:
    named = {"lost": an_event_count(event_type="order.lost", per="placed"), "placed": an_event_count()}
    assert looks(queue, named, NOON)[0].by_key[""] == {"lost": None, "placed": 0}
    accept_all(app, [event() for _ in range(4)])
    accept(app, event("order.lost"))
    at(queue, NOON)
    assert looks(queue, named, NOON)[0].by_key[""] == {"lost": 0.25, "placed": 4}


def remembered(app: Database, content: str, source: str) -> None:
    name = f"e-{content}"
    accept(app, event(id=name, source=source))
    carry_out(app, a_memory(content, evidence=(Evidence("s1", name, name, content),)))


def test_memories_are_counted_by_the_sources_that_they_cite(app: Database, queue: Database, either: Database) -> None:
    remembered(app, "Ada lives in Lisbon.", "chat")
    remembered(app, "Ada has a cat called Miso.", "chat")
    remembered(app, "Ada works at Acme.", "mail")
    at(queue, NOON)
    created = {"of": "memories", "within_seconds": 60}
    assert number(either, created) == 3
    assert number(either, created | {"source": "chat"}) == 2
    assert number(either, created | {"source": "letters"}) == 0
    assert number(either, created | {"user_id": "bob"}) == 0
    assert number(either, created, NOON + MINUTE) == 0
    assert by_key(queue, created, "source") == {"chat": 2, "mail": 1}
    assert by_key(queue, created, "user") == {"ada": 3}


def dispatches(queue: Database, status: str, count: int, **fields: Any) -> None:
    insert = """
        INSERT INTO dispatches (tenant_id, action_type, target, queue, rule, status, created_at, ended_at)
        SELECT :tenant, 'run_agent', :target, 'io', :rule, :status, :created, :ended FROM generate_series(1, :count)
    """
    known = {"target": "notifier", "rule": "tell", "created": NOON - MINUTE, "ended": None, "tenant": TENANT}
    with queue.queue() as tx:
        tx.execute(text(insert), {**known, "status": status, "count": count, **fields})


def test_dispatches_are_counted_by_their_status(queue: Database, either: Database) -> None:
    dispatches(queue, "dead", 2, ended=NOON - MINUTE)
    dispatches(queue, "dead", 1, ended=NOON - 90 * MINUTE, target="memory_extractor", rule=None)
    dispatches(queue, "pending", 4)
    dispatches(queue, "held", 5)
    dispatches(queue, "done", 6, ended=NOON)
    dispatches(queue, "dead", 7, ended=NOON, tenant="other")
    dead = {"of": "dispatches", "status": "dead"}
    assert number(either, dead) == 3
    assert number(either, dead | {"within_seconds": 3600}) == 2
    assert number(either, dead | {"target": "notifier"}) == 2
    assert number(either, dead | {"rule": "tell"}) == 2
    assert number(either, dead, NOON - 2 * MINUTE) == 1, "the others were not dead by then"
    assert number(either, dead | {"status": "open"}) == 4
    assert number(either, dead | {"status": "held"}) == 5


def calls(app: Database, tokens: int, cost: float, moment: datetime) -> None:
    insert = """
        INSERT INTO model_calls (tenant_id, dispatch_id, model, prompt, input_tokens, output_tokens, cost, outcome, at)
        VALUES (:tenant, gen_random_uuid(), 'm', 'p', :tokens, 0, :cost, 'ok', :at)
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(insert), {"tenant": TENANT, "tokens": tokens, "cost": cost, "at": moment})


def test_the_share_of_a_budget_is_that_of_the_limit_nearer_to_its_end(app: Database, either: Database) -> None:
    calls(app, 800, 0.5, NOON - MINUTE)
    calls(app, 10_000, 9, NOON - timedelta(hours=13))
    share = {"of": "budget"}
    assert number(either, share) is None
    assert number(either, share, budget=DailyBudget(1000, None)) == 0.8
    assert number(either, share, budget=DailyBudget(1000, 0.5)) == 1
    assert number(either, share, NOON - 2 * MINUTE, budget=DailyBudget(1000, 0.5)) == 0


def test_a_share_of_too_many_calls_is_partial(app: Database, queue: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "MAX_COUNTED", 2)
    for _ in range(3):
        calls(app, 1, 0.5, NOON - MINUTE)
    assert looks(queue, {"n": {"of": "budget"}}, NOON, budget=DailyBudget(1000, None))[0].partial


def test_a_plain_count_ends_at_its_limit_and_any_other_is_partial(
    app: Database, queue: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "MAX_COUNTED", 3)
    accept_all(app, [event() for _ in range(5)])
    at(queue, NOON)
    [plain] = looks(queue, {"n": an_event_count()}, NOON)
    assert (plain.by_key, plain.partial) == ({"": {"n": 3}}, False)
    narrowed: list[Json] = [{"source": "test"}, {"user_id": "ada"}, {"sum": "payload.total"}]
    assert all(looks(queue, {"n": an_event_count(**fields)}, NOON)[0].partial for fields in narrowed)
    assert looks(queue, {"n": an_event_count()}, NOON, for_each="source")[0].partial


def test_a_count_that_others_are_measured_by_does_not_end_at_its_limit(
    app: Database, queue: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "MAX_COUNTED", 3)
    accept_all(app, [event() for _ in range(5)])
    accept(app, event("order.lost"))
    at(queue, NOON)
    named = {"lost": an_event_count(event_type="order.lost"), "placed": an_event_count()}
    share = named | {"lost": an_event_count(event_type="order.lost", per="placed")}
    assert not looks(queue, named, NOON)[0].partial
    assert looks(queue, share, NOON)[0].partial, "1/3 instead of 1/5"
    assert looks(queue, named, NOON, compared=["placed"])[0].partial


def test_all_dispatches_of_a_status_are_counted_up_to_the_limit_now(
    queue: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "MAX_COUNTED", 3)
    dispatches(queue, "dead", 5, ended=NOON - MINUTE)
    dead = {"of": "dispatches", "status": "dead"}
    [plain] = looks(queue, {"n": dead}, NOON, is_live=True)
    assert (plain.by_key, plain.partial) == ({"": {"n": 3}}, False)
    narrowed: list[Json] = [{"within_seconds": 60}, {"target": "notifier"}, {"rule": "tell"}]
    assert all(looks(queue, {"n": dead | fields}, NOON, is_live=True)[0].partial for fields in narrowed)
    assert looks(queue, {"n": dead}, NOON)[0].partial, "of the past only a part of the rows tells"


def test_too_many_keys_are_partial(app: Database, queue: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "MAX_KEYS", 2)
    accept_all(app, [event(source=name) for name in ("a", "b", "c")])
    at(queue, NOON)
    assert looks(queue, {"n": an_event_count()}, NOON, for_each="source")[0].partial


FILL = """
    INSERT INTO events (tenant_id, id, source, event_type, time, payload, correlation_id, received_at, routed_at)
    SELECT :tenant, 'e' || n, 'source-' || n % 3, CASE WHEN n % 100 = 0 THEN 'order.placed' ELSE 'message.added' END,
           moment, '{}', 'e' || n, moment, moment
    FROM generate_series(1, :count) AS n,
         LATERAL (SELECT cast(:noon AS timestamptz) - n * interval '1 second' AS moment) AS m
"""
"""An event each second before noon, of which each hundredth is an order."""


@pytest.fixture(scope="module")
def busy(upgraded: Settings) -> Iterator[Settings]:
    """A tenant with fifty thousand events, of which the planner knows nothing yet."""
    with filled(upgraded, [FILL], {"count": 50_000, "noon": NOON}) as (own, _):
        yield own


@pytest.mark.parametrize("is_analyzed", [False, True])
def test_a_count_reads_the_rows_of_its_period_by_an_index(busy: Settings, is_analyzed: bool) -> None:
    if is_analyzed:
        analyzed(busy, "events")
    parsed = TypeAdapter(Counts).validate_python({"n": an_event_count(within_seconds=3600)})["n"]
    statement, values = counts.statement(Subject(TENANT, "source", [NOON]), parsed, NO_BUDGET)
    for url in (db.router_url(busy), db.app_url(busy)):
        with closing(db.connect(url, 1)) as own, own.tenant(TENANT) as tx:
            nodes = carried_out(tx, str(statement), values)
        assert "Seq Scan" not in {node["Node Type"] for node in nodes if node.get("Relation Name") == "events"}
        assert sum(looked_at(nodes, "events")) <= 36
