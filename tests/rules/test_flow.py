from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from core.config import Settings
from core.db import Database
from core.types import Json
from rules import flow, store
from rules.flow import Fire, Gathered, Match
from rules.schema import Count, Debounce, Rule
from tests.rules.samples import NOON, RUN, a_document, a_rule, an_event
from tests.samples import TENANT, accept, accept_all, ended, said
from tests.works import Works, at_work
from workers import router

SECOND = timedelta(seconds=1)


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def gathered(kind: Debounce | Count, *seconds: float) -> Gathered:
    """What is held after events at these seconds."""
    held = None
    for seq, at in enumerate(seconds, start=1):
        held = flow.advance(kind, held, an_event(seq=seq, root_seq=seq), after(at))
    assert held is not None
    return held


def test_each_event_restarts_the_wait_of_a_debounce() -> None:
    quiet = Debounce(seconds=30)
    assert gathered(quiet, 0).due_at == after(30)
    assert gathered(quiet, 0, 20).due_at == after(50)
    assert gathered(quiet, 0, 20, 40).seqs == (1, 2, 3)


def test_a_debounce_never_waits_longer_than_its_longest_wait() -> None:
    patient = Debounce(seconds=30, max_wait_seconds=60)
    assert gathered(patient, 0, 20).due_at == after(50)
    assert gathered(patient, 0, 20, 40, 55).due_at == after(60)


def test_a_debounce_that_is_full_is_ready_at_once() -> None:
    small = Debounce(seconds=30, max_events=3)
    assert not flow.is_ready(small, gathered(small, 0, 1), after(1))
    assert flow.is_ready(small, gathered(small, 0, 1, 2), after(2))


def test_a_debounce_is_ready_when_its_time_has_come_and_not_before() -> None:
    quiet = Debounce(seconds=30)
    held = gathered(quiet, 0)
    assert not flow.is_ready(quiet, held, after(29.9))
    assert flow.is_ready(quiet, held, after(30))


def test_a_count_is_ready_at_its_threshold() -> None:
    three = Count(threshold=3)
    assert not flow.is_ready(three, gathered(three, 0, 1), after(1))
    assert flow.is_ready(three, gathered(three, 0, 1, 2), after(2))


def test_a_count_begins_anew_when_its_window_has_passed() -> None:
    recent = Count(threshold=3, within_seconds=10)
    assert gathered(recent, 0, 5, 10).seqs == (1, 2, 3)
    assert gathered(recent, 0, 5, 11).seqs == (3,)


def test_the_earliest_chain_of_what_is_held_is_remembered() -> None:
    quiet = Debounce(seconds=30)
    held = flow.advance(quiet, None, an_event(seq=9, root_seq=7), NOON)
    assert flow.advance(quiet, held, an_event(seq=10, root_seq=3), NOON).root_seq == 3
    assert flow.advance(quiet, held, an_event(seq=10, root_seq=8), NOON).root_seq == 7


@given(
    st.lists(st.floats(0, 100), min_size=1, max_size=20),
    st.floats(0.1, 50),
    st.floats(0, 100),
)
def test_whatever_comes_a_debounce_keeps_all_and_is_due_within_its_longest_wait(
    gaps: list[float], seconds: float, more: float
) -> None:
    patient = Debounce(seconds=seconds, max_wait_seconds=seconds + more)
    moments = [sum(gaps[: n + 1]) for n in range(len(gaps))]
    held = gathered(patient, *moments)
    assert held.seqs == tuple(range(1, len(gaps) + 1))
    assert held.due_at is not None
    assert held.due_at <= held.opened_at + timedelta(seconds=seconds + more)


QUIET = a_rule("quiet", flow={"debounce": {"seconds": 30, "flush_on": ["session.ended"]}})
THREE = a_rule("three", flow={"count": {"threshold": 3}})


def a_match(rule: Rule, seq: int, key: str = "session:s1", tenant: str = TENANT) -> Match:
    kind = "debounce" if rule.flow.debounce else "count"
    return Match(an_event(seq=seq, root_seq=seq, tenant_id=tenant), rule, 1, kind, key)


def gather(queue: Database, *matches: Match, at: datetime = NOON) -> list[Fire]:
    with queue.queue() as tx:
        return flow.gather(tx, matches, at)


def due(queue: Database, at: datetime) -> list[Fire]:
    with queue.queue() as tx:
        return flow.due(tx, at)


def test_what_is_held_survives_in_the_database_until_it_is_due(queue: Database) -> None:
    assert gather(queue, a_match(QUIET, 1)) == []
    assert gather(queue, a_match(QUIET, 2), at=after(10)) == []
    assert due(queue, after(39)) == []
    (fire,) = due(queue, after(40))
    assert (fire.rule, list(fire.seqs), fire.root_seq, fire.version) == ("quiet", [1, 2], 1, 1)
    assert due(queue, after(1000)) == []


def test_keys_tenants_and_rules_are_kept_apart(queue: Database) -> None:
    gather(queue, a_match(QUIET, 1), a_match(QUIET, 2, "session:s2"), a_match(QUIET, 3, tenant="globex"))
    assert sorted(list(fire.seqs) for fire in due(queue, after(60))) == [[1], [2], [3]]


def test_a_count_acts_on_every_third_even_within_one_batch(queue: Database) -> None:
    fires = gather(queue, *(a_match(THREE, seq) for seq in range(1, 8)))
    assert [list(fire.seqs) for fire in fires] == [[1, 2, 3], [4, 5, 6]]
    assert [list(fire.seqs) for fire in gather(queue, a_match(THREE, 8), a_match(THREE, 9))] == [[7, 8, 9]]
    with queue.queue() as tx:
        assert tx.execute(text("SELECT count(*) FROM flows")).scalar_one() == 0


