from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from core.config import Settings
from core.errors import Later
from core.events import log
from core.storage.db import Database
from rules.registry import store
from tests.doors import opened
from tests.factories import a_job, tools
from tests.outlets import allowed, open_to
from tests.samples import TENANT, accept, event
from tests.workers.receiver import Other
from tests.works import Works, at_work, run_one
from workers.agents import notify, outbound
from workers.dispatch import model, sweep

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
NIGHT = {"from": "22:00", "to": "07:00", "timezone": "Europe/Lisbon"}


@pytest.mark.parametrize(
    ("clock", "due"),
    [
        (datetime(2026, 11, 21, 21, 59, tzinfo=UTC), datetime(2026, 11, 21, 21, 59, tzinfo=UTC)),
        (datetime(2026, 11, 21, 22, 0, tzinfo=UTC), datetime(2026, 11, 22, 7, 0, tzinfo=UTC)),
        (datetime(2026, 11, 22, 3, 0, tzinfo=UTC), datetime(2026, 11, 22, 7, 0, tzinfo=UTC)),
        (datetime(2026, 11, 22, 7, 0, tzinfo=UTC), datetime(2026, 11, 22, 7, 0, tzinfo=UTC)),
        (datetime(2026, 7, 1, 21, 30, tzinfo=UTC), datetime(2026, 7, 2, 6, 0, tzinfo=UTC)),
    ],
    ids=["before", "as they begin", "within", "as they end", "in summer time"],
)
def test_nobody_is_told_anything_in_quiet_hours(clock: datetime, due: datetime) -> None:
    assert notify.due_at(clock, NIGHT, None) == due


def test_a_digest_is_due_with_the_next_full_period_or_at_its_time_of_day() -> None:
    assert notify.due_at(NOON + timedelta(minutes=1), None, {"every_seconds": 3600}) == NOON + timedelta(hours=1)
    assert notify.due_at(NOON, None, {"at": "08:00"}) == datetime(2026, 11, 22, 8, tzinfo=UTC)
    assert notify.due_at(NOON, NIGHT, {"at": "23:30"}) == datetime(2026, 11, 22, 7, tzinfo=UTC)


def test_quiet_hours_end_in_the_hour_that_the_clocks_show_twice_and_in_the_one_they_leave_out() -> None:
    early = {"from": "01:00", "to": "02:30", "timezone": "Europe/Berlin"}
    twice = [datetime(2026, 10, 25, hour, 15, tzinfo=UTC) for hour in (0, 1)]
    assert [notify.due_at(now, early, None) - now for now in twice] == [timedelta(minutes=15)] * 2
    assert notify.due_at(twice[1], None, {"at": "02:30", "timezone": "Europe/Berlin"}) > twice[1]
    never = datetime(2026, 3, 29, 0, 45, tzinfo=UTC)
    assert notify.due_at(never, early, None) == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)


def save(app: Database, given: Settings, **action: Any) -> None:
    document = {
        "name": "tell",
        "event_type": "order.placed",
        "actions": [{"action_type": "notify", "template": "Order {{payload.n}}", **action}],
    }
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, document, author="test", allowed=allowed(given))


def pass_time(queue: Database, works: Works) -> int:
    """Let the time come for which something is held, and run what is due then; how many were released."""
    with queue.queue() as tx:
        tx.execute(text("UPDATE dispatches SET expires_at = clock_timestamp() WHERE hold = 'time'"))
        owed = sweep.release(tx, works.ledger.policy)
    works.run(owed)
    return len(owed)


def test_what_falls_into_one_period_is_told_together(
    settings: Settings, app: Database, queue: Database, other: Other
) -> None:
    given = open_to(settings, channels={"ops": other.url})
    save(app, given, channel="ops", digest={"every_seconds": 3600})
    with at_work(given) as works:
        for n in range(3):
            accept(app, event(payload={"n": n}))
            works.settle()
        assert other.got == []
        with app.tenant(TENANT) as tx:
            assert log.count_pending(tx, 10**9) == 0, "what waits for its time does not keep a chain open"
        assert pass_time(queue, works) == 3
    (got,) = other.got
    assert got.json["text"] == "3 notices\n• Order 0\n• Order 1\n• Order 2"


