"""Alarms: rules with counts. The clock counts at each due time, and announces what has begun or ceased to hold.

A row of `alarms` for each raised alarm makes the edge. In one transaction the rows and their events are written, and
the schedule is moved on, so several clocks, or one that is killed, announce each edge once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any, Final, Literal, NamedTuple

from psycopg.errors import QueryCanceled
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from core.errors import Invalid, Problem
from core.events import log
from core.events.log import SOURCE, Announcement
from core.storage.db import Tx, recordset
from core.types import Event, Json
from rules.document.alarm_checks import compared_counts
from rules.document.counting import AnyCount
from rules.document.schema import Rule
from rules.document.timing import Schedule
from rules.engine import counts
from rules.engine.conditions import compile_conditions
from rules.engine.counts import TENANT, DailyBudget, Look, Subject
from rules.expressions.facts import Facts
from rules.flow import schedules
from rules.flow.schedules import Fired, Scheduled, rule_key, utc

EDGES: Final = 1_000
"""Edges announced at one due time; those beyond it follow at the next."""

LOOK_SECONDS: Final = 2.0
"""Maximum time of one count, because the alarms of all tenants share the clock."""

Reason = Literal["over", "absent", "ended", "disabled", "changed"]
"""Why an alarm is over: by its counts; because of its key nothing is counted any more; or because the rule is over by
`ends_at`, was disabled, or was deleted or counts for other keys.
"""

_KEY_FIELDS: Final = {"user": "user_id", "session": "session_id", "source": "source"}
"""Field of the payload that names the key, by what the rule looks at each of."""


class AlarmRule(NamedTuple):
    """What the events of an alarm say of its rule; `for_each`: tenant, user, session or source."""

    name: str
    version: int
    for_each: str

    @classmethod
    def of(cls, scheduled: Scheduled) -> AlarmRule:
        return cls(scheduled.rule.name, scheduled.version, scheduled.schedule.for_each)


@dataclass(frozen=True, slots=True)
class Edge:
    """An alarm that begins (`since` is None) or is over for a reason, for a key, with what was counted."""

    key: str
    counts: Json
    since: datetime | None = None
    reason: Reason = "over"


def subject(scheduled: Scheduled, dues: Sequence[datetime], *, is_live: bool = False) -> Subject:
    """Return what an alarm counts for at these due times."""
    rule = scheduled.rule
    compared = compared_counts(rule.conditions, rule.clears)
    return Subject(scheduled.tenant_id, scheduled.schedule.for_each, dues, compared, is_live)


def edges(scheduled: Scheduled, due: datetime, look: Look, raised: Mapping[str, datetime]) -> list[Edge]:
    """Return what has begun or ceased to hold. Nothing has where rows were left out of the counts.

    `raised`: the raised alarms by key, each with its beginning. Where more than MAX_KEYS would be raised, none is, and
    the look becomes partial.
    """
    rule = scheduled.rule
    if look.partial or rule.counts is None:
        return []
    opens, closes = compile_conditions(rule.conditions), compile_conditions(rule.clears)
    nothing = counts.complete(rule.counts, {})
    begun, over = list[Edge](), list[Edge]()
    for key in sorted({*look.by_key, *raised}):
        numbers = look.by_key.get(key, nothing)
        facts = Facts(_event(AlarmRule.of(scheduled), due, Edge(key, numbers)))
        if key not in raised and opens(facts):
            begun.append(Edge(key, numbers))
        elif key in raised and (closes(facts) if rule.clears else not opens(facts)):
            over.append(Edge(key, numbers, raised[key]))
        elif key in raised and key not in look.by_key and due - raised[key] > _longest(rule.counts):
            over.append(Edge(key, numbers, raised[key], "absent"))
    if begun and len(raised) + len(begun) > counts.MAX_KEYS:
        begun, look.partial = [], True
    return sorted([*begun, *over], key=lambda edge: edge.key)[:EDGES]


def _longest(counted: Mapping[str, AnyCount]) -> timedelta:
    return timedelta(seconds=max(getattr(count, "within_seconds", None) or 0 for count in counted.values()))


def after(raised: Mapping[str, datetime], changed: Iterable[Edge], due: datetime) -> dict[str, datetime]:
    """Return the raised alarms after these edges, by key, each with its beginning."""
    remaining = dict(raised)
    for edge in changed:
        if edge.since is None:
            remaining[edge.key] = due
        else:
            del remaining[edge.key]
    return remaining


def announcement(rule: AlarmRule, due: datetime, edge: Edge) -> Announcement:
    """Return `alarm.raised`, to which the rule reacts, or `alarm.cleared`; its id does not depend on the clock."""
    payload, verb = _payload(rule, due, edge), "raised"
    if edge.since is not None:
        payload, verb = payload | {"raised_at": utc(edge.since), "reason": edge.reason}, "cleared"
    # Not the key itself: the id stays where a user is erased.
    digest = [blake2b(edge.key.encode(), digest_size=8).hexdigest()] if edge.key else []
    name = "@".join([rule.name, utc(due), verb, *digest])
    return Announcement(name, f"alarm.{verb}", due, payload, f"rule:{rule.name}")


def _payload(rule: AlarmRule, due: datetime, edge: Edge) -> Json:
    named = {_KEY_FIELDS[rule.for_each]: edge.key} if rule.for_each in _KEY_FIELDS else {}
    # Without unknown numbers: a comparison with one is false, as with any missing field.
    numbers = {name: number for name, number in edge.counts.items() if number is not None}
    return {"rule": rule.name, "version": rule.version, "due_at": utc(due), **named, "counts": numbers}


def _event(rule: AlarmRule, due: datetime, edge: Edge) -> Event:
    """Return the event that the conditions are evaluated on."""
    raising = announcement(rule, due, edge)
    return Event(0, "", raising.id, SOURCE, raising.event_type, raising.subject, due, raising.payload)


def fire(tx: Tx, scheduled: Scheduled, now: datetime, budget: DailyBudget) -> Fired | None:
    """Look at an alarm whose due time has come; of several missed ones at the latest. From `ends_at` on it is over.

    Like `schedules.fire`: an alarm that is new, enabled again, or whose schedule has changed, is looked at from now on.
    None: another clock holds the row, or the rule has been edited since it was read.
    """
    row = schedules.lock(tx, scheduled)
    if row is None:
        return schedules.begin(tx, scheduled, now)
    end = _end_of(scheduled.rule, now)
    if end is not None:
        return _finish(tx, scheduled, now, end)
    if row.schedule != schedules.table(scheduled):
        return _until_end(scheduled, schedules.store(tx, scheduled, fired_to=now))
    coming = schedules.next_due(scheduled.schedule, row.fired_to)
    if coming is None or coming > now:
        return _until_end(scheduled, Fired(0, coming))
    due = next(iter(schedules.missed_times(scheduled, row.fired_to, now, "once")), None)
    if due is None:
        return _until_end(scheduled, schedules.store(tx, scheduled, fired_to=now))
    fresh = _look(tx, scheduled, due, budget)
    return _until_end(scheduled, schedules.store(tx, scheduled, fired_to=due, fresh=fresh))


def _end_of(rule: Rule, now: datetime) -> Reason | None:
    """Return why a rule counts no longer; None: it does."""
    if not rule.enabled:
        return "disabled"
    return "ended" if rule.ends_at is not None and rule.ends_at <= now else None


def _until_end(scheduled: Scheduled, fired: Fired) -> Fired:
    """Return when to look again: at the latest when the rule is over, which ends its alarms."""
    moments = [moment for moment in (fired.again_at, scheduled.rule.ends_at) if moment is not None]
    return replace(fired, again_at=min(moments, default=None))


def preview(tx: Tx, tenant_id: str, numbered: tuple[Rule, int], now: datetime, budget: DailyBudget) -> Event:
    """Return the event that an alarm would raise with what it counts now; of several keys of the first that it would.

    Invalid: there are too many rows to count.
    """
    rule, version = numbered
    schedule = rule.schedule or Schedule(every_seconds=60)
    scheduled = Scheduled(tenant_id, rule, version, schedule)
    look = counts.look(tx, subject(scheduled, [now], is_live=True), rule.counts or {}, budget)[now]
    if look.partial:
        detail = "there are too many rows to count; shorten `within_seconds`, or name rarer types"
        raise Invalid([Problem("/counts", detail)])
    changed = edges(scheduled, now, look, {})
    key = changed[0].key if changed else min(look.by_key, default=TENANT)
    numbers = look.by_key.get(key, counts.complete(rule.counts or {}, {}))
    return replace(_event(AlarmRule.of(scheduled), now, Edge(key, numbers)), tenant_id=tenant_id)


def _look(tx: Tx, scheduled: Scheduled, due: datetime, budget: DailyBudget) -> int:
    """Count, announce the edges, and write the alarms as they are now; return how many edges there are."""
    look = _count(tx, scheduled, due, budget)
    some = {"most": counts.MAX_KEYS + 1}
    raised = {row.key: row.raised_at for row in tx.execute(_RAISED, rule_key(scheduled) | some)}
    changed = edges(scheduled, due, look, raised)
    rule = AlarmRule.of(scheduled)
    log.announce(tx, scheduled.tenant_id, [announcement(rule, due, edge) for edge in changed])
    over = [edge.key for edge in changed if edge.since is not None]
    if over:
        tx.execute(_DELETE, {**rule_key(scheduled), "keys": over})
    rows = _rows(due, look, changed, after(raised, changed, due))
    values = {"for_each": rule.for_each, "version": rule.version, "due": due, "rows": recordset(rows)}
    tx.execute(_STORE, {**rule_key(scheduled), **values})
    return len(changed)


def _count(tx: Tx, scheduled: Scheduled, due: datetime, budget: DailyBudget) -> Look:
    """Count for a due time; where a count takes longer than LOOK_SECONDS, the look is partial."""
    try:
        with tx.begin_nested():
            tx.execute(_PATIENCE, {"limit": f"{LOOK_SECONDS * 1000:.0f}"})
            look = counts.look(tx, subject(scheduled, [due], is_live=True), scheduled.rule.counts or {}, budget)[due]
            tx.execute(_NO_HASTE)
    except OperationalError as error:
        if not isinstance(error.orig, QueryCanceled):
            raise
        return Look(partial=True)
    return look


def _rows(due: datetime, look: Look, changed: Iterable[Edge], raised: Mapping[str, datetime]) -> list[Json]:
    """Return the rows to write: the last look, which is also the alarm of the tenant, and new alarms of other keys."""
    last: Json = {"key": TENANT, "raised": raised.get(TENANT), "counts": look.by_key.get(TENANT, {})}
    begun = [edge for edge in changed if edge.since is None and edge.key != TENANT]
    rows = [last, *({"key": edge.key, "raised": due, "counts": edge.counts} for edge in begun)]
    return [row | {"partial": look.partial} for row in rows]


def _finish(tx: Tx, scheduled: Scheduled, now: datetime, reason: Reason) -> Fired:
    """Forget the alarms of a rule that need not be looked at before it is edited; those that were raised are over."""
    schedules.store(tx, scheduled, fired_to=now)
    rows = tx.execute(_FORGET, rule_key(scheduled)).all()
    return Fired(_announce_over(tx, {scheduled.tenant_id: rows}, now, reason), None)


def forget_gone(tx: Tx, now: datetime) -> int:
    """Forget the alarms of rules that are gone or count for other keys; return how many of them were raised."""
    rows: defaultdict[str, list[Any]] = defaultdict(list)
    for row in tx.execute(_FORGET_GONE):
        rows[row.tenant_id].append(row)
    return _announce_over(tx, rows, now, "changed")


def _announce_over(tx: Tx, rows: Mapping[str, Sequence[Any]], now: datetime, reason: Reason) -> int:
    """Announce that alarms are over whose rows were deleted, by tenant."""
    raised = {tenant_id: [row for row in of_tenant if row.raised_at] for tenant_id, of_tenant in rows.items()}
    for tenant_id, over in raised.items():
        events = [
            announcement(AlarmRule(row.rule, row.version, row.for_each), now, Edge(row.key, {}, row.raised_at, reason))
            for row in over
        ]
        log.announce(tx, tenant_id, events)
    return sum(map(len, raised.values()))


_PATIENCE = text("SELECT set_config('statement_timeout', :limit, true)")

_NO_HASTE = text("SET LOCAL statement_timeout TO DEFAULT")

_RAISED = text("""
    SELECT key, raised_at FROM alarms WHERE tenant_id = :tenant AND rule = :rule AND raised_at IS NOT NULL
    ORDER BY key LIMIT :most
