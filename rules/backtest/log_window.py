"""A past period as rules would have seen it: the events of the log, and the due times of schedules between them.

Read-only: every transaction is declared so, and ends before its results are passed on.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count, groupby, islice
from operator import itemgetter
from typing import Any, Final, NamedTuple

from sqlalchemy import text

from core.errors import Invalid, Problem
from core.events import expiries
from core.events.log import event_of
from core.events.type_patterns import like
from core.storage.db import Database
from core.types import Event
from rules.backtest import alarm_history, reading
from rules.backtest.alarm_history import AlarmHistory, AlarmSide
from rules.backtest.counters import Side
from rules.document.schema import Rule, Schedule
from rules.engine.counts import NO_BUDGET, DailyBudget
from rules.flow import schedules
from rules.flow.schedules import Scheduled

PAGE: Final = 500
"""Events read at once: as many as a router claims, so the same sizes fit."""

PAGE_SECONDS: Final = 1.0
"""Time after which a page ends."""

MAX_TICKS: Final = 1_000_000
"""Maximum due times, multiplied by users, of schedules in one period."""

FIRST_TICK: Final = -(2**40)
"""Seq of the first due time; they increase, and never reach those of the log."""

MOMENT: Final = timedelta(microseconds=1)

Sides = Sequence[Side]

Met = tuple[Event, Sides]
"""An event, and the sides that see it: a scheduled rule sees its due times, any other the log."""

Numbered = tuple[Rule, int]
"""A rule with its version."""


class Tick(NamedTuple):
    """A due time, whether it applies to every user or once to the tenant, and the sides whose schedule it is in."""

    due: datetime
    for_users: bool
    sides: Sides


@dataclass(frozen=True, slots=True)
class LogWindow:
    """Everything from `since` to before `until`, in event time, that may concern the rules of either side.

    `total`: number of events; `first_seq` and `last_seq`: positions of those in the log, when they were counted.
    `expired`: how many of them have lost their payload by the tenant's retention.
    """

    db: Database
    tenant_id: str
    since: datetime
    until: datetime
    rules: Mapping[Side, Numbered]
    ticks: Sequence[Tick]
    alarms: AlarmHistory
    total: int
    first_seq: int
    last_seq: int
    expired: int

    def pages(self) -> Iterator[list[Met]]:
        """Yield all of it page by page, in the order in which the rules see it: that of the log."""
        merged = self._merge()
        while page := _page(merged):
            yield page

    def _merge(self) -> Iterator[Met]:
        """Merge due times before the first event that is not earlier; late events do not set the clock back."""
        on_log = [side for side, (rule, _) in self.rules.items() if rule.schedule is None]
        ticks = heapq.merge(self._ticks(), self.alarms.looks(), key=lambda met: met[0].time)
        tick, clock = next(ticks, None), self.since
        for event in self._log():
            clock = max(clock, event.time)
            while tick is not None and tick[0].time <= clock:
                yield tick
                tick = next(ticks, None)
            yield event, on_log
        if tick is not None:
            yield tick
            yield from ticks

    def _log(self) -> Iterator[Event]:
        types, after = _types(rule for rule, _ in self.rules.values()), self.first_seq - 1
        if types is None:
            return
        values = {**types, "since": self.since, "until": self.until, "last": self.last_seq, "page": PAGE}
        while True:
            with reading.read_only(self.db, self.tenant_id) as tx:
                rows = tx.execute(_PAGE, {**values, "after": after}).all()
            yield from map(event_of, rows)
            if len(rows) < PAGE:
                return
            after = rows[-1].seq

    def _ticks(self) -> Iterator[Met]:
        """Yield the due times as events; their seqs precede the log, so no other event has them."""
        seqs = count(FIRST_TICK)
        for tick in self.ticks:
            scheduled = self._schedule_of(tick.sides[0])
            users: Iterable[str | None] = _users(self.db, self.tenant_id) if tick.for_users else (None,)
            for user in users:
                announced = schedules.tick(scheduled, tick.due, user)
                yield alarm_history.event_of(next(seqs), self.tenant_id, announced), tick.sides

    def _schedule_of(self, side: Side) -> Scheduled:
        rule, version = self.rules[side]
        if rule.schedule is None:
            raise ValueError(side)
        return Scheduled(self.tenant_id, rule, version, rule.schedule)


def _page(merged: Iterator[Met]) -> list[Met]:
    """Return the next page; a short one where it comes slowly, as the looks of alarms may."""
    page, ends = list(islice(merged, 1)), time.monotonic() + PAGE_SECONDS
    while len(page) < PAGE and time.monotonic() < ends:
        met = next(merged, None)
        if met is None:
            break
        page.append(met)
    return page


def open_window(
    db: Database,
    tenant_id: str,
    since: datetime | None,
    until: datetime,
    rules: Mapping[Side, Numbered],
    *,
    budget: DailyBudget = NO_BUDGET,
) -> LogWindow:
    """Return the window up to `until`, without `since` from where the tenant's log has no gaps.

    Invalid: it is empty, or events that it should have are no longer kept.
    """
    if since is not None and since >= until:
        raise Invalid([Problem("/to", f"must come after `from`, which is {since.isoformat()}")])
    with reading.read_only(db, tenant_id) as tx:
        begin = since or min(tx.execute(_BEGIN).scalar_one() or until, until)
        begin = _within_log(begin, since, expiries.newest(tx, "events"))
        types = _types(rule for rule, _ in rules.values())
        extent = tx.execute(_EXTENT, {**types, "since": begin, "until": until}).one() if types else None
    ticks = _time_table(rules, begin, until)
    alarms = AlarmHistory(db, tenant_id, _alarms(tenant_id, rules, begin, until), budget)
    alarms.require_few()
    total = _count_ticks(db, tenant_id, ticks) + alarms.total + (extent.total if extent else 0)
    first, last = (extent.first, extent.last) if extent and extent.total else (1, 0)
    expired = extent.expired if extent else 0
    return LogWindow(db, tenant_id, begin, until, rules, ticks, alarms, total, first, last, expired)


def _within_log(begin: datetime, since: datetime | None, left: datetime | None) -> datetime:
    """Return the beginning, behind the newest event that has left. Invalid: an earlier one was asked for."""
    if left is None or begin > left:
        return begin
    if since is not None:
        detail = (
            f"events up to {left.isoformat()} are no longer kept (GET /v1/tenant/retention), so that the figures would "
            "be wrong; begin later, or leave it out"
        )
        raise Invalid([Problem("/from", detail)])
    return left + MOMENT


def _types(rules: Iterable[Rule]) -> dict[str, Any] | None:
    """Return the events that the rules react to or end a wait on, as query parameters; None: no event of the log."""
    patterns = {pattern for rule in rules for pattern in _patterns(rule)}
    return matching(patterns) if patterns else None


def matching(patterns: Collection[str]) -> dict[str, Any]:
    """Return patterns of event types as the query parameters of `OF_TYPES`."""
    return {
        "every": "*" in patterns,
        "exact": sorted(pattern for pattern in patterns if "*" not in pattern),
        "like": [like(pattern) for pattern in sorted(patterns) if "*" in pattern],
    }


def _patterns(rule: Rule) -> Collection[str]:
    answered = rule.event_types if rule.schedule is None else ()
    return {*answered, *(rule.flow.debounce.flush_on if rule.flow.debounce else ())}


def _time_table(rules: Mapping[Side, Numbered], since: datetime, until: datetime) -> list[Tick]:
    """Merge the due times of the sides that have a schedule; a time that both have counts once."""
    due_times = sorted(
        (due, rule.schedule.for_each == "user", side)
        for side, (rule, _) in rules.items()
        if rule.schedule is not None and rule.counts is None
        for due in _due(rule, rule.schedule, since, until)
    )
    return [
        Tick(due, for_users, [side for *_, side in same])
        for (due, for_users), same in groupby(due_times, itemgetter(0, 1))
    ]


def _alarms(tenant_id: str, rules: Mapping[Side, Numbered], since: datetime, until: datetime) -> dict[Side, AlarmSide]:
    return {
        side: AlarmSide(Scheduled(tenant_id, rule, version, rule.schedule), _due(rule, rule.schedule, since, until))
        for side, (rule, version) in rules.items()
        if rule.schedule is not None and rule.counts is not None
    }


def _due(rule: Rule, schedule: Schedule, since: datetime, until: datetime) -> list[datetime]:
    """Return due times as the clock computes them; none outside the rule's own span of time."""
    begin = max(since, rule.starts_at) if rule.starts_at else since
    end = min(until, rule.ends_at) if rule.ends_at else until
    return schedules.due_times(schedule, begin - MOMENT, end - MOMENT, MAX_TICKS + 1)


