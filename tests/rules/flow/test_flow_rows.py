from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

import pytest
from sqlalchemy import text

from core.config import Settings
from core.events import log as event_log
from core.storage import db
from core.storage.db import Database, Tx
from core.types import Event
from rules.document.schema import Rule
from rules.engine.ruleset import flow_key
from rules.flow import flow_rows
from rules.flow.flow_rows import Drop, Fire, Flushed, Match, MatchOutcome
from rules.flow.stages import STAGES
from rules.registry import store
from tests.patience import wait_until
from tests.rules.samples import NOON, a_document, a_rule, an_event
from tests.samples import TENANT, accept, said

QUIET = a_rule("quiet", flow={"debounce": {"seconds": 30}})
THREE = a_rule("three", flow={"count": {"threshold": 3}})
COOL = a_rule("cool", flow={"cooldown": {"seconds": 60}})
LANE = a_rule("lane", flow={"concurrency": {"limit": 2, "on_conflict": "skip"}})
QUIET_THEN_COOL = a_rule(
    "quiet_then_cool", flow={"debounce": {"seconds": 30}, "cooldown": {"seconds": 60, "key": ["payload.user_id"]}}
)
OTHER_QUIET = a_rule("other_quiet", flow={"debounce": {"seconds": 30}})
QUIET_THEN_TWO = a_rule(
    "quiet_then_two", flow={"debounce": {"seconds": 30}, "count": {"threshold": 2, "key": ["payload.user_id"]}}
)
RULES = {rule.name: rule for rule in (QUIET, OTHER_QUIET, QUIET_THEN_COOL, QUIET_THEN_TWO)}


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def a_match(
    rule: Rule, seq: int, key: str = "session:s1", *, tenant: str = TENANT, version: int = 1, root: int | None = None
) -> Match:
    event = an_event(seq=seq, root_seq=seq if root is None else root, tenant_id=tenant)
    return Match(event, rule, version, dict.fromkeys(rule.flow.parts(), key))


def pass_on(
    queue: Database, *matches: Match, at: float = 0, flushed: list[Flushed] | None = None
) -> tuple[list[MatchOutcome], list[Fire], list[Drop]]:
    with queue.queue() as tx:
        return flow_rows.pass_on(tx, matches, after(at), flushed or [])


def words(queue: Database, *matches: Match, at: float = 0) -> list[str]:
    """What becomes of each match: `fired`, `gathered debounce`, `held cooldown`, …"""
    found, _, _ = pass_on(queue, *matches, at=at)
    return [" ".join(filter(None, [word.verdict, word.stage])) for word in found]


def fired(queue: Database, *matches: Match, at: float = 0) -> list[tuple[int, ...]]:
    return [fire.seqs for fire in pass_on(queue, *matches, at=at)[1]]


def rule_of(_tx: Tx, _tenant: str, name: str, _version: int) -> Rule | None:
    return RULES.get(name)


def due(queue: Database, at: float) -> tuple[list[Fire], list[Drop]]:
    with queue.queue() as tx:
        return flow_rows.due(tx, after(at), rule_of=rule_of)


def handed_on(queue: Database, at: float) -> list[tuple[int, ...]]:
    return sorted(fire.seqs for fire in due(queue, at)[0])


def kinds(queue: Database) -> list[str]:
    """The stages of all rows that are there."""
    with queue.queue() as tx:
        return sorted(row.kind for row in tx.execute(text("SELECT kind FROM flows")))


def test_each_match_gets_its_word_in_order(queue: Database) -> None:
    matches = [a_match(QUIET, 1), a_match(COOL, 1), a_match(THREE, 1), a_match(COOL, 2)]
    assert words(queue, *matches) == ["gathered debounce", "fired", "gathered count", "held cooldown"]


def test_nothing_to_pass_on_asks_the_database_nothing(queue: Database) -> None:
    assert pass_on(queue) == ([], [], [])


