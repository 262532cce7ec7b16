"""Several routers' flow control on one database at once, each in a thread with a connection of its own."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

from sqlalchemy import text

from core.config import Settings
from core.events import log as event_log
from core.storage import db
from core.storage.db import Database, Tx
from core.types import Event, Json
from rules.document.schema import Rule
from rules.engine.ruleset import flow_key
from rules.flow import flow_rows
from rules.flow.flow_rows import Drop, Fire, Flushed, Match
from rules.registry import store
from tests.patience import PATIENCE_SECONDS
from tests.rules.samples import RUN, a_document, a_rule, an_event
from tests.samples import TENANT, accept, accept_all, ended, said
from tests.works import Works, at_work
from workers.dispatch import insertion
from workers.dispatch.model import NewDispatch
from workers.routing import router

THREADS = 4
SESSIONS = 4
MESSAGES = 2_400
BATCH = 12
START = datetime.now(UTC) + timedelta(days=1)
ONE_USER = ["payload.user_id"]


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def at_once(settings: Settings, work: Callable[[Database, int], Any], threads: int = THREADS) -> list[Any]:
    """What this comes to in so many threads that begin together, each with a connection to the queue."""
    together = threading.Barrier(threads, timeout=20)

    def begin(number: int) -> Any:
        with closing(db.connect(db.router_url(settings), 1)) as own:
            with own.queue() as tx:
                tx.execute(text("SELECT 1"))
            together.wait()
            return work(own, number)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(begin, range(threads)))


def share(events: Sequence[Event], number: int) -> Iterator[list[Event]]:
    """A thread's share of the events, batch by batch."""
    own = events[number::THREADS]
    return (list(own[start : start + BATCH]) for start in range(0, len(own), BATCH))


QUIET = a_rule("quiet", flow={"debounce": {"seconds": 30, "max_events": 5}})
COUNTED = a_rule("counted", flow={"count": {"threshold": 7}})
COOL = a_rule("cool", flow={"cooldown": {"seconds": 3600}})
RARE = a_rule("rare", flow={"throttle": {"limit": 3, "per_seconds": 3600, "key": ONE_USER}})
QUIET_COUNTED = a_rule(
    "quiet_counted",
    flow={"debounce": {"seconds": 30, "max_events": 3}, "count": {"threshold": 8, "key": ONE_USER}},
)
QUIET_COOL = a_rule(
    "quiet_cool",
    flow={
        "debounce": {"seconds": 30},
        "cooldown": {"seconds": 3600, "key": ONE_USER},
        "throttle": {"limit": 2, "per_seconds": 7200, "key": ONE_USER},
    },
)
RULES = {rule.name: rule for rule in (QUIET, COUNTED, COOL, RARE, QUIET_COUNTED, QUIET_COOL)}


def rule_of(_tx: Tx, _tenant: str, name: str, _version: int) -> Rule | None:
    return RULES.get(name)


def log_of(app: Database, queue: Database, total: int) -> list[Event]:
    """So many messages of one user in a few sessions, as a router reads them."""
    accept_all(app, [said(f"{n}", id=f"e{n}", session=f"s{n % SESSIONS}") for n in range(total)])
    with queue.queue() as tx:
        rows = tx.execute(text(f"SELECT {event_log.COLUMNS} FROM events e ORDER BY seq"))
        return [event_log.event_of(row) for row in rows]


def matched(rule: Rule, event: Event) -> Match:
    keys = {name: flow_key(part.key, event) for name, part in rule.flow.parts().items()}
    return Match(event, rule, 1, keys)


def all_matches(batch: Sequence[Event], rules: Iterable[Rule], dice: random.Random) -> list[Match]:
    """Each event with each rule, in any order: what locks in the order in which they come would deadlock."""
    matches = [matched(rule, event) for event in batch for rule in rules]
    dice.shuffle(matches)
    return matches


def flushes(dice: random.Random) -> list[Flushed]:
    return [(TENANT, dice.choice(["quiet", "quiet_cool"]), f"session:s{dice.randrange(SESSIONS)}") for _ in range(3)]


Found = tuple[list[Fire], list[Drop]]


