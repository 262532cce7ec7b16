"""Schedules: due times of rules, and the rows by which several clocks fire each due time once.

Due times follow from the schedule alone, so every clock computes the same ones at any time.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count, groupby, islice, takewhile
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

from cronsim import CronSim
from sqlalchemy import text

from core.events import log
from core.events.log import Announcement
from core.storage.db import Tx
from core.types import Json
from rules.document.schema import Rule
from rules.document.timing import Schedule
from rules.engine.ruleset import Ruleset

CatchUp = Literal["skip", "once", "all"]
"""Missed due times to fire: those of the last minute, the latest one, or all."""

GRACE: Final = timedelta(seconds=60)
"""Delay from which a due time was missed; a clock that is being replaced may be this late."""

AT_ONCE: Final = 1000
"""Due times of a rule caught up in one transaction; the rest follows in the next."""

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MOMENT: Final = timedelta(microseconds=1)
MINUTE: Final = timedelta(minutes=1)

LONGEST_REPEAT: Final = timedelta(days=1)
"""No zone has ever set its clocks back by more than this."""

FIRST_LOOK: Final = timedelta(hours=1)
WIDER: Final = 8
"""Growth factor of the window searched for the latest due time, which starts with the last hour."""


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A rule in force with a schedule."""

    tenant_id: str
    rule: Rule
    version: int
    schedule: Schedule

    @property
    def key(self) -> tuple[str, str]:
        """Return the primary key of the row."""
        return self.tenant_id, self.rule.name


@dataclass(frozen=True, slots=True)
class Fired:
    """Result of one look at a rule's row: how many events were new, and when to look again; None: never."""

    events: int
    again_at: datetime | None


def of_all(sets: Mapping[str, Ruleset]) -> list[Scheduled]:
    """Return the rules with a schedule, of all tenants."""
    return [
        Scheduled(tenant_id, rule, version, rule.schedule)
        for tenant_id, ruleset in sets.items()
        for rule, version in ruleset.rules
        if rule.schedule is not None
    ]


def due_times(schedule: Schedule, after: datetime, until: datetime, limit: int) -> list[datetime]:
    """Return the first `limit` due times after one moment and up to another, in UTC, oldest first."""
    return list(islice(takewhile(lambda due: due <= until, _times_after(schedule, after)), limit))


def next_due(schedule: Schedule, after: datetime) -> datetime | None:
    """Return the first due time after a moment; None: there is none."""
    return next(_times_after(schedule, after), None)


def last_due(schedule: Schedule, after: datetime, until: datetime) -> datetime | None:
    """Return the latest due time after one moment and up to another; None: there is none."""
    window = FIRST_LOOK
    while True:
        since = max(after, until - window)
        due = takewhile(lambda due: due <= until, _times_after(schedule, since))
        latest = next(iter(deque(due, maxlen=1)), None)
        if latest is not None or since == after:
            return latest
        window *= WIDER


def missed_times(scheduled: Scheduled, fired_to: datetime, now: datetime, catch_up: CatchUp) -> list[datetime]:
    """Return the due times to fire now, oldest first, at most AT_ONCE, within the rule's own validity."""
    rule, schedule = scheduled.rule, scheduled.schedule
    since = max(fired_to, rule.starts_at - MOMENT) if rule.starts_at else fired_to
    until = min(now, rule.ends_at - MOMENT) if rule.ends_at else now
    if since >= until:
        return []
    if catch_up == "once":
        latest = last_due(schedule, since, until)
        return [] if latest is None else [latest]
    if catch_up == "skip":
        since = max(since, now - GRACE - MOMENT)
    return due_times(schedule, since, until, AT_ONCE)


def fire(tx: Tx, scheduled: Scheduled, now: datetime, catch_up: CatchUp, page: int) -> Fired | None:
    """Fire the due times of a rule: at most AT_ONCE events, or one page of users; there is more if `again_at` is past.

    A rule that is new, or whose schedule has changed, starts now: past due times are not fired. None: another clock
    holds the row, or the rule has been edited since it was read; look again later.
    """
    row = lock(tx, scheduled)
    if row is None:
        return begin(tx, scheduled, now)
    if row.schedule != table(scheduled) or not scheduled.rule.enabled:
        return store(tx, scheduled, fired_to=now)
    if row.due_at is not None:
        return _fire_page(tx, scheduled, row.due_at, row.page_after, page)
    coming = next_due(scheduled.schedule, row.fired_to)
    if coming is None or coming > now:
        return Fired(0, coming)
    due = missed_times(scheduled, row.fired_to, now, catch_up)
    if due and scheduled.schedule.for_each == "user":
        return _fire_page(tx, scheduled, due[0], None, page)
    fresh = log.announce(tx, scheduled.tenant_id, [tick(scheduled, moment) for moment in due])
    return store(tx, scheduled, fired_to=due[-1] if len(due) == AT_ONCE else now, fresh=fresh)


