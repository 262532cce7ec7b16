"""Alarms over a past period: what their clock would have counted, raised and cleared at each due time.

Counted by the statements of the clock, as of the due time. At the beginning nothing is raised.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count, islice
from typing import Final

from core.errors import Invalid, Problem
from core.events.log import SOURCE, Announcement
from core.storage.db import Database
from core.types import Event, Json
from rules.backtest import reading
from rules.backtest.counters import Side
from rules.engine import counts
from rules.engine.counts import DailyBudget, Look
from rules.flow import alarms
from rules.flow.alarms import AlarmRule, Edge
from rules.flow.schedules import Scheduled

MAX_LOOKS: Final = 20_000
"""Maximum counts at all due times of both sides: two weeks of an alarm with one count that looks each minute."""

FOR_KEYS: Final = 10
"""How many times a look at each user, session or source counts."""

MAX_SECONDS: Final = 300.0
"""Maximum time that all looks take together with what is done between them."""

AT_ONCE: Final = 10
"""Due times of a tenant counted by one statement; those of users, sessions and sources are counted one by one."""

FIRST_SEQ: Final = -(2**39)
"""Seq of the first look; they increase, and never reach those of the log."""


@dataclass(slots=True)
class AlarmSide:
    """An alarm of one side: its due times, what is raised, and how often it was raised, cleared and left as it was."""

    scheduled: Scheduled
    dues: Sequence[datetime]
    standing: dict[str, datetime] = field(default_factory=dict)
    raised: int = 0
    cleared: int = 0
    partial: int = 0

    def take(self, due: datetime, look: Look) -> list[Edge]:
        """Move to a due time; return what begins."""
        changed = alarms.edges(self.scheduled, due, look, self.standing)
        self.standing = alarms.after(self.standing, changed, due)
        begun = [edge for edge in changed if edge.since is None]
        self.raised += len(begun)
        self.cleared += len(changed) - len(begun)
        self.partial += look.partial
        return begun

    @property
    def is_for_keys(self) -> bool:
        return self.scheduled.schedule.for_each != "tenant"

    @property
    def cost(self) -> int:
        """Return how many counts its looks take."""
        return len(self.dues) * len(self.scheduled.rule.counts or ()) * (FOR_KEYS if self.is_for_keys else 1)

    def as_json(self) -> Json:
        """Return the numbers of the period; `standing`: what is raised at its end."""
        numbers = {name: getattr(self, name) for name in ("raised", "cleared", "partial")}
        return {"looks": len(self.dues), **numbers, "standing": len(self.standing)}


@dataclass(frozen=True, slots=True)
class AlarmHistory:
    """The alarms among the rules of a backtest."""

    db: Database
    tenant_id: str
    sides: Mapping[Side, AlarmSide]
    budget: DailyBudget

    @property
    def total(self) -> int:
        """Return how many due times there are."""
        return sum(1 for _ in self._dues())

    def require_few(self) -> None:
        """Raise Invalid if there are too many due times to count for."""
        if sum(side.cost for side in self.sides.values()) > MAX_LOOKS:
            detail = (
                f"the alarm counts more than {MAX_LOOKS:,} times in this range (each of its counts at each look, "
                f"{FOR_KEYS} times for each user, session or source); shorten it"
            )
            raise Invalid([Problem("/from", detail)])

    def looks(self) -> Iterator[tuple[Event, Sequence[Side]]]:
        """Yield what each due time raises, with the sides that see it; a due time without that is seen by none.

        Invalid: it takes longer than MAX_SECONDS.
        """
        seqs, dues, ends = count(FIRST_SEQ), self._dues(), time.monotonic() + MAX_SECONDS
        at_once = 1 if any(side.is_for_keys for side in self.sides.values()) else AT_ONCE
        while page := list(islice(dues, at_once)):
            if time.monotonic() > ends:
                detail = (
                    f"after {MAX_SECONDS:g} seconds the alarm was not counted beyond {page[0].isoformat()}; shorten it"
                )
                raise Invalid([Problem("/from", detail)])
            counted = {name: self._count(side, page) for name, side in self.sides.items()}
            for due in page:
                begun = self._begun(due, {name: looks[due] for name, looks in counted.items() if due in looks})
                nothing = Announcement(f"@{due.isoformat()}", "clock.ticked", due, {})
                for announcement, names in begun or [(nothing, [])]:
                    yield event_of(next(seqs), self.tenant_id, announcement), names

    def _dues(self) -> Iterator[datetime]:
        return iter(sorted({due for side in self.sides.values() for due in side.dues}))

    def _count(self, side: AlarmSide, dues: Sequence[datetime]) -> Mapping[datetime, Look]:
        own = set(side.dues)
        due_times = [due for due in dues if due in own]
        if not due_times:
            return {}
        with reading.read_only(self.db, self.tenant_id) as tx:
            subject = alarms.subject(side.scheduled, due_times)
            return counts.look(tx, subject, side.scheduled.rule.counts or {}, self.budget)

    def _begun(self, due: datetime, looks: Mapping[Side, Look]) -> list[tuple[Announcement, list[Side]]]:
        """Return what begins at a due time; where both sides raise the same, it is one event."""
        begun: dict[tuple[str, str], tuple[Announcement, list[Side]]] = {}
        for name, look in looks.items():
            side = self.sides[name]
            for edge in side.take(due, look):
                same = edge.key, json.dumps(edge.counts, sort_keys=True)
                raising = alarms.announcement(AlarmRule.of(side.scheduled), due, edge)
                begun.setdefault(same, (raising, []))[1].append(name)
        return list(begun.values())


def event_of(seq: int, tenant_id: str, announcement: Announcement) -> Event:
    """Return the event that the clock would emit, at a position before the log."""
    payload = announcement.payload
    return Event(
        seq=seq,
        tenant_id=tenant_id,
        id=announcement.id,
        source=SOURCE,
        event_type=announcement.event_type,
        subject=announcement.subject,
        time=announcement.time,
        payload=payload,
        session_id=payload.get("session_id"),
        user_id=payload.get("user_id"),
    )
