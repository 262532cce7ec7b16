"""The clock: Celery's beat with a scheduler over database rows; its own state can be lost.

Each turn sends due dispatches, expires approvals, fires schedules and reads gauges. Several clocks share the work.
"""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from typing import Any

import structlog
from celery.beat import Scheduler, Service
from sqlalchemy.exc import DBAPIError

from core import metrics, tracing
from core.config import Settings
from core.events import broker_users
from core.events import log as event_log
from core.events.doorbell import BROKER_ERRORS, Doorbell, broker_url
from core.inference.embedding_model import identity
from core.maintenance.heartbeat import Heartbeat
from core.settings.brokers import is_redis
from core.spacing import Spacing
from core.storage import db, schema_version
from core.storage.db import Database
from rules.engine.counts import DailyBudget
from rules.engine.ruleset import Ruleset
from rules.flow import alarms, flow_rows, schedules
from rules.flow.schedules import Fired, Scheduled
from rules.registry import defaults
from rules.registry.live_rules import LiveRules
from workers import app as celery_app
from workers.dispatch import relay, sweep
from workers.dispatch.model import LedgerPolicy
from workers.dispatch.relay import DispatchRef
from workers.dispatch.sweep import Looks
from workers.gauges import GAUGE_SECONDS, Gauges

log = structlog.get_logger()

FAILURE_PAUSE_SECONDS = 1.0
"""Pause after a lost database before the next turn."""

IDLE_SWEEPS = 2
"""Sweeps that are one while no dispatch is open: one that is held until a time is released so much later."""

ALARM_SHARE = 0.5
"""Part of the time between two sweeps that a turn has for alarms, which may take long to count."""

CONNECTIONS = 2
"""One for the turns, one for the heartbeat."""


class Agenda:
    """Next look at each scheduled rule, as one clock knows it; the rows in the database decide."""

    def __init__(self) -> None:
        self._sets: Mapping[str, Ruleset] | None = None
        self._rules: dict[tuple[str, str], Scheduled] = {}
        self._look_at: dict[tuple[str, str], datetime] = {}
        self._deferred: dict[tuple[str, str], datetime] = {}
        """When what could not be fired had been due."""

    def knows(self, sets: Mapping[str, Ruleset]) -> bool:
        """Return whether these are the rules it was made from."""
        return sets is self._sets

    def learn(self, sets: Mapping[str, Ruleset], now: datetime) -> None:
        """Load the rules in force; new and edited ones are due at once."""
        rules = {scheduled.key: scheduled for scheduled in schedules.of_all(sets)}
        unchanged = {
            key for key, rule in rules.items() if key in self._rules and self._rules[key].version == rule.version
        }
        look_at = {key: moment for key, moment in self._look_at.items() if key in unchanged}
        self._look_at = look_at | {key: now for key in rules if key not in unchanged}
        self._deferred = {key: moment for key, moment in self._deferred.items() if key in unchanged}
        self._sets, self._rules = sets, rules

    def due(self, now: datetime) -> list[Scheduled]:
        """Return the rules to look at now, the longest waiting first."""
        waiting = sorted((moment, key) for key, moment in self._look_at.items() if moment <= now)
        return [self._rules[key] for _, key in waiting]

    def lag(self, now: datetime) -> float:
        """Return for how many seconds the rule that is due for longest has been due; 0: none is."""
        oldest = min([*self._look_at.values(), *self._deferred.values()], default=now)
        return max(0.0, (now - oldest).total_seconds())

    def put(self, scheduled: Scheduled, again_at: datetime | None) -> None:
        """Schedule the next look at a rule; None: not before it is edited."""
        self._deferred.pop(scheduled.key, None)
        if again_at is None:
            self._look_at.pop(scheduled.key, None)
        else:
            self._look_at[scheduled.key] = again_at

    def defer(self, scheduled: Scheduled, until: datetime) -> None:
        """Look at a rule later that is due now and cannot be fired."""
        self._deferred.setdefault(scheduled.key, self._look_at[scheduled.key])
        self._look_at[scheduled.key] = until

    def next(self) -> datetime | None:
        """Return the time of the first look; None: there is none."""
        return min(self._look_at.values(), default=None)