def _count_ticks(db: Database, tenant_id: str, ticks: Sequence[Tick]) -> int:
    for_users = sum(tick.for_users for tick in ticks)
    users = sum(1 for _ in _users(db, tenant_id)) if for_users else 0
    total = len(ticks) + for_users * (users - 1)
    if total > MAX_TICKS:
        detail = (
            f"the schedule is due more than {MAX_TICKS:,} times in this range (once a user counts each); shorten it"
        )
        raise Invalid([Problem("/from", detail)])
    return total


def _users(db: Database, tenant_id: str) -> Iterator[str]:
    after = None
    while True:
        with reading.read_only(db, tenant_id) as tx:
            page = schedules.users(tx, tenant_id, after, PAGE)
        yield from page
        if len(page) < PAGE:
            return
        after = page[-1]


_BEGIN = text("SELECT min(time) FROM events")

OF_TYPES: Final = """
    (cast(:every AS bool) OR event_type = ANY(cast(:exact AS text[])) OR event_type LIKE ANY(cast(:like AS text[])))
"""

_WITHIN = f"time >= :since AND time < :until AND {OF_TYPES}"

_EXTENT = text(f"""
    SELECT count(*) AS total, min(seq) AS first, max(seq) AS last,
           count(*) FILTER (WHERE jsonb_exists(payload, 'expired')) AS expired
    FROM events WHERE {_WITHIN}
""")
_PAGE = text(f"""
    SELECT seq, tenant_id, id, source, event_type, subject, time, payload, session_id, user_id, '', NULL, hop, 0,
           coalesce(lineage, '{{}}')
    FROM events WHERE seq > :after AND seq <= :last AND {_WITHIN}
    ORDER BY seq LIMIT :page
""")
"""In the order of Event's fields; fields of its chain that no rule reads are left out."""
