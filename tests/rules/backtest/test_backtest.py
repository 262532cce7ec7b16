"""A draft over the stored log: what it would have done, and that nothing is changed by asking."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from sqlalchemy import text
from sqlalchemy.exc import InternalError

from core.errors import Invalid
from core.events import log as event_log
from core.events.log import COLUMNS, Announcement, event_of
from core.storage.db import Database
from core.storage.tables import TENANT_TABLES
from core.types import Json
from rules.backtest import backtest, log_window, reading
from rules.backtest.backtest import BacktestProgress, Result
from rules.document.schema import Rule
from rules.engine.ruleset import Ruleset
from rules.flow import flow_rows
from rules.flow.flow_rows import Match
from rules.flow.stages import STAGES
from rules.registry import store
from tests.rules.backtest.tried import HOUR, acts, at, install, steps, tried
from tests.rules.samples import NOON, a_document, a_rule
from tests.samples import TENANT, accept, accept_all, ended, event, said


def test_a_rule_without_flow_acts_on_each_event_it_meets(app: Database) -> None:
    install(app)
    accept(app, event(payload={"n": 1}, id="a"), event(payload={"n": 5}, id="b", time=at(60)), event("other"))
    draft = a_rule(
        "draft",
        event_type="order.*",
        conditions={"all": [{"field": "payload.n", "op": ">", "value": 2}]},
        actions=[{"action_type": "notify", "channel": "log", "template": "{{payload.n}} orders"}],
    )
    result = tried(app, draft)
    assert (result["rule"], result["events"], result["matched"], result["fired"]) == ("draft", 2, 1, 1)
    assert (result["from"], result["to"]) == ("2026-11-21T11:00:00Z", "2026-11-21T13:00:00Z")
    (sample,) = result["samples"]
    assert (sample["at"], sample["events"]) == ("2026-11-21T12:01:00Z", ["b"])
    assert sample["actions"] == [{"action_type": "notify", "channel": "log", "template": "5 orders"}]
    assert result["by_day"] == [{"day": "2026-11-21", "fired": 1}]
    assert (result["displaces"], result["compared"], result["held"], result["open"]) == ([], None, {}, 0)


def test_a_debounce_gathers_on_event_time(app: Database) -> None:
    install(app)
    accept(
        app,
        said("one", id="a"),
        said("two", id="b", time=at(20)),
        said("elsewhere", id="c", time=at(25), session="s2"),
        said("three", id="d", time=at(60)),
        said("at the end", id="e", time=at(3599)),
    )
    result = tried(app, a_rule(flow={"debounce": {"seconds": 30}}))
    assert acts(result) == [("50", ["a", "b"]), ("55", ["c"]), ("90", ["d"])]
    assert (result["matched"], result["gathered"], result["fired"], result["open"]) == (5, 5, 3, 1)
    assert (result["keys"], result["users"]) == (2, 1)
    assert [one["key"] for one in result["samples"]] == ["session:s1", "session:s2", "session:s1"]


def test_a_debounce_is_flushed_by_its_event_even_where_the_rule_does_not_answer_it(app: Database) -> None:
    install(app)
    accept(app, said("one", id="a"), ended(time=at(5)), said("two", id="b", time=at(10)), ended("s2", time=at(11)))
    draft = a_rule(flow={"debounce": {"seconds": 30, "flush_on": ["session.*"]}})
    result = tried(app, draft)
    assert acts(result) == [("5", ["a"]), ("40", ["b"])]
    assert result["events"] == 4


def test_events_that_come_late_do_not_set_the_clock_back(app: Database) -> None:
    install(app)
    accept(app, said("one", id="a", time=at(100)), said("late", id="b", time=at(10)), said("x", id="c", time=at(125)))
    assert acts(tried(app, a_rule(flow={"debounce": {"seconds": 30}}))) == [("155", ["a", "b", "c"])]


def test_a_condition_measures_against_the_events_own_time(app: Database) -> None:
    install(app)
    young = {"all": [{"field": "payload.since", "op": "newer_than", "value": "1h"}]}
    accept(app, event(payload={"since": at(-600)}, id="a"), event(payload={"since": at(-7200)}, id="b"))
    assert acts(tried(app, a_rule(event_type="order.placed", conditions=young))) == [("0", ["a"])]


def test_a_debounce_goes_on_over_the_borders_of_pages(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    install(app)
    batch = [said(f"{n}", id=f"e{n}", time=at(n), session=f"s{n % 3}") for n in range(100)]
    accept_all(app, batch)
    draft = a_rule(flow={"debounce": {"seconds": 30, "max_events": 7}, "cooldown": {"seconds": 40}})
    whole = tried(app, draft, samples=50)
    monkeypatch.setattr(log_window, "PAGE", 4)
    paged = tried(app, draft, samples=50)
    assert {**paged, "took_ms": 0} == {**whole, "took_ms": 0}
    assert whole["fired"] > 0
    assert whole["held"]["cooldown"] > 0


def test_looked_up_values_are_those_of_the_event(app: Database) -> None:
    install(app)
    accept_all(app, [said(f"{n}", id=f"e{n}", time=at(n)) for n in range(6)])
    long = {"all": [{"field": "session.message_count", "op": ">=", "value": 4}]}
    assert [ids for _, ids in acts(tried(app, a_rule(conditions=long)))] == [["e3"], ["e4"], ["e5"]]


def test_meanings_are_compared(app: Database) -> None:
    install(app)
    accept(app, said("I moved to Lisbon", id="a"), said("Good morning", id="b"))
    near = {"all": [{"field": "payload.content", "op": "means", "value": "I moved to Lisbon", "threshold": 0.9}]}
    assert [ids for _, ids in acts(tried(app, a_rule(conditions=near)))] == [["a"]]


def test_what_held_it_back_is_counted_by_reason(app: Database) -> None:
    install(app)
    accept_all(app, [said(f"{n}", id=f"e{n}", time=at(n)) for n in range(4)])
    rested = tried(app, a_rule(flow={"cooldown": {"seconds": 3}}))
    assert (rested["held"], rested["fired"], rested["matched"]) == ({"cooldown": 2}, 2, 4)
    early = tried(app, a_rule(ends_at=at(1)))
    assert (early["held"], early["fired"]) == ({"window": 3}, 1)
    assert tried(app, a_rule(enabled=False))["held"] == {"disabled": 4}


def test_a_burst_that_a_later_stage_holds_back_counts_with_all_it_holds(app: Database) -> None:
    install(app)
    accept_all(app, [said(f"{n}", id=f"e{n}", time=at(100 * (n // 3) + n)) for n in range(9)])
    result = tried(app, a_rule(flow={"debounce": {"seconds": 30}, "throttle": {"limit": 1, "per_seconds": 150}}))
    assert (result["matched"], result["fired"], result["held"]) == (9, 2, {"throttle": 3})


def test_a_chain_on_which_the_rule_has_acted_holds_it_back(app: Database) -> None:
    install(app)
    accept(app, event(id="a"), event(id="b"), event(id="c"))
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE events SET lineage = '{mine}' WHERE id = 'a'"))
        tx.execute(text("UPDATE events SET hop = 8 WHERE id = 'b'"))
    draft = a_rule("mine", event_type="order.placed")
    assert tried(app, draft)["held"] == {"repeat": 1, "hop": 1}
    assert tried(app, a_rule("mine", event_type="order.placed", repeat=True))["held"] == {"hop": 1}


def test_a_rule_in_force_that_stops_holds_the_draft_back(app: Database) -> None:
    install(app, a_document(name="first", priority=9, stop=True, event_type="order.placed"))
    accept(app, event(id="a"))
    result = tried(app, a_rule("draft", event_type="*"))
    assert (result["held"], result["fired"], result["displaces"]) == ({"stop": 1}, 0, [])


def test_the_rules_that_a_draft_would_displace_are_named_with_how_often(app: Database) -> None:
    install(
        app,
        a_document(name="a_mate", group="g"),
        a_document(name="b_later", priority=-1),
        a_document(name="c_before", priority=9),
        a_document(name="d_shadow", group="g", action_mode="shadow"),
        a_document(name="e_elsewhere", event_type="order.placed"),
    )
    accept_all(app, [said(f"{n}", id=f"e{n}", role="user" if n else "tool") for n in range(4)])
    users = {"all": [{"field": "payload.role", "op": "==", "value": "user"}]}
    grouped = tried(app, a_rule("draft", priority=1, group="g", conditions=users), samples=2)
    assert grouped["displaces"] == [{"rule": "a_mate", "times": 3, "samples": ["e1", "e2"]}]
    stopping = tried(app, a_rule("draft", priority=1, stop=True, conditions=users))
    assert {one["rule"]: one["times"] for one in stopping["displaces"]} == {"a_mate": 3, "b_later": 3}


def test_a_shadow_is_tried_as_if_it_acted(app: Database) -> None:
    install(app, a_document(name="later", priority=-1))
    accept(app, said("x", id="a"))
    shadow = tried(app, a_rule("draft", stop=True, action_mode="shadow"))
    assert [one["rule"] for one in shadow["displaces"]] == ["later"]


def numbers(result: Json) -> tuple[int, ...]:
    """The numbers of a comparison with the version in force."""
    return tuple(result["compared"][name] for name in ("version", "both", "only_draft", "only_in_force"))


def test_what_changes_against_the_version_in_force(app: Database) -> None:
    leaf = {"field": "payload.n", "op": ">=", "value": 3}
    install(app, a_document(name="mine", event_type="order.placed", stop=True, conditions={"all": [leaf]}),
            a_document(name="other", event_type="order.placed", priority=-1))  # fmt: skip
    accept_all(app, [event(payload={"n": n}, id=f"e{n}") for n in range(10)])
    draft = a_rule(
        "mine",
        event_type="order.placed",
        conditions={"all": [{"field": "payload.n", "op": "<", "value": 5}]},
    )
    result = tried(app, draft)
    assert numbers(result) == (1, 2, 3, 5)
    assert [one["id"] for one in result["compared"]["only_draft_samples"]] == ["e2", "e1", "e0"]
    assert [one["id"] for one in result["compared"]["only_in_force_samples"]] == ["e9", "e8", "e7", "e6", "e5"]
    assert [one["fired"] for one in result["compared"]["by_day"]] == [7]
    assert result["displaces"] == []
    assert [(one["rule"], one["times"]) for one in result["releases"]] == [("other", 7)]


def test_acts_are_the_same_where_they_end_on_the_same_event_whoever_comes_first(app: Database) -> None:
    install(app, a_document(name="mine", flow={"debounce": {"seconds": 10}}))
    accept(app, *(said("x", id=f"e{n}", time=at(s)) for n, s in enumerate([0, 5, 30, 100, 120])))
    result = tried(app, a_rule("mine", flow={"debounce": {"seconds": 22}}))
    # In force: up to e1, e2, e3 and e4, after ten seconds each; the draft, later: up to e1, e2 and e4.
    assert numbers(result) == (1, 3, 0, 1)


def test_many_acts_of_one_side_alone_are_not_remembered(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rules.backtest.counters.SETTLED_FROM", 10)
    install(app, a_document(name="mine", event_type="order.placed", flow={"count": {"threshold": 2}}))
    accept_all(app, [event(id=f"e{n}", time=at(n)) for n in range(200)])
    result = tried(app, a_rule("mine", event_type="order.placed"))
    assert numbers(result) == (1, 100, 100, 0)
    assert [one["id"] for one in result["compared"]["only_draft_samples"]] == ["e198", "e196", "e194", "e192", "e190"]


def test_concurrency_is_not_simulated_and_the_answer_says_so(app: Database) -> None:
    install(app)
    accept(app, said("x", id="a"), said("y", id="b"))
    result = tried(app, a_rule(flow={"concurrency": {"limit": 1, "on_conflict": "skip"}}))
    assert (result["not_simulated"], result["fired"]) == (["concurrency"], 2)
    assert tried(app, a_rule())["not_simulated"] == []


def test_progress_is_told_and_ends_with_the_result(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backtest, "REPORTED", 20)
    monkeypatch.setattr(log_window, "PAGE", 10)
    install(app)
    accept_all(app, [event(id=f"e{n}") for n in range(50)])
    *told, last = steps(app, a_rule(event_type="*"))
    assert told == [BacktestProgress(0, 50, 0), BacktestProgress(20, 50, 20), BacktestProgress(40, 50, 40)]
    assert isinstance(last, Result)


def test_only_the_first_and_the_last_acts_are_shown(app: Database) -> None:
    install(app)
    accept_all(app, [event(id=f"e{n}") for n in range(50)])
    shown = tried(app, a_rule(event_type="*"), samples=2)["samples"]
    assert [one["events"] for one in shown] == [["e0"], ["e1"], ["e48"], ["e49"]]


def state_of(app: Database) -> dict[str, Any]:
    with app.tenant(TENANT) as tx:
        return {
            table.name: tuple(tx.execute(text(f"SELECT count(*), max(xmin::text::bigint) FROM {table.name}")).one())
            for table in TENANT_TABLES
        }


def test_nothing_is_written(app: Database) -> None:
    install(app, a_document(name="mine", stop=True))
    accept_all(app, [*(said(f"{n}") for n in range(20)), ended()])
    before = state_of(app)
    long = {"all": [{"field": "session.token_count", "op": ">=", "value": 1}]}
    assert tried(app, a_rule("mine", conditions=long, flow={"debounce": {"seconds": 1}}))["fired"] == 1
    assert state_of(app) == before


def test_the_database_refuses_whatever_would_write(app: Database) -> None:
    with pytest.raises(InternalError, match="read-only transaction"), reading.read_only(app, TENANT) as tx:
        tx.execute(text("DELETE FROM events"))


def scheduled(**more: Any) -> Rule:
    document = a_document(name="nightly", **more)
    del document["event_type"]
    return store.check(document)


def test_a_scheduled_draft_is_due_when_its_time_table_says(app: Database) -> None:
    install(app)
    result = tried(app, scheduled(schedule={"every_seconds": 1800}))
    assert acts(result) == [
        ("-3600", ["nightly@2026-11-21T11:00:00Z"]),
        ("-1800", ["nightly@2026-11-21T11:30:00Z"]),
        ("0", ["nightly@2026-11-21T12:00:00Z"]),
        ("1800", ["nightly@2026-11-21T12:30:00Z"]),
    ]
    assert (result["events"], result["fired"]) == (4, 4)


def test_a_schedule_for_each_user_comes_to_every_one(app: Database) -> None:
    install(app)
    accept_all(app, [said("x", session=f"s{n}", user=f"u{n}") for n in range(3)])
    act = {"action_type": "notify", "channel": "log", "template": "{{payload.user_id}}"}
    result = tried(app, scheduled(schedule={"every_seconds": 3600, "for_each": "user"}, actions=[act]))
    assert (result["events"], result["fired"], result["users"]) == (6, 6, 3)
    assert [one["actions"][0]["template"] for one in result["samples"]] == ["u0", "u1", "u2"] * 2


def test_the_conditions_of_a_schedule_are_those_of_the_tick(app: Database) -> None:
    install(app)
    accept(app, said("x", user="ada"), said("y", session="s2", user="bob"))
    mine = {"all": [{"field": "payload.user_id", "op": "==", "value": "bob"}]}
    many = {"all": [{"field": "user.memory_count", "op": ">", "value": 0}]}
    each = {"every_seconds": 3600, "for_each": "user"}
    assert tried(app, scheduled(schedule=each, conditions=mine))["matched"] == 2
    assert tried(app, scheduled(schedule=each, conditions=many))["matched"] == 0


def test_ticks_in_the_log_are_not_counted_twice_and_two_time_tables_are_compared(app: Database) -> None:
    hourly = a_document(name="nightly", schedule={"every_seconds": 3600})
    del hourly["event_type"]
    install(app, hourly)
    noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
    tick = Announcement("nightly@2026-11-21T12:00:00Z", "clock.ticked", noon, {"rule": "nightly"})
    with app.tenant(TENANT) as tx:
        event_log.announce(tx, TENANT, [tick])
    result = tried(app, scheduled(schedule={"every_seconds": 1200}))
    assert result["fired"] == 6
    assert numbers(result) == (1, 2, 4, 0)


def test_a_flow_on_a_schedule_gathers_ticks(app: Database) -> None:
    install(app)
    result = tried(app, scheduled(schedule={"every_seconds": 1800}, flow={"count": {"threshold": 2}}))
    assert acts(result) == [
        ("-1800", ["nightly@2026-11-21T11:00:00Z", "nightly@2026-11-21T11:30:00Z"]),
        ("1800", ["nightly@2026-11-21T12:00:00Z", "nightly@2026-11-21T12:30:00Z"]),
    ]


def test_a_schedule_that_is_due_too_often_is_refused(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_window, "MAX_TICKS", 100)
    install(app)
    with pytest.raises(Invalid) as refused:
        tried(app, scheduled(schedule={"every_seconds": 60}))
    assert [problem.pointer for problem in refused.value.problems] == ["/from"]


PARTS = st.fixed_dictionaries(
    {},
    optional={
        "debounce": st.one_of(
            st.builds(lambda s: {"seconds": s, "flush_on": ["session.ended"]}, st.integers(1, 20)),
            st.builds(
                lambda s, more, n: {"seconds": s, "max_wait_seconds": s + more, "max_events": n},
                st.integers(1, 20),
                st.integers(0, 20),
                st.integers(1, 4),
            ),
        ),
        "count": st.one_of(
            st.builds(lambda n: {"threshold": n}, st.integers(1, 4)),
            st.builds(lambda n, s: {"threshold": n, "within_seconds": s}, st.integers(1, 4), st.integers(1, 20)),
        ),
        "cooldown": st.builds(lambda s: {"seconds": s, "key": ["payload.user_id"]}, st.integers(1, 20)),
        "throttle": st.builds(
            lambda n, s: {"limit": n, "per_seconds": s, "key": ["source"]}, st.integers(1, 3), st.integers(1, 20)
        ),
        "sample": st.just({"ratio": 0.7, "key": ["payload.content"]}),
    },
)
STEPS = st.lists(
    st.tuples(st.integers(-5, 12), st.sampled_from(["s1", "s2"]), st.sampled_from(["ada", "bob"]), st.booleans()),
    min_size=1,
    max_size=25,
)


@pytest.fixture
def emptied(app: Database) -> Database:
    install(app)
    return app


@hypothesis_settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(PARTS, STEPS)
def test_it_finds_what_the_routers_own_tables_would_have_done(
    emptied: Database, queue: Database, parts: Json, taken: list[tuple[int, str, str, bool]]
) -> None:
    """Replay the log through `rules.flow.flow_rows` on the clock of the log: the same actions on the same events."""
    with emptied.tenant(TENANT) as tx:
        for table in ("flows", "events"):
            tx.execute(text(f"DELETE FROM {table}"))
    seconds, documents = 0, []
    for n, (gap, session, user, is_end) in enumerate(taken):
        seconds += gap
        told = {"session": session, "user": user, "time": at(seconds), "id": f"e{n}"}
        documents.append(ended(**told) if is_end else said(f"{n % 5}", **told))
    accept_all(emptied, documents)
    rule = a_rule(flow=parts)
    lived = _live(queue, rule, until=NOON + HOUR)
    assert [ids for _, ids in acts(tried(emptied, rule, samples=100))] == lived


def _live(queue: Database, rule: Rule, until: datetime) -> list[list[str]]:
    """What the tables make of the log, event by event."""
    ruleset, clock, fired = Ruleset([(rule, 1)]), NOON - HOUR, []
    with queue.queue() as tx:
        log = list(map(event_of, tx.execute(text(f"SELECT {COLUMNS} FROM events e ORDER BY seq"))))
    ids = {one.seq: one.id for one in log}

    def due(now: datetime) -> None:
        """Each debounce at its own moment, as a clock that never sleeps would have it."""
        with queue.queue() as tx:
            while True:
                first = tx.execute(text("SELECT min(due_at) FROM flows")).scalar_one()
                if first is None or first > now:
                    return
                fires, _ = flow_rows.due(tx, first, rule_of=lambda *_: rule)
                fired.extend(fires)

    for one in log:
        if not (one.event_type == "message.added" or ruleset.flushed_by(one)):
            continue  # What the rule never hears of does not move the clock of a backtest either.
        clock = max(clock, one.time)
        due(clock)
        found = [verdict for verdict in ruleset.decide(one) if verdict.fired]
        matches = [Match(one, rule, 1, verdict.keys) for verdict in found]
        if not any(getattr(rule.flow, stage) for stage in STAGES):
            fired.extend(flow_rows.Fire(TENANT, rule, 1, (one.seq,), one.seq, {}) for _ in matches)
            continue
        with queue.queue() as tx:
            ends = [(TENANT, end.name, end.key) for end in ruleset.flushed_by(one)]
            _, fires, _ = flow_rows.pass_on(tx, matches, clock, ends)
            fired.extend(fires)
        due(clock)
    due(until - log_window.MOMENT)
    return [[ids[seq] for seq in fire.seqs] for fire in fired]