def route_all(own: Database, batches: Iterable[list[Event]], dice: random.Random) -> Found:
    """What a router does: pass on a batch with the flushes it brings, then hand on what is due."""
    fires: list[Fire] = []
    drops: list[Drop] = []
    for batch in batches:
        with own.queue() as tx:
            fires += flow_rows.pass_on(tx, all_matches(batch, RULES.values(), dice), START, flushes(dice))[1]
        with own.queue() as tx:
            now_due, dropped = flow_rows.due(tx, after(dice.choice([0, 60])), limit=3, rule_of=rule_of)
        fires += now_due
        drops += dropped
    return fires, drops


def the_rest(queue: Database) -> Found:
    """What the debounces still hold."""
    with queue.queue() as tx:
        return flow_rows.due(tx, after(120), rule_of=rule_of)


def kept(queue: Database, rule: str) -> list[int]:
    """What the rows of a rule still hold."""
    with queue.queue() as tx:
        rows = tx.execute(text("SELECT event_seqs FROM flows WHERE rule = :rule"), {"rule": rule})
        return list(chain.from_iterable(row.event_seqs for row in rows))


def of(rule: Rule, fires: Iterable[Fire]) -> list[tuple[int, ...]]:
    return [fire.seqs for fire in fires if fire.rule.name == rule.name]


