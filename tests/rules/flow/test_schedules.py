"""Due times, and the rows by which each of them fires once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import given
from hypothesis import settings as tuned
from hypothesis import strategies as st
from sqlalchemy import text

from core.config import Settings
from core.errors import Invalid
from core.storage.db import Database
from core.types import Json
from rules.document.schema import parse
from rules.document.timing import Schedule
from rules.flow import schedules
from rules.flow.schedules import Fired, Scheduled
from rules.registry import store
from rules.registry.live_rules import LiveRules
from tests.databases import analyzed, carried_out, looked_at
from tests.rules.samples import RUN, a_document
from tests.samples import TENANT, accept, accept_all, said

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def at(moment: str) -> datetime:
    return datetime.fromisoformat(moment).replace(tzinfo=UTC)


def cron(line: str, zone: str = "UTC") -> Schedule:
    return Schedule(cron=line, timezone=zone)


def due(schedule: Schedule, after: str, until: str) -> list[str]:
    """Due times as UTC, to the minute."""
    found = schedules.due_times(schedule, at(after), at(until), 10_000)
    return [f"{moment:%m-%d %H:%M}" for moment in found]


def test_due_times_lie_after_the_first_moment_and_up_to_the_second() -> None:
    assert due(cron("0 * * * *"), "2026-11-21T12:00", "2026-11-21T14:00") == ["11-21 13:00", "11-21 14:00"]


def test_due_times_are_in_utc_whatever_the_zone_of_the_line() -> None:
    [moment] = schedules.due_times(cron("0 3 * * *", "Asia/Tokyo"), NOON, NOON + DAY, 10)
    assert (moment, moment.tzinfo) == (at("2026-11-21T18:00"), UTC)


def test_every_so_many_seconds_counts_from_the_epoch_for_all_clocks() -> None:
    every = Schedule(every_seconds=7)
    first, second, *_ = schedules.due_times(every, NOON, NOON + HOUR, 3)
    assert int(first.timestamp()) % 7 == 0
    assert (second - first).total_seconds() == 7
    assert NOON < first <= NOON + timedelta(seconds=7)
    assert schedules.next_due(every, first - timedelta(microseconds=1)) == first
    assert schedules.next_due(every, first) == second


def test_no_more_due_times_are_counted_than_asked_for() -> None:
    assert len(schedules.due_times(Schedule(every_seconds=1), at("1990-01-01T00:00"), NOON, 5)) == 5


def test_a_leap_day_comes_every_fourth_year() -> None:
    line = cron("0 0 29 2 *")
    assert schedules.due_times(line, at("2026-01-01T00:00"), at("2037-01-01T00:00"), 10) == [
        at("2028-02-29T00:00"),
        at("2032-02-29T00:00"),
        at("2036-02-29T00:00"),
    ]


# Lisbon goes from +0 to +1 on 29 March 2026 at 01:00 UTC, and back on 25 October at 01:00 UTC.
# New York goes from -5 to -4 on 8 March 2026 at 07:00 UTC, and back on 1 November at 06:00 UTC.
# Lord Howe goes from +11 to +10:30 on 4 April 2026 at 15:00 UTC, and back on 3 October at 15:30 UTC.
@pytest.mark.parametrize(
    ("line", "zone", "after", "until", "expected"),
    [
        ("30 1 * * *", "Europe/Lisbon", "2026-03-28T12:00", "2026-03-30T12:00", ["03-29 01:00", "03-30 00:30"]),
        ("30 1 * * *", "Europe/Lisbon", "2026-10-24T12:00", "2026-10-26T12:00", ["10-25 00:30", "10-26 01:30"]),
        ("30 2 * * *", "America/New_York", "2026-03-07T12:00", "2026-03-09T12:00", ["03-08 07:00", "03-09 06:30"]),
        ("30 1 * * *", "America/New_York", "2026-10-31T12:00", "2026-11-02T12:00", ["11-01 05:30", "11-02 06:30"]),
        ("0,30 2 * * *", "America/New_York", "2026-03-08T00:00", "2026-03-08T12:00", ["03-08 07:00"]),
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00", "2026-10-04T16:00", ["10-03 15:30", "10-04 15:15"]),
        ("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00", "2026-04-05T16:00", ["04-04 14:45", "04-05 15:15"]),
    ],
)
def test_a_time_of_day_is_due_once_a_day_even_where_it_is_skipped_or_repeated(
    line: str, zone: str, after: str, until: str, expected: list[str]
) -> None:
    assert due(cron(line, zone), after, until) == expected


@pytest.mark.parametrize(
    ("line", "zone", "after", "until", "expected"),
    [
        ("30 * * * *", "Europe/Lisbon", "2026-03-29T00:00", "2026-03-29T02:00", ["03-29 00:30", "03-29 01:30"]),
        ("30 * * * *", "Europe/Lisbon", "2026-10-25T00:00", "2026-10-25T02:00", ["10-25 00:30", "10-25 01:30"]),
        (
            "*/15 * * * *",
            "Australia/Lord_Howe",
            "2026-04-04T14:25",
            "2026-04-04T15:35",
            ["04-04 14:30", "04-04 14:45", "04-04 15:00", "04-04 15:15", "04-04 15:30"],
        ),
        (
            "0 * * * *",
            "Australia/Lord_Howe",
            "2026-10-03T13:00",
            "2026-10-03T17:00",
            ["10-03 13:30", "10-03 14:30", "10-03 16:00", "10-03 17:00"],
        ),
    ],
)
def test_an_interval_follows_the_clock_on_the_wall_and_goes_on_while_it_is_set(
    line: str, zone: str, after: str, until: str, expected: list[str]
) -> None:
    assert due(cron(line, zone), after, until) == expected


def test_every_minute_of_an_hour_is_there_where_the_clocks_change_by_half_an_hour() -> None:
    """The library alone, stepping by whole hours, begins this hour at its half."""
    zone = "Australia/Lord_Howe"
    line = cron("* 3 * * *", zone)
    alone = next(CronSim("* 3 * * *", datetime(2026, 4, 5, 1, tzinfo=ZoneInfo(zone))))
    assert f"{alone:%H:%M}" == "03:30"
    assert due(line, "2026-04-04T14:00", "2026-04-04T18:00")[0] == "04-04 16:30"
    assert len(due(line, "2026-04-04T14:00", "2026-04-04T18:00")) == 60


LINES = st.sampled_from(
    ["* * * * *", "*/7 * * * *", "30 * * * *", "15,45 1-2 * * *", "30 2 * * *", "0 0 * * *", "* 2 * * *", "0 */3 * * 0"]
)
ZONES = st.sampled_from(["UTC", "Europe/Lisbon", "America/New_York", "Australia/Lord_Howe", "Antarctica/Troll"])
CHANGES = [at(f"2026-{day}T12:00") for day in ("03-07", "03-28", "04-04", "10-03", "10-24", "10-31", "07-01")]
MOMENTS = st.builds(
    lambda day, seconds: day + timedelta(seconds=seconds), st.sampled_from(CHANGES), st.integers(0, 2 * 86_400)
)


@tuned(max_examples=150, deadline=None)
@given(LINES, ZONES, st.lists(MOMENTS, min_size=3, max_size=3).map(sorted))
def test_what_is_due_does_not_depend_on_when_a_clock_looks(line: str, zone: str, moments: list[datetime]) -> None:
    schedule = cron(line, zone)
    first, middle, last = moments
    last = min(last, first + 3 * DAY)
    middle = min(middle, last)
    whole = schedules.due_times(schedule, first, last, 10_000)
    parts = schedules.due_times(schedule, first, middle, 10_000) + schedules.due_times(schedule, middle, last, 10_000)
    assert parts == whole
    assert whole == sorted(set(whole))
    assert schedules.last_due(schedule, first, last) == (whole[-1] if whole else None)
    assert schedules.next_due(schedule, first) == (whole[0] if whole else schedules.next_due(schedule, last))


@tuned(max_examples=100, deadline=None)
@given(LINES, st.sampled_from(["UTC", "Europe/Lisbon", "America/New_York"]), MOMENTS)
def test_where_clocks_change_by_whole_hours_the_library_says_the_same(line: str, zone: str, after: datetime) -> None:
    theirs = (moment.astimezone(UTC) for moment in CronSim(line, after.astimezone(ZoneInfo(zone))))
    expected = list(islice((moment for moment in theirs if moment > after), 40))
    assert schedules.due_times(cron(line, zone), after, at("2100-01-01T00:00"), 40) == expected


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("0 0 30 2 *", "never comes"),
        ("0 0 31 4,6 *", "never comes"),
        ("0 0 */31 2 1#5", "never comes"),
        ("0 25 * * *", "`25` is no hour"),
        ("0 0 * * 1#6", "`1#6` is no weekday"),
        ("* * * * * *", "this one has 6"),
    ],
)
def test_a_line_that_is_wrong_or_never_comes_is_refused_with_the_reason(line: str, named: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse({"name": "r", "schedule": {"cron": line}, "actions": [RUN]})
    [problem] = refused.value.problems
    assert problem.pointer == "/schedule/cron"
    assert named in problem.detail


# The rows.

HOURLY: Json = {"cron": "0 * * * *"}
PAGE = 500


def save(app: Database, name: str = "tick", *, tenant: str = TENANT, **more: Any) -> None:
    document = a_document(name=name, **({"schedule": HOURLY} | more))
    document.pop("event_type", None)
    with app.tenant(tenant) as tx:
        store.save(tx, tenant, document, author="test")


def scheduled(queue: Database, name: str = "tick") -> Scheduled:
    """A rule as a clock reads it now."""
    book = LiveRules(1e-9)
    with queue.queue() as tx:
        book.refresh(tx)
    return next(one for one in schedules.of_all(book.sets) if one.rule.name == name)


def look(
    queue: Database,
    now: datetime,
    name: str = "tick",
    *,
    catch_up: schedules.CatchUp = "once",
    page: int = PAGE,
    known: Scheduled | None = None,
) -> Fired | None:
    with queue.queue() as tx:
        return schedules.fire(tx, known or scheduled(queue, name), now, catch_up, page)


def ticks(queue: Database) -> list[Any]:
    with queue.queue() as tx:
        return list(tx.execute(text("SELECT * FROM events WHERE event_type = 'clock.ticked' ORDER BY seq")))


def ids(queue: Database) -> list[str]:
    return [tick.id for tick in ticks(queue)]


def row(queue: Database, name: str = "tick") -> Any:
    with queue.queue() as tx:
        return tx.execute(text("SELECT * FROM schedules WHERE rule = :name"), {"name": name}).one_or_none()


def at_least_users(app: Database, count: int) -> list[str]:
    names = [f"user-{number:05}" for number in range(count)]
    accept_all(app, [said("hello", session=f"s-{name}", user=name) for name in names])
    return names


def test_a_rule_seen_for_the_first_time_owes_nothing_for_the_past(app: Database, queue: Database) -> None:
    save(app)
    assert look(queue, NOON) == Fired(0, NOON + HOUR)
    assert ids(queue) == []
    assert row(queue).fired_to == NOON


def test_a_due_time_is_one_event_whose_id_names_rule_and_time(app: Database, queue: Database) -> None:
    save(app, schedule={"cron": "0 14 * * *", "timezone": "Europe/Lisbon"})
    look(queue, NOON)
    assert look(queue, NOON + 2 * HOUR) == Fired(1, at("2026-11-22T14:00"))
    [tick] = ticks(queue)
    assert (tick.id, tick.source, tick.subject) == ("tick@2026-11-21T14:00:00Z", "imprint", "rule:tick")
    assert (tick.time, tick.hop, tick.root_seq, tick.correlation_id) == (NOON + 2 * HOUR, 0, None, tick.id)
    assert tick.payload == {
        "rule": "tick",
        "version": 1,
        "due_at": "2026-11-21T14:00:00Z",
        "timezone": "Europe/Lisbon",
    }


def test_whoever_looks_again_finds_nothing_due(app: Database, queue: Database) -> None:
    save(app)
    look(queue, NOON)
    assert [look(queue, NOON + HOUR), look(queue, NOON + HOUR)] == [
        Fired(1, NOON + 2 * HOUR),
        Fired(0, NOON + 2 * HOUR),
    ]
    assert len(ids(queue)) == 1


def test_a_row_that_another_clock_holds_is_left_to_it(app: Database, queue: Database) -> None:
    save(app)
    look(queue, NOON)
    rule = scheduled(queue)
    with queue.queue() as tx:
        schedules.fire(tx, rule, NOON + HOUR, "once", PAGE)
        assert look(queue, NOON + HOUR, known=rule) is None
    assert len(ids(queue)) == 1


def test_even_a_row_set_back_fires_no_due_time_twice(app: Database, queue: Database) -> None:
    save(app)
    look(queue, NOON)
    look(queue, NOON + HOUR)
    with queue.queue() as tx:
        tx.execute(text("UPDATE schedules SET fired_to = :noon"), {"noon": NOON})
    assert look(queue, NOON + HOUR) == Fired(0, NOON + 2 * HOUR)
    assert len(ids(queue)) == 1


@pytest.mark.parametrize(
    ("catch_up", "hours"),
    [("skip", []), ("once", [16]), ("all", [13, 14, 15, 16])],
)
def test_a_stopped_clock_catches_up_as_it_is_set(
    app: Database, queue: Database, catch_up: schedules.CatchUp, hours: list[int]
) -> None:
    save(app)
    look(queue, NOON)
    fired = look(queue, NOON + 4.5 * HOUR, catch_up=catch_up)
    assert fired == Fired(len(hours), NOON + 5 * HOUR)
    assert ids(queue) == [f"tick@2026-11-21T{hour}:00:00Z" for hour in hours]
    assert look(queue, NOON + 4.5 * HOUR, catch_up="all") == Fired(0, NOON + 5 * HOUR), "it is dealt with for good"


@pytest.mark.parametrize("late", [0, 59, 60])
def test_a_clock_that_is_a_minute_late_has_missed_nothing(app: Database, queue: Database, late: int) -> None:
    save(app)
    look(queue, NOON)
    look(queue, NOON + HOUR + timedelta(seconds=late), catch_up="skip")
    assert ids(queue) == ["tick@2026-11-21T13:00:00Z"]


def test_catching_up_with_all_goes_on_in_the_next_turn(
    app: Database, queue: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedules, "AT_ONCE", 3)
    save(app)
    look(queue, NOON)
    now = NOON + 4.5 * HOUR
    first = look(queue, now, catch_up="all")
    assert first == Fired(3, NOON + 4 * HOUR)
    assert look(queue, now, catch_up="all") == Fired(1, NOON + 5 * HOUR)
    assert len(ids(queue)) == 4


def test_another_time_table_fires_nothing_for_the_past(app: Database, queue: Database) -> None:
    save(app)
    look(queue, NOON)
    save(app, schedule={"cron": "*/5 * * * *"})
    assert look(queue, NOON + 3 * HOUR, catch_up="all") == Fired(0, NOON + 3 * HOUR + timedelta(minutes=5))
    assert ids(queue) == []
    look(queue, NOON + 3.1 * HOUR, catch_up="all")
    assert ids(queue) == ["tick@2026-11-21T15:05:00Z"]


def test_an_edit_of_something_else_keeps_the_time_table(app: Database, queue: Database) -> None:
    save(app)
    look(queue, NOON)
    save(app, description="why")
    look(queue, NOON + HOUR)
    [tick] = ticks(queue)
    assert tick.payload["version"] == 2


def test_a_clock_that_has_not_read_an_edit_yet_leaves_the_row_alone(app: Database, queue: Database) -> None:
    save(app)
    look(queue, NOON)
    old = scheduled(queue)
    save(app, schedule={"cron": "*/5 * * * *"})
    look(queue, NOON)
    assert look(queue, NOON + HOUR, known=old) is None
    assert row(queue).schedule == {"cron": "*/5 * * * *"}
    assert row(queue).fired_to == NOON


def test_a_disabled_rule_passes_its_times_silently_and_owes_none_of_them_later(app: Database, queue: Database) -> None:
    save(app)
    look(queue, NOON)
    save(app, enabled=False)
    assert look(queue, NOON + HOUR, catch_up="all") == Fired(0, NOON + 2 * HOUR)
    save(app)
    look(queue, NOON + 5.5 * HOUR, catch_up="all")
    assert ids(queue) == []
    look(queue, NOON + 6 * HOUR, catch_up="all")
    assert ids(queue) == ["tick@2026-11-21T18:00:00Z"]


def test_due_times_outside_of_the_rule_s_span_are_not_caught_up(app: Database, queue: Database) -> None:
    save(app, starts_at="2026-11-21T14:00:00Z", ends_at="2026-11-21T16:00:00Z")
    look(queue, NOON)
    look(queue, NOON + 8 * HOUR, catch_up="all")
    assert ids(queue) == ["tick@2026-11-21T14:00:00Z", "tick@2026-11-21T15:00:00Z"]


def test_rows_of_rules_that_are_gone_go_too(app: Database, queue: Database) -> None:
    for name in ("kept", "deleted", "reacts"):
        save(app, name)
        look(queue, NOON, name)
    with app.tenant(TENANT) as tx:
        store.delete(tx, TENANT, "deleted", author="test")
        store.save(tx, TENANT, a_document(name="reacts", event_type="order.placed"), author="test")
    with queue.queue() as tx:
        assert schedules.forget_gone(tx) == 2
    assert [row(queue, name) is None for name in ("kept", "deleted", "reacts")] == [False, True, True]


def test_a_tick_for_each_user_comes_in_pages(app: Database, queue: Database) -> None:
    names = at_least_users(app, 1200)
    accept(app, said("hello", session="x", user="user-00003"), said("hello", session="y", user="zoe"))
    accept(app, said("hello", user="of-another-tenant"), tenant="globex")
    save(app, schedule={**HOURLY, "for_each": "user"})
    look(queue, NOON)
    now = NOON + HOUR
    pages = []
    while not pages or pages[-1].again_at == now:
        fired = look(queue, now)
        assert fired is not None
        pages.append(fired)
    assert [page.events for page in pages] == [500, 500, 201]
    told = [tick.payload["user_id"] for tick in ticks(queue)]
    assert told == [*names, "zoe"]
    [first, *_] = ticks(queue)
    assert (first.id, first.user_id) == ("tick@2026-11-21T13:00:00Z@user-00000", "user-00000")
    assert (row(queue).fired_to, row(queue).due_at, row(queue).page_after) == (now, None, None)


def test_a_user_of_whom_only_memories_are_left_is_told_too(app: Database, queue: Database) -> None:
    accept(app, said("hello", user="ada"))
    with app.tenant(TENANT) as tx:
        tx.execute(MEMORY, {"tenant": TENANT, "user": "grace"})
    save(app, schedule={**HOURLY, "for_each": "user"})
    look(queue, NOON)
    look(queue, NOON + HOUR)
    assert [tick.user_id for tick in ticks(queue)] == ["ada", "grace"]


def test_a_clock_that_dies_between_two_pages_is_followed_by_one_that_goes_on(app: Database, queue: Database) -> None:
    at_least_users(app, 7)
    save(app, schedule={**HOURLY, "for_each": "user"})
    look(queue, NOON)
    look(queue, NOON + HOUR, page=3)
    with queue.queue() as tx:
        schedules.fire(tx, scheduled(queue), NOON + HOUR, "once", 3)
        tx.rollback()
    assert len(ids(queue)) == 3
    late = NOON + 9.5 * HOUR
    for _ in range(2):
        look(queue, late, page=3, catch_up="skip")
    assert len(set(ids(queue))) == 7
    assert all("T13:00" in name for name in ids(queue)), "the users of one due time, before anything else"


def test_a_rule_disabled_while_it_goes_from_user_to_user_stops(app: Database, queue: Database) -> None:
    at_least_users(app, 7)
    save(app, schedule={**HOURLY, "for_each": "user"})
    look(queue, NOON)
    look(queue, NOON + HOUR, page=3)
    save(app, schedule={**HOURLY, "for_each": "user"}, enabled=False)
    look(queue, NOON + HOUR, page=3)
    assert (len(ids(queue)), row(queue).due_at) == (3, None)


def test_the_users_of_a_page_are_found_without_reading_anyone_s_rows_through(
    settings: Settings, app: Database, queue: Database
) -> None:
    users = [f"u{n % 3}" for n in range(900)]
    accept_all(app, [said("hello", session=f"s{n}", user=user) for n, user in enumerate(users)])
    with app.tenant(TENANT) as tx:
        tx.execute(MEMORY, [{"tenant": TENANT, "user": user} for user in users])
    analyzed(settings, "sessions", "memories")
    with queue.queue() as tx:
        plan = carried_out(tx, schedules._USERS.text, {"tenant": TENANT, "after": None, "page": PAGE})
    assert [sum(looked_at(plan, table)) for table in ("sessions", "memories")] == [3, 3], plan


MEMORY = text("""
    INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, trust,
                          status, occurred_at)
    VALUES (:tenant, gen_random_uuid(), :user, 'Grace', 'semantic', 'fact', 'other', 'Grace compiles.', 'k',
            'confirmed', 'active', now())
""")


@pytest.mark.parametrize(
    ("line", "days"),
    [("0 8 1-7 * mon", [1, 2, 3, 4, 5, 6, 7, 9]), ("0 8 */2 * mon", [9, 23]), ("0 8 * * mon#1", [2])],
)
def test_a_day_of_the_month_and_a_weekday_are_read_as_unix_reads_them(line: str, days: list[int]) -> None:
    november = datetime(2026, 11, 1, tzinfo=UTC)
    due = schedules.due_times(Schedule(cron=line), november, november + timedelta(days=30), 8)
    assert [moment.day for moment in due] == days