""")

_DELETE = text("DELETE FROM alarms WHERE tenant_id = :tenant AND rule = :rule AND key = ANY(:keys)")

_STORE = text("""
    INSERT INTO alarms (tenant_id, rule, key, for_each, version, raised_at, looked_at, counts, partial)
    SELECT :tenant, :rule, key, :for_each, :version, raised, :due, counts, partial
    FROM json_to_recordset(cast(:rows AS json)) AS r (key text, raised timestamptz, counts jsonb, partial boolean)
    ON CONFLICT (tenant_id, rule, key) DO UPDATE SET
        for_each = excluded.for_each, version = excluded.version, raised_at = excluded.raised_at,
        looked_at = excluded.looked_at, counts = excluded.counts, partial = excluded.partial
""")

_FORGET = text("DELETE FROM alarms WHERE tenant_id = :tenant AND rule = :rule RETURNING *")

_FORGET_GONE = text("""
    DELETE FROM alarms a WHERE NOT EXISTS (
        SELECT FROM rules r
        WHERE r.tenant_id = a.tenant_id AND r.name = a.rule AND r.deleted_at IS NULL AND r.document ? 'counts'
          AND coalesce(r.document #>> '{schedule,for_each}', 'tenant') = a.for_each)
    RETURNING *
""")