def test_what_is_held_stands_in_the_database_until_it_is_due(queue: Database) -> None:
    assert fired(queue, a_match(QUIET, 1)) == []
    assert fired(queue, a_match(QUIET, 2), at=10) == []
    assert handed_on(queue, 39) == []
    fires, drops = due(queue, 40)
    assert fires == [Fire(TENANT, QUIET, 1, (1, 2), 1, {"debounce": "session:s1"})]
    assert drops == []
    assert handed_on(queue, 1000) == []
    assert kinds(queue) == []


def test_what_is_held_survives_whoever_held_it(queue: Database, settings: Settings) -> None:
    pass_on(queue, a_match(QUIET, 1), a_match(THREE, 1), a_match(COOL, 1))
    queue.close()
    another = db.connect(db.router_url(settings), 1)
    assert words(another, a_match(COOL, 2), at=59) == ["held cooldown"]
    assert fired(another, a_match(THREE, 2), a_match(THREE, 3)) == [(1, 2, 3)]
    assert handed_on(another, 60) == [(1,)]
    another.close()


@contextmanager
def crashing(queue: Database) -> Iterator[Tx]:
    """A transaction that is not committed."""
    with suppress(RuntimeError), queue.queue() as tx:
        yield tx
        raise RuntimeError("crash")


def test_a_batch_that_fails_leaves_everything_as_it_was(queue: Database) -> None:
    pass_on(queue, a_match(QUIET, 1), a_match(COOL, 1))
    with crashing(queue) as tx:
        flow_rows.pass_on(tx, [a_match(QUIET, 2), a_match(THREE, 2), a_match(COOL, 2)], after(100))
    with crashing(queue) as tx:
        flow_rows.due(tx, after(200), rule_of=rule_of)
    assert kinds(queue) == ["cooldown", "debounce"]
    assert handed_on(queue, 200) == [(1,)]


def test_keys_tenants_and_rules_are_kept_apart(queue: Database) -> None:
    pass_on(
        queue,
        a_match(QUIET, 1),
        a_match(QUIET, 2, "session:s2"),
        a_match(QUIET, 3, tenant="globex"),
        a_match(OTHER_QUIET, 4),
        a_match(QUIET, 5),
    )
    assert handed_on(queue, 60) == [(1, 5), (2,), (3,), (4,)]


def test_a_count_acts_on_every_third_even_within_one_batch_and_leaves_no_row(queue: Database) -> None:
    assert fired(queue, *(a_match(THREE, seq) for seq in range(1, 8))) == [(1, 2, 3), (4, 5, 6)]
    assert fired(queue, a_match(THREE, 8), a_match(THREE, 9)) == [(7, 8, 9)]
    assert kinds(queue) == []


def test_the_window_of_a_count_slides_from_batch_to_batch(queue: Database) -> None:
    recent = a_rule("recent", flow={"count": {"threshold": 3, "within_seconds": 10}})
    found = [fired(queue, a_match(recent, seq), at=at) for seq, at in ((1, 0), (2, 5), (3, 10), (4, 14))]
    assert found == [[], [], [], [(2, 3, 4)]]


def test_a_count_is_never_due_by_time(queue: Database) -> None:
    pass_on(queue, a_match(THREE, 1))
    assert handed_on(queue, 1e9) == []
    assert kinds(queue) == ["count"]


def test_what_was_gathered_belongs_to_its_earliest_chain(queue: Database) -> None:
    pass_on(queue, a_match(QUIET, 9, root=7))
    pass_on(queue, a_match(QUIET, 10, root=3), a_match(QUIET, 11, root=8))
    (fire,), _ = due(queue, 60)
    assert fire.root_seq == 3


def test_a_throttle_remembers_its_actions_over_batches(queue: Database) -> None:
    twice = a_rule("twice", flow={"throttle": {"limit": 2, "per_seconds": 10}})
    assert words(queue, a_match(twice, 1), at=0) == ["fired"]
    assert words(queue, a_match(twice, 2), a_match(twice, 3), at=6) == ["fired", "held throttle"]
    assert words(queue, a_match(twice, 4), a_match(twice, 5), at=10) == ["fired", "held throttle"]