class TenantTurns:
    """Order in which tenants have their alarms looked at: the one that was last served longest ago comes first."""

    def __init__(self) -> None:
        self._served: dict[str, int] = {}
        self._numbers = count()

    def next(self, waiting: Sequence[Scheduled]) -> Scheduled:
        """Return the first alarm that waits of the tenant whose turn it is."""
        scheduled = min(waiting, key=lambda alarm: self._served.get(alarm.tenant_id, -1))
        self._served[scheduled.tenant_id] = next(self._numbers)
        return scheduled


class Clock(Scheduler):  # type: ignore[misc]  # Celery has no types.
    """A scheduler for Celery's beat, over the rules in the database.

    With `lazy`, by which Celery asks for a scheduler's settings, it connects to nothing.
    """

    def __init__(
        self, *args: Any, settings: Settings | None = None, database: Database | None = None, **options: Any
    ) -> None:
        """`database`: the pool of the router in the same process, which beats for the clock as well."""
        self._settings = settings or Settings()
        self._budget = DailyBudget.of(self._settings)
        self._shared = database
        self._open: list[Heartbeat | Doorbell | Database] = []
        self._gauged = float("-inf")
        self._spacing = Spacing()
        self._name = ""
        self._looks = Looks()
        self._turns = TenantTurns()
        self._rests = False
        super().__init__(*args, **options)

    def setup_schedule(self) -> None:
        """Connect. Misconfigured: the database does not fit this version, or the role sees too much."""
        self._db = self._shared or db.connect(db.router_url(self._settings), CONNECTIONS)
        if self._shared is None:
            self._require()
        self._book = LiveRules(self._settings.rules_poll_seconds)
        self._agenda = Agenda()
        self._gauges = Gauges(self._db, self._settings)
        self._bell = Doorbell(broker_url(self._settings))
        # The heartbeat of a router in the same process is that of its clock, too.
        self._open = [self._bell] if self._shared else [Heartbeat(self._db, "clock"), self._bell, self._db]

    def _require(self) -> None:
        try:
            db.require_bound(self._db)
            schema_version.require_current(self._db, identity(self._settings))
        except BaseException:
            self._db.close()
            raise

    def tick(self) -> float:
        """Take one turn; return the seconds until the next. A lost database or broker costs a pause only."""
        try:
            return self._turn()
        except (DBAPIError, *BROKER_ERRORS) as error:
            log.warning("turn.failed", error=str(error).splitlines()[0])
            return FAILURE_PAUSE_SECONDS

    def close(self) -> None:
        """Close all connections; Celery may call this twice."""
        super().close()
        while self._open:
            self._open.pop(0).close()

    def _turn(self) -> float:
        began = time.monotonic()
        now = self._sweep(began)
        metrics.CLOCK_LAG.set(self._agenda.lag(now))
        self._fire(now)
        if began - self._gauged >= GAUGE_SECONDS and self._spacing.is_due:
            with self._spacing.look():
                self._gauges.read()
            self._gauged = began
            self._announce()
        next_at = self._agenda.next()
        wait = self._settings.sweep_seconds * (IDLE_SWEEPS if self._rests else 1)
        if next_at is not None:
            wait = min(wait, (next_at - now).total_seconds() - (time.monotonic() - began))
        return max(wait, 0.0)

    def _announce(self) -> None:
        """Say on the broker which installation uses it, if it answers; `imprint doctor` finds a second one by that."""
        url = broker_url(self._settings)
        if not is_redis(url):
            return
        self._name = self._name or broker_users.installation(self._db)
        try:
            broker_users.announce(url, self._name)
        except BROKER_ERRORS as error:
            log.warning("announcement.failed", error=str(error).partition("\n")[0])

    def _sweep(self, began: float) -> datetime:
        """Send due dispatches, expire approvals, load the rules; return the database's time, which all clocks use."""
        now: datetime
        expired, over, glances = 0, 0, self._looks.glances
        glance, timed = (sweep.GLANCE, glances.look()) if glances.is_due else (sweep.NOW, nullcontext())
        with timed:
            ((now, expiring, owing),), *stands = self._db.ask_queues(glance, *self._book.asking)
        # What the agenda does not know was read in a turn that failed then.
        if self._book.edited(stands) or expiring or not self._agenda.knows(self._book.sets):
            with self._db.queue() as tx:
                self._book.refresh(tx)
                if not self._agenda.knows(self._book.sets):
                    schedules.forget_gone(tx)
                    over = alarms.forget_gone(tx, now)
                expired = sweep.expire(tx) if expiring else 0
        if began - self._gauged >= GAUGE_SECONDS:
            self._db.ask_queues(*flow_rows.forgetting(now))
        if not self._agenda.knows(self._book.sets):
            self._agenda.learn(self._book.sets, now)
        self._rests = not expiring and not owing
        owed = self._owed() if owing else []
        relay.send(self.app, owed)
        metrics.DISPATCHES_RESENT.inc(len(owed))
        if expired or over or owed:  # A router that rests then looks at what they emit.
            self._bell.notify()
        return now

    def _owed(self) -> list[DispatchRef]:
        """Return dispatches to send; in two transactions, because each ends with the turns locked."""
        policy = LedgerPolicy.of(self._settings)
        with self._db.queue() as tx:
            released = sweep.release(tx, policy)
        with self._db.queue() as tx:
            return released + sweep.due(tx, policy, looks=self._looks)

    def _fire(self, now: datetime) -> None:
        """Fire what is due, alarms last."""
        due = self._agenda.due(now)
        self._fire_schedules(deque(scheduled for scheduled in due if scheduled.rule.counts is None), now)
        self._fire_alarms([scheduled for scheduled in due if scheduled.rule.counts is not None], now)

    def _fire_schedules(self, due: deque[Scheduled], now: datetime) -> None:
        """Fire rule by rule and page by page, until the next sweep is due."""
        ends = time.monotonic() + self._settings.sweep_seconds
        room = self._room() if any(_is_for_users(scheduled) for scheduled in due) else 0
        while due and time.monotonic() < ends:
            scheduled = due.popleft()
            if _is_for_users(scheduled) and room <= 0:
                self._agenda.defer(scheduled, self._later(now))
                continue
            fired = self._fire_one(scheduled, now)
            room -= fired.events
            if fired.again_at is not None and fired.again_at <= now:
                due.append(scheduled)

    def _fire_alarms(self, waiting: list[Scheduled], now: datetime) -> None:
        """Look at alarms, the tenants in turns; at one at least. Those that this turn has no time for stay due."""
        ends = time.monotonic() + self._settings.sweep_seconds * ALARM_SHARE
        while waiting:
            scheduled = self._turns.next(waiting)
            waiting.remove(scheduled)
            self._fire_one(scheduled, now)
            if time.monotonic() >= ends:
                return

    def _fire_one(self, scheduled: Scheduled, now: datetime) -> Fired:
        policy, page = self._settings.catch_up, self._settings.schedule_page
        attributes = {"imprint.rule": defaults.public_name(scheduled.rule.name)}
        with tracing.span("fire schedule", "producer", attributes=attributes) as span, self._db.queue() as tx:
            if scheduled.rule.counts is None:
                fired = schedules.fire(tx, scheduled, now, policy, page)
            else:
                fired = alarms.fire(tx, scheduled, now, self._budget)
            fired = fired or Fired(0, self._later(now))
            span.note({"imprint.events": fired.events})
        self._agenda.put(scheduled, fired.again_at)
        if fired.events:
            self._bell.notify()
            log.debug("schedule.fired", tenant=scheduled.tenant_id, rule=scheduled.rule.name, events=fired.events)
        return fired

    def _later(self, now: datetime) -> datetime:
        return now + timedelta(seconds=self._settings.sweep_seconds)

    def _room(self) -> int:
        """Return how many events may be emitted: up to half of `events_waiting`, above which clients are refused."""
        half = self._settings.tenant_limits.events_waiting // 2
        with self._db.queue() as tx:
            return half - event_log.backlog(tx, half)


def run_clock(settings: Settings) -> None:
    """Run Celery's beat with the clock until stopped."""
    celery = celery_app.create(settings, broker_url(settings))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)
    tracing.start("imprint-clock")
    try:
        Service(celery, scheduler_cls=partial(Clock, settings=settings)).start()
    finally:
        tracing.stop()


def _is_for_users(scheduled: Scheduled) -> bool:
    return scheduled.schedule.for_each == "user"


def _stop(*_: object) -> None:
    # Even in the middle of a turn: the next clock does what was not committed.
    raise SystemExit(0)
