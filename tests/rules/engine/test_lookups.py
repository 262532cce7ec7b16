from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from core.config import Settings
from core.language.terms import token_estimate
from core.storage import db
from core.storage.db import Database, Tx
from core.types import Event
from rules.engine import lookups
from rules.expressions.paths import LOOKED_UP
from tests.databases import analyzed
from tests.factories import events_since
from tests.rules.samples import an_event
from tests.samples import NOON, TENANT, accept, accept_all, ended, said

ALL = frozenset(LOOKED_UP)
SESSION = frozenset(name for name in LOOKED_UP if name.startswith("session."))
NOON_TIME = datetime.fromisoformat(NOON)


def log(app: Database, tenant: str = TENANT) -> list[Event]:
    with app.tenant(tenant) as tx:
        return events_since(tx, 0, 100_000)


def asked(database: Database, *pairs: tuple[Event, frozenset[str]], role: str = "router") -> list[dict[str, Any]]:
    """The answers for each event, as the router or, within one tenant, the application sees them."""
    with database.queue() if role == "router" else database.tenant(TENANT) as tx:
        answers = lookups.ask(tx, pairs)
    return [dict(answers[event.tenant_id, event.seq]) for event, _ in pairs]


@pytest.fixture(params=["router", "app"])
def ask(request: pytest.FixtureRequest, app: Database, queue: Database) -> Any:
    """Asks as each of the two roles."""
    database = queue if request.param == "router" else app
    return lambda *pairs: asked(database, *pairs, role=request.param)


def test_a_session_is_counted_up_to_the_event(app: Database, ask: Any) -> None:
    contents = [f"message number {place}" * place for place in range(1, 12)]
    accept_all(app, [said(content) for content in contents])
    answers = ask(*((event, SESSION) for event in log(app)))
    assert [answer["session.message_count"] for answer in answers] == list(range(1, 12))
    tokens = [sum(map(token_estimate, contents[:place])) for place in range(1, 12)]
    assert [answer["session.token_count"] for answer in answers] == tokens


def test_what_comes_later_changes_no_answer(app: Database, ask: Any) -> None:
    accept(app, said("one"), ended(), said("two"))
    before = ask(*((event, SESSION) for event in log(app)))
    accept_all(app, [said(f"more {place}") for place in range(40)])
    assert ask(*((event, SESSION) for event in log(app)[:3])) == before
    assert [answer["session.message_count"] for answer in before] == [1, 1, 2]


def test_an_event_that_is_no_message_counts_those_before_it(app: Database, ask: Any) -> None:
    accept(app, said("one"), said("other", session="s2"), ended(), said("two"), ended())
    ends = [event for event in log(app) if event.event_type == "session.ended"]
    assert [answer["session.message_count"] for answer in ask(*((event, SESSION) for event in ends))] == [1, 2]


def test_a_session_without_messages_has_none_and_no_session_has_no_answer(app: Database, ask: Any) -> None:
    accept(app, ended("empty"))
    nobody = an_event(session_id=None, seq=99)
    answers = ask((log(app)[0], SESSION), (nobody, SESSION))
    assert answers == [
        {"session.message_count": 0, "session.token_count": 0, "session.idle_seconds": None},
        dict.fromkeys(SESSION),
    ]


def test_a_session_is_idle_from_the_message_before(app: Database, ask: Any) -> None:
    for seconds in (0, 90, 3600):
        accept(app, said("hello", time=(NOON_TIME + timedelta(seconds=seconds)).isoformat()))
    accept(app, ended(time=(NOON_TIME + timedelta(seconds=3610)).isoformat()))
    answers = ask(*((event, SESSION) for event in log(app)))
    assert [answer["session.idle_seconds"] for answer in answers] == [None, 90.0, 3510.0, 10.0]


@pytest.mark.parametrize("gone", [{2}, {1, 2, 3}, {7}, set(range(1, 8))])
def test_messages_that_were_erased_spoil_no_answer(app: Database, ask: Any, gone: set[int]) -> None:
    accept_all(app, [said(f"{place}") for place in range(1, 8)])
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM messages WHERE position = ANY(:gone)"), {"gone": sorted(gone)})
    expected = [max(set(range(1, upto + 1)) - gone, default=0) for upto in range(1, 8)]
    answers = ask(*((event, SESSION) for event in log(app)))
    assert [answer["session.message_count"] for answer in answers] == expected