def test_a_row_whose_time_has_passed_means_nothing_even_before_it_is_deleted(queue: Database) -> None:
    assert words(queue, a_match(COOL, 1), at=0) == ["fired"]
    longer = a_rule("cool", flow={"cooldown": {"seconds": 3600}})
    assert words(queue, a_match(longer, 2), at=59) == ["held cooldown"]
    assert words(queue, a_match(longer, 3), at=60) == ["fired"]


def forgotten(tx: Tx, now: datetime, **limit: int) -> int:
    """Delete obsolete rows; return their number."""
    return sum(tx.execute(*delete).rowcount for delete in flow_rows.forgetting(now, **limit))


def test_expired_rows_are_deleted_and_no_others(queue: Database) -> None:
    pass_on(queue, a_match(COOL, 1), a_match(QUIET, 1), a_match(THREE, 1))
    with queue.queue() as tx:
        assert forgotten(tx, after(59)) == 0
        assert forgotten(tx, after(60)) == 1
        assert forgotten(tx, after(1e6)) == 0
    assert kinds(queue) == ["count", "debounce"]


def test_no_more_rows_are_deleted_at_once_than_asked_for(queue: Database) -> None:
    pass_on(queue, *(a_match(COOL, seq, f"session:{seq}") for seq in range(5)))
    with queue.queue() as tx:
        assert [forgotten(tx, after(60), limit=2) for _ in range(4)] == [2, 2, 1, 0]


def test_the_counts_of_a_deleted_rule_are_forgotten(app: Database, queue: Database) -> None:
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, a_document(name="three", flow={"count": {"threshold": 3}}), author="test")
    pass_on(queue, a_match(THREE, 1))
    with queue.queue() as tx:
        assert forgotten(tx, datetime.now(NOON.tzinfo) + timedelta(days=1)) == 0
    with app.tenant(TENANT) as tx:
        store.delete(tx, TENANT, "three", author="test")
    with queue.queue() as tx:
        assert forgotten(tx, datetime.now(NOON.tzinfo) + timedelta(days=1)) == 1
    assert kinds(queue) == []


def test_a_flush_makes_one_key_due_with_what_the_batch_brought(queue: Database) -> None:
    pass_on(queue, a_match(QUIET, 1), a_match(QUIET, 2, "session:s2"), a_match(THREE, 3))
    flushed = [(TENANT, "quiet", "session:s1"), (TENANT, "three", "session:s1"), (TENANT, "no", "k")]
    pass_on(queue, a_match(QUIET, 4), at=1, flushed=flushed)
    assert handed_on(queue, 1) == [(1, 4)]
    assert kinds(queue) == ["count", "debounce"]


def test_a_flush_is_not_undone_by_a_match_that_comes_before_it_is_handed_on(queue: Database) -> None:
    pass_on(queue, a_match(QUIET, 1), at=0, flushed=[(TENANT, "quiet", "session:s1")])
    pass_on(queue, a_match(QUIET, 2), at=1)
    assert handed_on(queue, 1) == [(1, 2)]


def test_a_debounce_goes_on_in_the_version_of_its_last_match(queue: Database) -> None:
    pass_on(queue, a_match(QUIET, 1, version=4))
    pass_on(queue, a_match(QUIET, 2, version=5))
    pass_on(queue, a_match(QUIET, 3, "session:s2", version=4), flushed=[(TENANT, "quiet", "session:s1")])
    assert sorted((fire.seqs, fire.version) for fire in due(queue, 60)[0]) == [((1, 2), 5), ((3,), 4)]