def lock(tx: Tx, scheduled: Scheduled) -> Any:
    """Lock and return the row of a rule; None: there is none, another clock holds it, or the rule has been edited."""
    return tx.execute(_LOCK, rule_key(scheduled) | {"version": scheduled.version}).one_or_none()


def begin(tx: Tx, scheduled: Scheduled, now: datetime) -> Fired | None:
    """Insert the row of a new rule, whose due times begin now; None: there is one, or the rule has been edited."""
    values = {"version": scheduled.version, "schedule": json.dumps(table(scheduled)), "now": now}
    opened = tx.execute(_OPEN, rule_key(scheduled) | values).rowcount
    return Fired(0, next_due(scheduled.schedule, now)) if opened else None


def store(tx: Tx, scheduled: Scheduled, *, fired_to: datetime, fresh: int = 0) -> Fired:
    """Write up to when due times are dealt with, and that there were `fresh` new events."""
    values = {**rule_key(scheduled), "schedule": json.dumps(table(scheduled)), "fired_to": fired_to}
    tx.execute(_STORE, values)
    return Fired(fresh, next_due(scheduled.schedule, fired_to))


def forget_gone(tx: Tx) -> int:
    """Delete the rows of rules that are deleted or no longer have a schedule; return how many."""
    return tx.execute(_FORGET).rowcount


def users(tx: Tx, tenant_id: str, after: str | None, page: int) -> Sequence[str]:
    """Return up to `page` users of a tenant by name, after the one given."""
    return tx.execute(_USERS, {"tenant": tenant_id, "after": after, "page": page}).scalars().all()


def _fire_page(tx: Tx, scheduled: Scheduled, due: datetime, after: str | None, page: int) -> Fired:
    """Fire a due time for the next users; the row stores the progress, in case this clock dies."""
    reached = users(tx, scheduled.tenant_id, after, page)
    fresh = log.announce(tx, scheduled.tenant_id, [tick(scheduled, due, user) for user in reached])
    if len(reached) < page:
        return store(tx, scheduled, fired_to=due, fresh=fresh)
    tx.execute(_TURN, {**rule_key(scheduled), "due": due, "after": reached[-1]})
    return Fired(fresh, due)


def tick(scheduled: Scheduled, due: datetime, user_id: str | None = None) -> Announcement:
    """Return the event of a due time; its id is the same whichever clock emits it."""
    name = scheduled.rule.name
    due_at = utc(due)
    payload: Json = {"rule": name, "version": scheduled.version, "due_at": due_at}
    if scheduled.schedule.cron is not None:
        payload["timezone"] = scheduled.schedule.timezone
    if user_id is None:
        return Announcement(f"{name}@{due_at}", "clock.ticked", due, payload, f"rule:{name}")
    payload["user_id"] = user_id
    return Announcement(f"{name}@{due_at}@{user_id}", "clock.ticked", due, payload, f"user:{user_id}")


def utc(moment: datetime) -> str:
    """Return a time in UTC, as JSON has it."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def rule_key(scheduled: Scheduled) -> dict[str, str]:
    """Return the rule as parameters of a statement."""
    return {"tenant": scheduled.tenant_id, "rule": scheduled.rule.name}


def table(scheduled: Scheduled) -> Json:
    """Return the baseline of the row's due times; enabling a rule again sets a new one."""
    dumped: Json = scheduled.schedule.model_dump(mode="json", exclude_defaults=True)
    return dumped if scheduled.rule.enabled else dumped | {"enabled": False}


