"""Replays from the log when rules would have had a user's sessions read: the readings in order.

Read-only. Flow control uses the time of the events, as in a backtest. Schedules and the service's own events are not
replayed, because the latter follow from the memories as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import text

from core.agents import EXTRACTORS
from core.events.log import COLUMNS, SOURCE, event_of
from core.storage.db import Database
from core.types import Event
from rules.backtest import redecision
from rules.document.schema import Rule, RunAgent
from rules.engine.ruleset import Ruleset, RuleVerdict
from rules.engine.similarity import Meanings
from rules.flow.event_time import EventTimeFlow, Resolved

PAGE: Final = 500
"""Events read at once."""

ASKED: Final = ("memory.requested", "memory.stated")
"""Events that request storing a statement, independent of the rules."""


@dataclass(frozen=True, slots=True)
class SessionReading:
    """A reading of a session up to a position in the log; `link`: the agent also relates its statements."""

    session_id: str
    upto: int
    link: bool


@dataclass(frozen=True, slots=True)
class ReplayedRequest:
    """A request to remember a statement."""

    event: Event


def read(
    db: Database, tenant_id: str, user_id: str, rules: Sequence[tuple[Rule, int]], until: datetime, meanings: Meanings
) -> Iterator[SessionReading | ReplayedRequest]:
    """Return the readings that the rules would have started for a user's sessions, in log order, up to a time."""
    ruleset = Ruleset(list(rules))
    links = {
        rule.name: "memory_consolidator" in extractors
        for rule, _ in rules
        if (extractors := _extractors(rule)) and rule.action_mode != "shadow"
    }
    course = _Readings(EventTimeFlow(rule for rule, _ in rules if rule.name in links), links)
    seq = None
    for page in _pages(db, tenant_id, user_id, until):
        met = redecision.decide(db, tenant_id, ruleset, page, meanings)
        for event in page:
            verdicts = met[event.seq]
            if isinstance(verdicts, Exception):
                raise verdicts
            yield from course.step(event, verdicts, ruleset)
            seq = event.seq
    if seq is not None:
        yield from course.readings(course.flow.close(), seq)


@dataclass(slots=True)
class _Readings:
    """Readings that follow from events. `links`: of each rule that has sessions read; `sessions`: of its matches."""

    flow: EventTimeFlow
    links: Mapping[str, bool]
    sessions: dict[tuple[str, int], str] = field(default_factory=dict)

    def step(
        self, event: Event, verdicts: Sequence[RuleVerdict], ruleset: Ruleset
    ) -> Iterator[SessionReading | ReplayedRequest]:
        """Process one event, after everything that was due before it."""
        yield from self.readings(self.flow.before(event), event.seq - 1)
        if event.event_type in ASKED:
            yield ReplayedRequest(event)
        if event.session_id is None:
            fired = []
        else:
            fired = [verdict for verdict in verdicts if verdict.fired and verdict.name in self.links]
            self.sessions |= {(verdict.name, event.seq): event.session_id for verdict in fired}
        yield from self.readings(self.flow.meet(event, fired, ruleset.flushed_by(event)).resolved, event.seq)

    def readings(self, resolved: Iterable[Resolved], upto: int) -> Iterator[SessionReading]:
        for rule, outcome in resolved:
            met = [self.sessions.pop((rule, seq)) for seq in outcome.seqs]
            if outcome.held_by is None:
                yield SessionReading(met[-1], upto, self.links[rule])


def _extractors(rule: Rule) -> list[str]:
    return [action.target for action in rule.actions if isinstance(action, RunAgent) and action.target in EXTRACTORS]


def _pages(db: Database, tenant_id: str, user_id: str, until: datetime) -> Iterator[list[Event]]:
    values: dict[str, Any] = {"user": user_id, "until": until, "own": SOURCE, "asked": list(ASKED), "page": PAGE}
    after = 0
    while True:
        with db.tenant(tenant_id) as tx:
            page = [event_of(row) for row in tx.execute(_EVENTS, values | {"after": after})]
        if not page:
            return
        yield page
        after = page[-1].seq


_EVENTS = text(f"""
    SELECT {COLUMNS} FROM events e
    WHERE e.seq > :after AND e.time <= :until AND (e.source <> :own OR e.event_type = ANY(:asked))
      AND (e.user_id = :user OR e.session_id IN (SELECT DISTINCT session_id FROM messages WHERE user_id = :user))
    ORDER BY e.seq LIMIT :page
""")
"""Events of a user and of sessions in which the user spoke, including others' messages, which count for the rules."""