def test_an_edit_of_the_wait_takes_what_was_gathered_before_along(queue: Database) -> None:
    pass_on(queue, a_match(QUIET, 1))
    small = a_rule("quiet", flow={"debounce": {"seconds": 5, "max_events": 3}})
    assert fired(queue, a_match(small, 2, version=2), at=20) == []
    assert fired(queue, a_match(small, 3, version=2), at=21) == [(1, 2, 3)]


def test_a_debounce_of_a_rule_that_is_gone_is_dropped(queue: Database) -> None:
    gone = a_rule("gone", flow={"debounce": {"seconds": 30}})
    pass_on(queue, a_match(gone, 1, version=7), a_match(gone, 2, version=7), a_match(QUIET, 3))
    fires, drops = due(queue, 60)
    assert [fire.seqs for fire in fires] == [(3,)]
    assert drops == [Drop(TENANT, "gone", 7, (1, 2), "gone")]
    assert kinds(queue) == []


def sent(app: Database, queue: Database, *names: str) -> list[Event]:
    """Messages on the log, each of a session of that name, all of one user."""
    accept(app, *(said(name, id=name, session=name) for name in names))
    with queue.queue() as tx:
        rows = tx.execute(text(f"SELECT {event_log.COLUMNS} FROM events e ORDER BY seq"))
        return [event_log.event_of(row) for row in rows]


def matched(rule: Rule, event: Event) -> Match:
    keys = {name: flow_key(part.key, event) for name, part in rule.flow.parts().items()}
    return Match(event, rule, 1, keys)


def test_a_debounce_goes_on_to_the_stages_behind_it_with_the_keys_of_its_last_event(
    app: Database, queue: Database
) -> None:
    one, two = sent(app, queue, "s1", "s2")
    pass_on(queue, matched(QUIET_THEN_COOL, one))
    pass_on(queue, matched(QUIET_THEN_COOL, two), at=1)
    (fire,), drops = due(queue, 30)
    assert (fire.seqs, dict(fire.keys), drops) == (
        (one.seq,),
        {"debounce": "session:s1", "cooldown": '["ada"]'},
        [],
    )
    assert due(queue, 31) == ([], [Drop(TENANT, "quiet_then_cool", 1, (two.seq,), "cooldown")])
    assert kinds(queue) == ["cooldown"]


def test_of_several_that_are_due_the_one_that_was_due_first_goes_first(app: Database, queue: Database) -> None:
    log = sent(app, queue, *(f"s{n}" for n in range(6)))
    for place, event in enumerate(reversed(log)):
        pass_on(queue, matched(QUIET_THEN_COOL, event), at=place)
    (fire,), drops = due(queue, 60)
    assert fire.seqs == (log[-1].seq,)
    assert [drop.seqs for drop in drops] == [(event.seq,) for event in reversed(log[:-1])]


def test_what_a_count_behind_a_debounce_gathers_is_neither_fired_nor_dropped(app: Database, queue: Database) -> None:
    one, two = sent(app, queue, "s1", "s2")
    pass_on(queue, matched(QUIET_THEN_TWO, one))
    assert due(queue, 30) == ([], [])
    pass_on(queue, matched(QUIET_THEN_TWO, two), at=40)
    assert handed_on(queue, 70) == [(one.seq, two.seq)]


def test_a_debounce_whose_last_event_is_gone_from_the_log_is_dropped(queue: Database) -> None:
    pass_on(queue, a_match(QUIET_THEN_COOL, 404))
    assert due(queue, 60) == ([], [Drop(TENANT, "quiet_then_cool", 1, (404,), "gone")])


def test_a_full_debounce_is_held_back_by_a_stage_behind_it_at_once(queue: Database) -> None:
    pair = a_rule("pair", flow={"debounce": {"seconds": 30, "max_events": 2}, "cooldown": {"seconds": 60}})
    assert words(queue, *(a_match(pair, seq) for seq in range(4))) == [
        "gathered debounce",
        "fired",
        "gathered debounce",
        "held cooldown",
    ]
    assert kinds(queue) == ["cooldown"]


