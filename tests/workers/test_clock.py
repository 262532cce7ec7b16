"""The clock's turns, in this process and on the time of the database."""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
from pydantic import SecretStr
from sqlalchemy import text

from api.stack.postgres import Postgres
from core.config import Settings
from core.events import broker_users, trace_context
from core.events.doorbell import broker_url
from core.inference.embedders import HashEmbedder
from core.settings.limits import TenantLimits
from core.storage import schema
from core.storage.db import Database
from core.types import Event, Json
from rules.flow import alarms
from rules.registry import store
from tests.factories import events_since
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.rules.samples import a_document, an_alarm
from tests.samples import TENANT, accept_all, said
from tests.spans import recording, traceparent
from tests.works import Works
from workers import app as celery_app
from workers import clock as clocks
from workers.clock import Clock

HOURLY: Json = {"cron": "0 * * * *"}
EACH_SECOND: Json = {"every_seconds": 1}
NEVER_MIND: Json = {"every_seconds": 366 * 86_400}


def save(app: Database, name: str, schedule: Json, **more: Any) -> None:
    emit = {"action_type": "emit", "event_type": "hour.struck", "payload": {"by": name, "at": "{{payload.due_at}}"}}
    document = a_document(name=name, schedule=schedule, **({"actions": [emit]} | more))
    document.pop("event_type")
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, document, author="test")


@pytest.fixture
def quick(settings: Settings, app: Database) -> Settings:
    """No scheduled rule but the test's own, and every edit is seen in the next turn."""
    with app.tenant(TENANT) as tx:
        for stored in store.in_force(tx):
            if "schedule" in stored.document:
                store.delete(tx, TENANT, stored.name, author="test")
    return settings.model_copy(update={"rules_poll_seconds": 1e-9})


def started(settings: Settings) -> Clock:
    return Clock(celery_app.create(settings, broker_url(settings)), settings=settings)


@pytest.fixture
def clock(quick: Settings) -> Iterator[Clock]:
    with closing(started(quick)) as one:
        yield one


def ids(queue: Database) -> list[str]:
    query = text("SELECT id FROM events WHERE event_type = 'clock.ticked' ORDER BY seq")
    with queue.queue() as tx:
        return list(tx.execute(query).scalars())


def struck(queue: Database) -> list[Json]:
    query = text("SELECT payload FROM events WHERE event_type = 'hour.struck' ORDER BY seq")
    with queue.queue() as tx:
        return list(tx.execute(query).scalars())


def let_pass(queue: Database, name: str, seconds: float) -> None:
    """As if the clock had last looked at the rule so long ago."""
    with queue.queue() as tx:
        values = {"name": name, "moment": datetime.now(UTC) - timedelta(seconds=seconds)}
        tx.execute(text("UPDATE schedules SET fired_to = :moment WHERE rule = :name"), values)


def look_again(clock: Clock) -> None:
    """Forget when the rules are due, as a clock that has just been started."""
    clock._agenda = clocks.Agenda()


def keep_ticking(clock: Clock, until: threading.Event) -> None:
    while not until.is_set():
        until.wait(clock.tick())


def test_what_a_schedule_emits_begins_a_trace(clock: Clock, app: Database) -> None:
    save(app, "tick", EACH_SECOND)
    with recording() as spans:
        wait_until(lambda: clock.tick() >= 0 and bool(ticks(app)))
    fired = [span for span in spans.all() if (span.attributes or {}).get("imprint.events")]
    assert trace_context.of(ticks(app)[0]) == {"traceparent": traceparent(fired[0])}
    assert dict(fired[0].attributes or {}) == {"imprint.rule": "other", "imprint.events": 1}


def ticks(app: Database) -> list[Event]:
    with app.tenant(TENANT) as tx:
        return [event for event in events_since(tx, 0, 1000) if event.event_type == "clock.ticked"]


def test_three_clocks_fire_each_due_time_once(quick: Settings, app: Database, queue: Database, works: Works) -> None:
    save(app, "tick", EACH_SECOND)
    stop, end = threading.Event(), time.monotonic() + PATIENCE_SECONDS
    # Where all three are held up for longer than a second, what was missed is made up for.
    three = [started(quick.model_copy(update={"catch_up": "all"})) for _ in range(3)]
    threads = [threading.Thread(target=keep_ticking, args=(clock, stop)) for clock in three]
    for thread in threads:
        thread.start()
    while len(ids(queue)) < 4 and time.monotonic() < end:
        time.sleep(0.1)
    stop.set()
    for thread, clock in zip(threads, three, strict=True):
        thread.join()
        clock.close()
    assert_each_second_once(ids(queue), at_least=4)
    works.settle()
    assert Counter(by["at"] for by in struck(queue)) == Counter(name.partition("@")[2] for name in ids(queue))