def test_a_message_of_before_running_sums_has_the_sum_of_the_session(app: Database, ask: Any) -> None:
    accept(app, said("some words"), said("and some more"))
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE messages SET token_count = NULL"))
        whole = tx.execute(text("SELECT token_count FROM sessions")).scalar_one()
    assert ask((log(app)[0], SESSION))[0]["session.token_count"] == whole


def test_an_event_that_is_not_in_the_log_comes_after_everything(app: Database, ask: Any) -> None:
    accept(app, said("one"), said("two"))
    draft = an_event(seq=0, time=NOON_TIME + timedelta(seconds=5))
    assert ask((draft, SESSION))[0] | {"session.token_count": None} == {
        "session.message_count": 2,
        "session.token_count": None,
        "session.idle_seconds": 5.0,
    }


def test_only_what_was_asked_is_answered(app: Database, ask: Any) -> None:
    accept(app, said("one"), said("two"))
    first, second = log(app)
    assert ask((first, frozenset({"session.message_count"})), (second, frozenset({"budget.cost_today"}))) == [
        {"session.message_count": 1},
        {"budget.cost_today": 0.0},
    ]


def remember(app: Database, *, user: str = "ada", **columns: Any) -> UUID:
    """A memory, with what matters here."""
    known = {"id": uuid4(), "status": "active", "importance": 0.5, "recorded_at": datetime.now(UTC), **columns}
    with app.tenant(TENANT) as tx:
        tx.execute(_REMEMBER, {"tenant": TENANT, "user": user, **known})
    return known["id"]  # type: ignore[return-value]


def spend(app: Database, at: datetime, tokens: int, cost: float, tenant: str = TENANT) -> None:
    with app.tenant(tenant) as tx:
        tx.execute(_SPEND, {"tenant": tenant, "at": at, "tokens": tokens, "cost": cost})


def decided_at(app: Database, event: Event, at: datetime) -> None:
    """Mark an event as decided, as the router does."""
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE events SET routed_at = :at WHERE seq = :seq"), {"at": at, "seq": event.seq})


MEMORIES = frozenset({"user.memory_count"})
BUDGET = frozenset({"budget.tokens_today", "budget.cost_today"})


def test_the_active_memories_of_the_user_are_counted_when_the_event_is_decided(app: Database, ask: Any) -> None:
    accept(app, said("one"), said("other", user="bob"), said("two"))
    one, bob, two = log(app)
    for minutes in (1, 2, 30):
        remember(app, recorded_at=NOON_TIME + timedelta(minutes=minutes))
    remember(app, status="archived", recorded_at=NOON_TIME)
    decided_at(app, one, NOON_TIME + timedelta(minutes=5))
    assert [a["user.memory_count"] for a in ask((one, MEMORIES), (bob, MEMORIES), (two, MEMORIES))] == [2, 0, 3]
    nobody = an_event(user_id=None, seq=0)
    assert ask((nobody, MEMORIES)) == [{"user.memory_count": None}]


def test_a_memory_of_just_now_is_not_missed(app: Database, queue: Database) -> None:
    accept(app, said("one"))
    event = log(app)[0]
    remember(app)
    with queue.queue() as tx:
        tx.execute(text("UPDATE events SET routed_at = clock_timestamp()"))
        assert lookups.ask(tx, [(event, MEMORIES)])[TENANT, event.seq] == {"user.memory_count": 1}


def test_the_importance_is_that_of_the_memory_in_the_subject(app: Database, ask: Any) -> None:
    known = remember(app, importance=0.9)
    names = frozenset({"memory.importance"})
    subjects = [f"memory:{known}", f"memory:{uuid4()}", "memory:none", "session:s1", None]
    found = [ask((an_event(subject=subject), names))[0]["memory.importance"] for subject in subjects]
    assert found == [0.9, None, None, None, None]


def test_the_budget_is_what_the_day_had_cost_when_the_event_was_decided(app: Database, ask: Any) -> None:
    accept(app, said("one"), said("two"), said("three"))
    one, two, three = log(app)
    today, yesterday = NOON_TIME.replace(hour=0), NOON_TIME - timedelta(days=1)
    spend(app, yesterday, 1_000, 1.0)
    spend(app, today, 10, 0.25)
    spend(app, NOON_TIME, 100, 0.5)
    decided_at(app, one, today + timedelta(hours=1))
    decided_at(app, two, NOON_TIME + timedelta(seconds=1))
    decided_at(app, three, yesterday.replace(hour=23, minute=59, second=59))
    assert ask((one, BUDGET), (two, BUDGET), (three, BUDGET)) == [
        {"budget.tokens_today": 20, "budget.cost_today": 0.25},
        {"budget.tokens_today": 220, "budget.cost_today": 0.75},
        {"budget.tokens_today": 2_000, "budget.cost_today": 1.0},
    ]