def test_routers_at_once_neither_lose_nor_double_anything_and_never_deadlock(
    app: Database, queue: Database, settings: Settings
) -> None:
    log = log_of(app, queue, MESSAGES)
    done = threading.Event()

    def settle() -> None:
        """As `GET /v1/settle?flush=true` does, all the while."""
        while not done.wait(0.01):
            with app.tenant(TENANT) as tx:
                event_log.flush(tx, 10**9)

    with ThreadPoolExecutor(1) as pool:
        settling = pool.submit(settle)
        try:
            found = at_once(settings, lambda own, n: route_all(own, share(log, n), random.Random(n)))
        finally:
            done.set()
        settling.result(timeout=20)
    found.append(the_rest(queue))
    fires = [fire for some, _ in found for fire in some]
    drops = [drop for _, some in found for drop in some]
    seqs = sorted(event.seq for event in log)

    assert sorted(chain.from_iterable(of(QUIET, fires))) == seqs
    assert {len(group) for group in of(COUNTED, fires)} == {7}
    assert sorted([*chain.from_iterable(of(COUNTED, fires)), *kept(queue, "counted")]) == seqs
    assert len(kept(queue, "counted")) == SESSIONS * (MESSAGES // SESSIONS % 7)
    assert Counter(fire.keys["cooldown"] for fire in fires if fire.rule is COOL) == {
        f"session:s{n}": 1 for n in range(SESSIONS)
    }
    assert len(of(RARE, fires)) == 3
    assert all(len(group) >= 8 for group in of(QUIET_COUNTED, fires))
    assert len(kept(queue, "quiet_counted")) < 8
    assert sorted([*chain.from_iterable(of(QUIET_COUNTED, fires)), *kept(queue, "quiet_counted")]) == seqs
    assert len(of(QUIET_COOL, fires)) == 1
    held_back = [seq for drop in drops for seq in drop.seqs]
    assert sorted([*chain.from_iterable(of(QUIET_COOL, fires)), *held_back]) == seqs
    assert {(drop.rule_name, drop.stage) for drop in drops} == {("quiet_cool", "cooldown")}


def test_no_stretch_holds_more_than_a_throttle_allows_while_routers_run_on_the_clock(
    queue: Database, settings: Settings
) -> None:
    limit, window, end = 3, 0.15, time.monotonic() + PATIENCE_SECONDS
    every: list[int] = []
    busy = a_rule("busy", flow={"throttle": {"limit": limit, "per_seconds": window}})

    def act(own: Database, number: int) -> list[datetime]:
        noted: list[datetime] = []
        while len(every) < 8 * limit and time.monotonic() < end:
            with own.queue() as tx:
                now = tx.execute(text("SELECT clock_timestamp()")).scalar_one()
                matches = [Match(an_event(seq=number), busy, 1, {"throttle": "k"})] * 2
                _, fires, _ = flow_rows.pass_on(tx, matches, now)
                times = tx.execute(text("SELECT times FROM flows WHERE rule = 'busy'")).scalar_one()
            noted += times[-len(fires) :] if fires else []
            every.extend([number] * len(fires))
        return noted

    noted = sorted(chain.from_iterable(at_once(settings, act)))
    gaps = [b - a for a, b in zip(noted, noted[limit:], strict=False)]
    assert len(noted) >= 8 * limit
    assert min(gaps) >= timedelta(seconds=window)


def test_a_lane_that_skips_is_never_fuller_than_its_limit(queue: Database, settings: Settings) -> None:
    lane = a_rule("lane", flow={"concurrency": {"limit": 3, "on_conflict": "skip"}})

    def act(own: Database, number: int) -> int:
        acted = 0
        for n in range(20):
            with own.queue() as tx:
                match = Match(an_event(seq=100 * number + n), lane, 1, {"concurrency": "k"})
                _, fires, _ = flow_rows.pass_on(tx, [match], START)
                insertion.insert(tx, [_action(fire) for fire in fires], 30)
            acted += len(fires)
        return acted

    assert sum(at_once(settings, act)) == 3


def _action(fire: Fire) -> NewDispatch:
    return NewDispatch(
        tenant_id=fire.tenant_id,
        action_type="run_agent",
        target="memory_extractor",
        queue="llm",
        params={},
        event_seq=fire.seqs[-1],
        root_seq=fire.root_seq,
        correlation_id="",
        hop=0,
        rule=fire.rule.name,
        lane=f"{fire.rule.name}\n{fire.keys['concurrency']}",
        lane_limit=3,
    )


def test_a_router_that_dies_holds_nobody_up_and_takes_nothing_along(queue: Database, settings: Settings) -> None:
    """Its connection is cut while it holds the row that another waits for."""
    dead = db.connect(db.router_url(settings), 1)
    tx = dead.engine.connect()
    server = tx.execute(text("SELECT pg_backend_pid()")).scalar_one()
    flow_rows.pass_on(tx, [matched(QUIET, an_event(seq=1)), matched(COUNTED, an_event(seq=1))], START)
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(_pass_on, queue, matched(QUIET, an_event(seq=2)), matched(COUNTED, an_event(seq=2)))
        _until_someone_waits(queue)
        with queue.queue() as other:
            other.execute(text("SELECT pg_terminate_backend(:server)"), {"server": server})
        waits.result(timeout=20)
    tx.invalidate()
    dead.close()
    assert [fire.seqs for fire in the_rest(queue)[0]] == [(2,)]
    assert kept(queue, "counted") == [2]


def _pass_on(queue: Database, *matches: Match) -> None:
    with queue.queue() as tx:
        flow_rows.pass_on(tx, matches, START)


def _until_someone_waits(queue: Database) -> None:
    waiting, end = 0, time.monotonic() + PATIENCE_SECONDS
    while not waiting:
        assert time.monotonic() < end, "nobody waits"
        with queue.queue() as tx:
            waiting = tx.execute(text("SELECT count(*) FROM pg_locks WHERE NOT granted")).scalar_one()


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


def test_two_routers_at_once_decide_on_each_event_once_and_hand_on_each_once(
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
    sessions, total = 60, 1200
    for start in range(0, total, 100):
        batch: list[Json] = []
        for n in range(start, start + 100):
            batch += [said(f"{n}", id=f"e{n}", session=f"s{n % sessions}"), ended(f"s{n * 7 % sessions}")]
        accept_all(app, batch)
    together = threading.Barrier(3, timeout=20)

    def work(_: int) -> int:
        with at_work(settings) as works:
            small = replace(works.router, batch=37)
            together.wait()
            routed = 0
            while True:
                count, _owed = router.route(small)
                router.fire_due(small)
                routed += count
                if not count:
                    return routed

    with ThreadPoolExecutor(3) as pool:
        routed = list(pool.map(work, range(3)))
    with at_work(settings) as works:
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
        accepted = tx.execute(text("SELECT count(*) FROM events")).scalar_one()
    assert (fired, decided) == (total, 3 * total)
    assert sum(routed) == accepted > 2 * total


def test_a_flow_acts_by_the_version_that_was_in_force_when_it_matched(
    app: Database, queue: Database, works: Works
) -> None:
    install(app, a_document(name="quiet", flow={"debounce": {"seconds": 3600}}))
    accept(app, said("one"))
    router.route(works.router)
    with app.tenant(TENANT) as tx:
        version = store.get(tx, "quiet").version
        edited = a_document(name="quiet", actions=[{**RUN, "target": "memory_consolidator"}])
        store.save(tx, TENANT, edited, author="test")
    works._make_due()
    router.fire_due(works.router)
    with queue.queue() as tx:
        row = tx.execute(text("SELECT target, rule_version FROM dispatches WHERE rule = 'quiet'")).one()
    assert tuple(row) == ("memory_extractor", version)