def running(queue: Database, lane: str, *, hold: str | None = None, ended: bool = False, tenant: str = TENANT) -> None:
    insert = text("""
        INSERT INTO dispatches (tenant_id, action_type, target, params, queue, status, lane, hold, ended_at)
        VALUES (:tenant, 'run_agent', 'a', '{}', 'io', :status, :lane, :hold, CASE WHEN :ended THEN now() END)
    """)
    status = "done" if ended else "held" if hold else "running"
    with queue.queue() as tx:
        tx.execute(insert, {"tenant": tenant, "lane": lane, "hold": hold, "ended": ended, "status": status})


def test_the_unfinished_actions_of_a_lane_and_those_of_the_batch_take_its_room(queue: Database) -> None:
    running(queue, "lane\nsession:s1")
    assert words(queue, a_match(LANE, 1), a_match(LANE, 2), a_match(LANE, 3, "session:s2")) == [
        "fired",
        "held concurrency",
        "fired",
    ]
    assert kinds(queue) == []


def test_what_has_ended_waits_for_its_turn_or_is_of_others_takes_no_room_and_what_waits_for_a_yes_does(
    queue: Database,
) -> None:
    lane = "lane\nsession:s1"
    running(queue, lane, ended=True)
    running(queue, lane, hold="turn")
    running(queue, lane, tenant="globex")
    running(queue, "lane\nsession:s2")
    assert words(queue, *(a_match(LANE, seq) for seq in range(3))) == ["fired", "fired", "held concurrency"]
    running(queue, lane, hold="approval")
    assert words(queue, *(a_match(LANE, seq) for seq in range(2))) == ["fired", "held concurrency"]


@pytest.mark.parametrize(("conflict", "waits"), [("queue", False), ("skip", True), ("latest", True)])
def test_only_where_a_new_action_changes_what_becomes_of_others_routers_wait_for_one_another(
    queue: Database, conflict: str, waits: bool
) -> None:
    lane = a_rule("lane", flow={"concurrency": {"limit": 1, "on_conflict": conflict}})
    with ThreadPoolExecutor(1) as pool:
        with queue.queue() as tx:
            assert flow_rows.pass_on(tx, [a_match(lane, 1)], NOON)[0] == [MatchOutcome("fired", None)]
            other = pool.submit(pass_on, queue, a_match(lane, 2))
            if waits:
                until_someone_waits(queue)
            else:
                assert other.result(timeout=20)[0] == [MatchOutcome("fired", None)]
        other.result(timeout=20)
    assert kinds(queue) == []


@contextmanager
def locked(queue: Database, rule: str, kind: str, key: str) -> Iterator[Tx]:
    """Someone holds this row."""
    select = text("SELECT FROM flows WHERE rule = :rule AND kind = :kind AND key = :key FOR UPDATE")
    with queue.queue() as tx:
        assert len(tx.execute(select, {"rule": rule, "kind": kind, "key": key}).all()) == 1
        yield tx


def free_places(queue: Database) -> list[tuple[str, str, str]]:
    """The rows that nobody holds."""
    with queue.queue() as tx:
        rows = tx.execute(text("SELECT rule, kind, key FROM flows FOR UPDATE SKIP LOCKED"))
        return sorted((row.rule, row.kind, row.key) for row in rows)


def waiting_for_a_lock(queue: Database) -> int:
    with queue.queue() as tx:
        return int(tx.execute(text("SELECT count(*) FROM pg_locks WHERE NOT granted")).scalar_one())


def until_someone_waits(queue: Database) -> None:
    wait_until(lambda: bool(waiting_for_a_lock(queue)), every=0.01)


ALL = {
    "debounce": {"seconds": 1e6, "max_events": 1},
    "count": {"threshold": 100},
    "cooldown": {"seconds": 1e6},
    "throttle": {"limit": 1000, "per_seconds": 1e6},
}