def held(app: Database) -> list[UUID]:
    """The actions that wait for their time."""
    with app.tenant(TENANT) as tx:
        return list(tx.execute(text("SELECT id FROM dispatches WHERE hold = 'time' ORDER BY id")).scalars())


def test_what_several_workers_find_due_is_sent_once_and_by_one_id_at_each_attempt(
    settings: Settings, app: Database, queue: Database, other: Other
) -> None:
    given = open_to(settings, channels={"ops": other.url})
    save(app, given, channel="ops", digest={"every_seconds": 3600})
    other.answers = [(503, {}, b"busy")]
    with at_work(given) as works:
        accept(app, *[event(payload={"n": n}) for n in range(4)])
        works.settle()
        for dispatch_id in held(app):
            with queue.queue() as tx:
                tx.execute(text("UPDATE dispatches SET expires_at = clock_timestamp() WHERE hold = 'time'"))
                sweep.release(tx, works.ledger.policy)
            run_one(works.ledger, TENANT, dispatch_id)
        with queue.queue() as tx:
            tx.execute(text("UPDATE dispatches SET wake_at = clock_timestamp() WHERE status = 'retrying'"))
            owed = sweep.due(tx, works.ledger.policy)
        works.run(owed)
    assert [got.json["text"].splitlines()[0] for got in other.got] == ["4 notices"] * 2
    assert len({got.headers["webhook-id"] for got in other.got}) == 1


def test_what_is_called_off_is_not_told_with_the_rest(
    settings: Settings, app: Database, queue: Database, other: Other
) -> None:
    given = open_to(settings, channels={"ops": other.url})
    save(app, given, channel="ops", digest={"every_seconds": 3600})
    with at_work(given) as works:
        accept(app, *[event(payload={"n": n}) for n in range(2)])
        works.settle()
        with opened(given) as door:
            assert door.post(f"/v1/dispatches/{held(app)[0]}/cancel").status_code == 200
        pass_time(queue, works)
    assert [got.json["text"] for got in other.got] == ["Order 1"]


def test_what_is_held_until_its_time_is_seen_and_can_be_cancelled(
    settings: Settings, app: Database, queue: Database, other: Other
) -> None:
    given = open_to(settings, channels={"ops": other.url})
    save(app, given, channel="ops", digest={"at": "08:00"})
    accept(app, event(payload={"n": 1}))
    with at_work(given) as works:
        works.settle()
        with queue.queue() as tx:
            assert sweep.release(tx, works.ledger.policy) == [], "its time has not come"
            assert sweep.expire(tx) == 0
            held = tx.execute(text("SELECT status, hold, expires_at FROM dispatches WHERE hold = 'time'")).one()
    assert (held.status, held.expires_at > datetime.now(UTC)) == ("held", True)


def test_the_next_attempts_are_spread_over_hours(settings: Settings, app: Database, other: Other) -> None:
    accept(app, event(id="e1"))
    given = open_to(settings, other.url)
    other.answers = [(503, {}, b"busy")] * 3
    pauses = []
    for attempt in (1, 3, 8):
        job = model.Job(**{**_fields(a_job(url=other.url, headers={}, payload=None)), "attempt": attempt})
        with pytest.raises(Later) as refused:
            outbound.send_webhook(tools(given), job)
        assert refused.value.after is not None
        pauses.append(refused.value.after.total_seconds())
    assert pauses == [5, 1_800, 36_000]


def test_the_log_may_be_quiet_too(settings: Settings, app: Database) -> None:
    save(app, settings, channel="log", digest={"every_seconds": 60})
    accept(app, event(payload={"n": 1}))
    with at_work(settings) as works, capture_logs() as lines:
        works.settle()
    assert [line for line in lines if line["event"] == "notification"] == []


def _fields(job: model.Job) -> dict[str, Any]:
    return {name: getattr(job, name) for name in model.Job.__slots__}


def test_the_notifier_run_by_its_name_tells_as_notify_does(app: Database, works: Works) -> None:
    params = {"channel": "log", "template": "Order {{payload.n}} came."}
    action = {"action_type": "run_agent", "target": "notifier", "params": params}
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, {"name": "tell", "event_type": "order.placed", "actions": [action]}, author="test")
    accept(app, event("order.placed", {"n": 7}))
    with capture_logs() as logs:
        works.settle()
    assert [entry["text"] for entry in logs if entry["event"] == "notification"] == ["Order 7 came."]