def test_a_count_is_never_due_by_time(queue: Database) -> None:
    gather(queue, a_match(THREE, 1))
    assert due(queue, after(1e9)) == []


def test_a_flush_makes_one_key_due_and_no_other(queue: Database) -> None:
    gather(queue, a_match(QUIET, 1), a_match(QUIET, 2, "session:s2"), a_match(THREE, 3))
    with queue.queue() as tx:
        flow.flush(
            tx, [(TENANT, "quiet", "session:s1"), (TENANT, "three", "session:s1"), (TENANT, "no", "k")], after(1)
        )
    assert [list(fire.seqs) for fire in due(queue, after(1))] == [[1]]


def test_due_flows_are_shared_out_and_never_fired_twice(queue: Database) -> None:
    gather(queue, *(a_match(QUIET, n, f"session:{n}") for n in range(1, 201)))
    together = threading.Barrier(4, timeout=20)

    def take(_: int) -> list[int]:
        together.wait()
        return [fire.seqs[0] for _ in range(20) for fire in _some(queue)]

    with ThreadPoolExecutor(4) as pool:
        taken = list(chain.from_iterable(pool.map(take, range(4))))
    assert sorted(taken) == list(range(1, 201))


def _some(queue: Database) -> list[Fire]:
    with queue.queue() as tx:
        return flow.due(tx, after(60), limit=10)


def install(app: Database, *documents: dict[str, Any]) -> None:
    """Nothing but these rules in force."""
    with app.tenant(TENANT) as tx:
        for stored in store.in_force(tx):
            store.delete(tx, TENANT, stored.name, author="test")
        for document in documents:
            store.save(tx, TENANT, document, author="test")


def dispatched(queue: Database, rule: str) -> list[list[str]]:
    with queue.queue() as tx:
        rows = tx.execute(text("SELECT params FROM dispatches WHERE rule = :rule ORDER BY id"), {"rule": rule}).all()
    return [row.params["gathered"] for row in rows]


def test_the_end_of_a_session_fires_what_waits_for_it_in_the_same_batch(
    app: Database, queue: Database, works: Works
) -> None:
    wait = {"debounce": {"seconds": 3600, "flush_on": ["session.ended"]}}
    install(app, a_document(name="quiet", flow=wait))
    accept(app, said("one", id="a"), said("two", id="b"), said("other", session="s2"), ended())
    router.route(works.router)
    router.fire_due(works.router)
    assert dispatched(queue, "quiet") == [["a", "b"]]


def test_two_routers_at_once_neither_lose_nor_double_anything(
    app: Database, queue: Database, settings: Settings
) -> None:
    """Counts and debounces over the same keys, with flushes that cross: each event is gathered once, by someone."""
    install(
        app,
        a_document(name="counted", flow={"count": {"threshold": 5}}),
        a_document(name="quiet", flow={"debounce": {"seconds": 3600, "max_events": 7, "flush_on": ["session.ended"]}}),
        a_document(
            name="plain", conditions={"all": [{"field": "payload.role", "op": "==", "value": "user"}]}, actions=[RUN]
        ),
    )
    sessions, total, ends = 60, 1200, 0
    for start in range(0, total, 100):
        batch: list[Json] = []
        for n in range(start, start + 100):
            batch += [said(f"{n}", id=f"e{n}", session=f"s{n % sessions}"), ended(f"s{n * 7 % sessions}")]
            ends += 1
        accept_all(app, batch)
    small = settings.model_copy(update={"route_batch": 37})
    together = threading.Barrier(3, timeout=20)

    def work(_: int) -> int:
        with at_work(small) as works:
            together.wait()
            routed = 0
            while True:
                count, _owed = router.route(works.router)
                router.fire_due(works.router)
                routed += count
                if not count:
                    return routed

    with ThreadPoolExecutor(3) as pool:
        routed = list(pool.map(work, range(3)))
    assert sum(routed) == total + ends
    with at_work(small) as works:
        works._make_due()
        router.fire_due(works.router)
    names = sorted(f"e{n}" for n in range(total))
    assert sorted(chain.from_iterable(dispatched(queue, "quiet"))) == names
    counted = dispatched(queue, "counted")
    assert sorted(chain.from_iterable(counted)) == names
    assert {len(group) for group in counted} == {5}
    with queue.queue() as tx:
        fired = tx.execute(text("SELECT count(*) FROM dispatches WHERE rule = 'plain'")).scalar_one()
        decided = tx.execute(text("SELECT count(*) FROM decisions")).scalar_one()
    assert (fired, decided) == (total, 3 * total)


def test_a_flow_acts_by_the_version_that_was_in_force_when_it_matched(
    app: Database, queue: Database, works: Works
) -> None:
    install(app, a_document(name="quiet", flow={"debounce": {"seconds": 3600}}))
    accept(app, said("one"))
    router.route(works.router)
    with app.tenant(TENANT) as tx:
        version = store.get(tx, "quiet").version
        store.save(
            tx, TENANT, a_document(name="quiet", actions=[{**RUN, "target": "memory_consolidator"}]), author="test"
        )
    works._make_due()
    router.fire_due(works.router)
    with queue.queue() as tx:
        row = tx.execute(text("SELECT target, rule_version FROM dispatches WHERE rule = 'quiet'")).one()
    assert tuple(row) == ("memory_extractor", version)