def test_what_is_spent_now_counts_for_who_is_not_decided_yet(app: Database, ask: Any) -> None:
    accept(app, said("one"))
    spend(app, datetime.now(UTC), 2**31 - 1, 3.5)
    assert ask((log(app)[0], BUDGET)) == [{"budget.tokens_today": 2 * (2**31 - 1), "budget.cost_today": 3.5}]


def test_tenants_are_counted_apart_in_one_batch(app: Database, queue: Database) -> None:
    accept(app, said("one"), said("two"))
    accept(app, said("one"), tenant="globex")
    spend(app, datetime.now(UTC), 5, 0.1, tenant="globex")
    pairs = [(event, ALL) for event in (*log(app), *log(app, "globex"))]
    answers = asked(queue, *pairs)
    assert [a["session.message_count"] for a in answers] == [1, 2, 1]
    assert [a["budget.tokens_today"] for a in answers] == [0, 0, 10]


def test_a_batch_is_asked_in_one_statement_and_an_empty_one_in_none(queue: Database, app: Database) -> None:
    accept_all(app, [said(f"{place}", session=f"s{place % 7}") for place in range(100)])
    batch = [(event, ALL) for event in log(app)]

    class Counting:
        def __init__(self, tx: Tx) -> None:
            self.tx, self.count = tx, 0

        def execute(self, *given: Any) -> Any:
            self.count += 1
            return self.tx.execute(*given)

    with queue.queue() as tx:
        counting = Counting(tx)
        assert len(lookups.ask(counting, batch)) == 100  # type: ignore[arg-type]
        assert lookups.ask(counting, [(batch[0][0], frozenset())]) == {}  # type: ignore[arg-type]
    assert counting.count == 1


def test_a_long_session_is_searched_by_halves(settings: Settings, app: Database, queue: Database) -> None:
    with app.tenant(TENANT) as tx:
        tx.execute(_LONG_SESSION, {"tenant": TENANT})
    analyzed(settings, "messages")
    early = an_event(seq=1_234, session_id="long")
    with queue.queue() as tx:
        plan = tx.execute(text(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {lookups._ANSWERS.text}"), _rows(early))
        blocks = plan.scalar_one()[0]["Plan"]["Shared Hit Blocks"]
        assert lookups.ask(tx, [(early, SESSION)])[TENANT, 1_234]["session.message_count"] == 1_234
    assert blocks < 200


def _rows(event: Event) -> dict[str, str]:
    return {"rows": db.recordset([lookups._row(event, SESSION)])}


def test_a_lookup_answers_what_was_asked_and_refuses_the_rest(app: Database, queue: Database) -> None:
    accept(app, said("one"))
    event = log(app)[0]
    with queue.queue() as tx:
        answers = lookups.ask(tx, [(event, frozenset({"session.message_count"}))])
    assert lookups.lookup_of(answers, event)("session.message_count") == 1
    with pytest.raises(KeyError):
        lookups.lookup_of(answers, event)("user.memory_count")
    with pytest.raises(KeyError):
        lookups.lookup_of(answers, an_event(seq=77))("session.message_count")


_REMEMBER = text("""
    INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, trust, status,
                          importance, occurred_at, recorded_at)
    VALUES (:tenant, :id, :user, :user, 'semantic', 'fact', 'other', 'x', cast(:id AS text), 'confirmed', :status,
            :importance, now(), :recorded_at)
""")

_SPEND = text("""
    INSERT INTO model_calls (tenant_id, dispatch_id, model, prompt, input_tokens, output_tokens, cost, outcome, at)
    VALUES (:tenant, uuidv7(), 'm', 'p', :tokens, :tokens, :cost, 'ok', :at)
""")

_LONG_SESSION = text("""
    INSERT INTO messages (tenant_id, session_id, position, id, event_seq, event_id, user_id, role, content, token_count,
                          occurred_at)
    SELECT :tenant, 'long', n, n, n, n, 'ada', 'user', 'x', n, now() FROM generate_series(1, 20000) AS n
""")