def _times_after(schedule: Schedule, after: datetime) -> Iterator[datetime]:
    if schedule.every_seconds is not None:
        step = timedelta(seconds=schedule.every_seconds)
        return (EPOCH + number * step for number in count((after - EPOCH) // step + 1))
    moments = _moments(schedule.cron or "", ZoneInfo(schedule.timezone), after)
    return (moment for moment, _ in groupby(moments) if moment > after)


def _moments(cron: str, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """Yield the wall-clock times of a cron line in a zone, from a moment on or slightly before.

    Daylight saving follows Debian's cron. A line with fixed minute and hour is due once a day: in a skipped hour
    immediately after it, in a repeated hour the first time. A line with `*` for either follows the wall clock.
    """
    minute, hour, *_ = cron.split()
    is_fixed = not minute.startswith("*") and not hour.startswith("*")
    repeated: deque[datetime] = deque()
    for wall in CronSim(cron, _start(zone, after)):
        first, *second = _instants(wall, zone, is_fixed=is_fixed) or (None,)
        if first is None:
            continue
        while repeated and repeated[0] < first:
            yield repeated.popleft()
        yield first
        repeated.extend(second)


def _start(zone: ZoneInfo, after: datetime) -> datetime:
    """Return the wall-clock time at a moment; near a time change earlier, because times may repeat."""
    around = {(after + shift).astimezone(zone).utcoffset() for shift in (-LONGEST_REPEAT, LONGEST_REPEAT)}
    start = after if len(around) == 1 else after - LONGEST_REPEAT
    return start.astimezone(zone).replace(tzinfo=None)


def _instants(wall: datetime, zone: ZoneInfo, *, is_fixed: bool) -> Sequence[datetime]:
    """Return the instants of a wall-clock time: one, two where clocks go back, none where they go forward."""
    first, second = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if first == second or (first < second and is_fixed):
        return (first,)
    if first < second:
        return first, second
    return (_after_gap(wall, zone),) if is_fixed else ()


def _after_gap(wall: datetime, zone: ZoneInfo) -> datetime:
    """Return the first minute that the wall clock shows again."""
    minutes: Iterable[datetime] = (wall + number * MINUTE for number in count())
    return next(instants[0] for minute in minutes if (instants := _instants(minute, zone, is_fixed=False)))


_LOCK = text("""
    SELECT schedule, fired_to, due_at, page_after FROM schedules s
    WHERE tenant_id = :tenant AND rule = :rule AND EXISTS (
        SELECT FROM rules r
        WHERE r.tenant_id = s.tenant_id AND r.name = s.rule AND r.version = :version AND r.deleted_at IS NULL)
    FOR UPDATE SKIP LOCKED
""")
"""Only the clock that knows the version in force may move the row: one that lags behind would set it back."""

_OPEN = text("""
    INSERT INTO schedules (tenant_id, rule, schedule, fired_to)
    SELECT tenant_id, name, cast(:schedule AS jsonb), :now FROM rules
    WHERE tenant_id = :tenant AND name = :rule AND version = :version AND deleted_at IS NULL
      AND NOT EXISTS (SELECT FROM schedules WHERE tenant_id = :tenant AND rule = :rule)
    ON CONFLICT DO NOTHING
""")
"""An existing row is not touched, because the conflict would wait for the clock that holds it."""

_STORE = text("""
    UPDATE schedules SET schedule = cast(:schedule AS jsonb), fired_to = :fired_to, due_at = NULL, page_after = NULL
    WHERE tenant_id = :tenant AND rule = :rule
""")

_TURN = text("UPDATE schedules SET due_at = :due, page_after = :after WHERE tenant_id = :tenant AND rule = :rule")

_FORGET = text("""
    DELETE FROM schedules s WHERE NOT EXISTS (
        SELECT FROM rules r WHERE r.tenant_id = s.tenant_id AND r.name = s.rule
                              AND r.deleted_at IS NULL AND r.document ? 'schedule')
""")

_USERS = text("""
    WITH RECURSIVE walk (user_id, place) AS (
        SELECT coalesce(cast(:after AS text), ''), 0
        UNION ALL
        SELECT least((SELECT user_id FROM sessions WHERE tenant_id = :tenant AND user_id > walk.user_id
                      ORDER BY user_id LIMIT 1),
                     (SELECT user_id FROM memories WHERE tenant_id = :tenant AND user_id > walk.user_id
                      ORDER BY user_id LIMIT 1)), place + 1
        FROM walk WHERE walk.user_id IS NOT NULL AND place < :page
    )
    SELECT user_id FROM walk WHERE place > 0 AND user_id IS NOT NULL ORDER BY place
""")
"""The next users, each found by one step in the two indexes that begin with the user."""