def assert_each_second_once(names: list[str], *, at_least: int) -> None:
    seconds = [datetime.fromisoformat(name.partition("@")[2]) for name in names]
    assert len(seconds) >= at_least
    assert [int((moment - seconds[0]).total_seconds()) for moment in seconds] == list(range(len(seconds)))


def test_a_clock_announces_its_installation_on_the_broker(clock: Clock, quick: Settings) -> None:
    url = broker_url(quick)
    with closing(redis.Redis.from_url(url)) as broker:
        broker.delete(broker_users.KEY)
        clock.tick()
        assert broker_users.count(url) == 1
        broker.delete(broker_users.KEY)


def test_a_broker_that_takes_no_announcement_does_not_end_the_turn(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(socket.socket()) as deaf:
        deaf.bind(("127.0.0.1", 0))  # Bound and not listening: refuses every connection, and nobody else gets the port.
        url = f"redis://127.0.0.1:{deaf.getsockname()[1]}/0"
        monkeypatch.setattr(clocks, "broker_url", lambda _: url)
        with pytest.raises(redis.RedisError):
            broker_users.announce(url, "test")
        assert clock.tick() != clocks.FAILURE_PAUSE_SECONDS


def test_the_action_of_a_scheduled_rule_runs(clock: Clock, app: Database, queue: Database, works: Works) -> None:
    save(app, "tick", HOURLY)
    clock.tick()
    let_pass(queue, "tick", 3600)
    look_again(clock)
    clock.tick()
    works.settle()
    [name] = ids(queue)
    assert struck(queue) == [{"by": "tick", "at": name.partition("@")[2]}]


def test_a_tick_reaches_only_the_rule_that_it_names(clock: Clock, app: Database, queue: Database, works: Works) -> None:
    save(app, "one", HOURLY)
    save(app, "other", HOURLY)
    clock.tick()
    let_pass(queue, "one", 3600)
    look_again(clock)
    clock.tick()
    works.settle()
    assert [by["by"] for by in struck(queue)] == ["one"]


@pytest.mark.parametrize(("catch_up", "fired"), [("skip", 0), ("once", 1), ("all", 3)])
def test_a_clock_that_was_stopped_catches_up_as_it_is_set(
    quick: Settings, app: Database, queue: Database, catch_up: str, fired: int
) -> None:
    save(app, "tick", {"cron": f"{(datetime.now(UTC).minute + 30) % 60} * * * *"})
    with closing(started(quick)) as clock:
        clock.tick()
    let_pass(queue, "tick", 3 * 3600)
    with closing(started(quick.model_copy(update={"catch_up": catch_up}))) as clock:
        clock.tick()
        clock.tick()
    assert len(ids(queue)) == fired


def test_more_than_one_turn_can_take_is_caught_up_in_the_same_turn_or_the_next(
    quick: Settings, app: Database, queue: Database
) -> None:
    save(app, "tick", EACH_SECOND)
    with closing(started(quick.model_copy(update={"catch_up": "all"}))) as clock:
        clock.tick()
        let_pass(queue, "tick", 2500)
        look_again(clock)
        while len(ids(queue)) < 2500:
            clock.tick()
    assert len(ids(queue)) == len(set(ids(queue)))
    assert_each_second_once(ids(queue), at_least=2500)


def test_the_next_turn_comes_with_the_next_due_time_and_at_the_latest_with_the_sweep(
    quick: Settings, app: Database
) -> None:
    save(app, "rarely", NEVER_MIND)
    with closing(started(quick.model_copy(update={"sweep_seconds": 30.0}))) as clock:
        assert clock.tick() == clocks.IDLE_SWEEPS * 30, "nothing is open"
        save(app, "tick", EACH_SECOND)
        assert clock.tick() <= 1


def test_a_rule_saved_while_the_clock_runs_is_on_its_agenda_in_the_next_turn(
    clock: Clock, app: Database, queue: Database
) -> None:
    clock.tick()
    save(app, "tick", EACH_SECOND)
    clock.tick()
    time.sleep(1.01)
    clock.tick()
    assert len(ids(queue)) == 1


def test_the_row_of_a_deleted_rule_goes(clock: Clock, app: Database, queue: Database) -> None:
    save(app, "tick", HOURLY)
    clock.tick()
    with app.tenant(TENANT) as tx:
        store.delete(tx, TENANT, "tick", author="test")
    clock.tick()
    with queue.queue() as tx:
        assert tx.execute(text("SELECT count(*) FROM schedules")).scalar_one() == 0


def test_users_wait_while_the_log_has_more_than_the_router_can_take(
    quick: Settings, app: Database, queue: Database, works: Works
) -> None:
    accept_all(app, [said("hello", session=f"s{n}", user=f"u{n}") for n in range(50)])
    works.settle()
    save(app, "tick", {**HOURLY, "for_each": "user"})
    few = {"tenant_limits": TenantLimits(events_waiting=40), "schedule_page": 5}
    with closing(started(quick.model_copy(update=few))) as clock:
        clock.tick()
        let_pass(queue, "tick", 3600)
        look_again(clock)
        clock.tick()
        assert len(ids(queue)) == 20, "half of the backlog at which clients are refused"
        for _ in range(3):
            works.settle()
            look_again(clock)
            clock.tick()
    works.settle()
    assert len(ids(queue)) == len(struck(queue)) == 50


def test_the_tenants_have_their_alarms_looked_at_in_turns_after_the_schedules(
    quick: Settings, app: Database, queue: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clocks, "ALARM_SHARE", 0)
    for tenant, name in ((TENANT, "a"), (TENANT, "b"), (TENANT, "c"), ("other", "z")):
        with app.tenant(tenant) as tx:
            store.save(tx, tenant, an_alarm(name), author="test")
    save(app, "tick", HOURLY)
    begun = text("SELECT count(*) FILTER (WHERE tenant_id = :tenant), count(*) FROM schedules")
    numbers = []
    with closing(started(quick)) as clock:
        for _ in range(4):
            clock.tick()
            with queue.queue() as tx:
                numbers.append(tuple(tx.execute(begun, {"tenant": TENANT}).one()))
    assert numbers == [(2, 2), (2, 3), (3, 4), (4, 5)], "a schedule and an alarm, the other tenant's, the rest"


def test_an_alarm_of_a_deleted_rule_is_over_even_where_the_turn_fails_that_sees_it(
    clock: Clock, app: Database, queue: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, an_alarm("dead"), author="test")
    clock.tick()
    with queue.queue() as tx:
        tx.execute(RAISED, {"tenant": TENANT})
    with app.tenant(TENANT) as tx:
        store.delete(tx, TENANT, "dead", author="test")
    with monkeypatch.context() as failing:
        failing.setattr(alarms, "forget_gone", lambda tx, _: tx.execute(text("SELECT 1 / 0")))
        assert clock.tick() == clocks.FAILURE_PAUSE_SECONDS
    clock.tick()
    with queue.queue() as tx:
        reasons = tx.execute(text("SELECT payload ->> 'reason' FROM events WHERE event_type = 'alarm.cleared'"))
        assert reasons.scalars().all() == ["changed"]


RAISED = text("""
    INSERT INTO alarms (tenant_id, rule, key, for_each, version, raised_at, looked_at, counts, partial)
    VALUES (:tenant, 'dead', '', 'tenant', 1, now(), now(), '{}', false)
""")


def test_the_router_hears_of_a_tick_at_once(
    quick: Settings, app: Database, queue: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[bool] = []
    save(app, "tick", HOURLY)
    with closing(started(quick)) as clock:
        clock.tick()
        monkeypatch.setattr(clock._bell, "notify", lambda: rung.append(True))
        clock.tick()
        assert rung == []
        let_pass(queue, "tick", 3600)
        look_again(clock)
        clock.tick()
        assert rung == [True]


def test_a_database_that_is_gone_is_a_pause_and_not_the_end(settings: Settings, tmp_path: Path) -> None:
    postgres = Postgres(tmp_path, durable=False)
    try:
        postgres.start()
        own = settings.model_copy(update={"database_url": SecretStr(postgres.url)})
        schema.upgrade(own, (HashEmbedder().name, HashEmbedder().dimension))
        with closing(started(own)) as clock:
            postgres.stop()
            assert clock.tick() == clocks.FAILURE_PAUSE_SECONDS
            postgres.start()
            assert clock.tick() == clocks.IDLE_SWEEPS * own.sweep_seconds
    finally:
        postgres.stop()


def test_a_broker_that_is_gone_stops_no_schedule(quick: Settings, app: Database, queue: Database) -> None:
    deaf = quick.model_copy(update={"broker_url": SecretStr("redis://127.0.0.1:1/0")})
    save(app, "tick", EACH_SECOND)
    with closing(started(deaf)) as clock:
        clock.tick()
        time.sleep(1.01)
        clock.tick()
    assert len(ids(queue)) == 1


def test_a_clock_that_only_shows_its_settings_connects_to_nothing(settings: Settings) -> None:
    nowhere = settings.model_copy(update={"database_url": SecretStr("postgresql://nobody@127.0.0.1:1/none")})
    with closing(Clock(celery_app.create(settings, broker_url(settings)), settings=nowhere, lazy=True)) as clock:
        assert clock.info == ""