def seed(queue: Database, rules: list[Rule], keys: list[str]) -> None:
    """A row of every stage of these rules and keys, the debounces not due for days."""
    insert = text("""
        INSERT INTO flows (tenant_id, rule, kind, key, version, gathered, event_seqs, root_seq, opened_at, due_at)
        VALUES (:tenant, :rule, :kind, :key, 1, 0, '{}', 0, :now, :due)
    """)
    with queue.queue() as tx:
        for rule in rules:
            for kind in rule.flow.parts():
                for key in keys:
                    place = {"tenant": TENANT, "rule": rule.name, "kind": kind, "key": key}
                    waits = after(1e6) if kind == "debounce" else None
                    tx.execute(insert, place | {"now": NOON, "due": waits})


@pytest.mark.parametrize("held", [("b", "debounce", "k2"), ("a", "count", "k3"), ("b", "throttle", "k1")])
def test_rows_are_locked_by_stage_rule_and_key_whatever_order_the_matches_come_in(
    queue: Database, held: tuple[str, str, str]
) -> None:
    rules = [a_rule(name, flow=ALL) for name in ("a", "b")]
    keys = ["k1", "k2", "k3"]
    seed(queue, rules, keys)
    ordered = [(rule, str(kind), key) for kind in STAGES if kind in ALL for rule in ("a", "b") for key in keys]
    matches = [a_match(rule, 1, key) for rule in reversed(rules) for key in reversed(keys)]
    with ThreadPoolExecutor(1) as pool:
        with locked(queue, *held):
            waits = pool.submit(pass_on, queue, *matches, at=1)
            until_someone_waits(queue)
            assert free_places(queue) == sorted(ordered[ordered.index(held) + 1 :])
        waits.result(timeout=20)


def test_the_rows_of_later_stages_are_left_alone_while_matches_wait(queue: Database) -> None:
    rule = a_rule("a", flow=ALL | {"debounce": {"seconds": 1e6}})
    seed(queue, [rule], ["k"])
    with locked(queue, "a", "count", "k"), locked(queue, "a", "throttle", "k"):
        assert words(queue, a_match(rule, 1, "k")) == ["gathered debounce"]
    assert kinds(queue) == ["cooldown", "count", "debounce", "throttle"]


def test_what_is_due_and_held_by_another_is_left_to_him(queue: Database) -> None:
    pass_on(queue, a_match(QUIET, 1), a_match(QUIET, 2, "session:s2"))
    with locked(queue, "quiet", "debounce", "session:s1"):
        assert handed_on(queue, 60) == [(2,)]
    assert handed_on(queue, 60) == [(1,)]


def test_due_debounces_are_shared_out_and_never_handed_on_twice(queue: Database) -> None:
    pass_on(queue, *(a_match(QUIET, n, f"session:{n}") for n in range(1, 201)))
    together = threading.Barrier(4, timeout=20)

    def take(_: int) -> list[int]:
        together.wait()
        return [fire.seqs[0] for _ in range(20) for fire in some()]

    def some() -> list[Fire]:
        with queue.queue() as tx:
            return flow_rows.due(tx, after(60), limit=10, rule_of=rule_of)[0]

    with ThreadPoolExecutor(4) as pool:
        taken = list(chain.from_iterable(pool.map(take, range(4))))
    assert sorted(taken) == list(range(1, 201))


def test_a_key_is_any_text(queue: Database) -> None:
    """Sorted here and compared there: quotes, line ends and what lies beyond the first plane must mean the same."""
    keys: list[Any] = ["", "é", "'", '"', "\n", "\\", "ﬀ", "😀", "a" * 200, "Z", "a", "_"]
    pass_on(queue, *(a_match(QUIET, n, key) for n, key in enumerate(keys)))
    pass_on(queue, *(a_match(QUIET, 100 + n, key) for n, key in enumerate(keys)))
    assert handed_on(queue, 60) == [(n, 100 + n) for n in range(len(keys))]
