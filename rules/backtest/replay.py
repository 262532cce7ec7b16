"""Replays from the log when rules would have had a user's sessions read: the readings in order.

Read-only. Flow control uses the time of the events, as in a backtest. Schedules and the service's own events are not
replayed, because the latter follow from the memories as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import text

from core.agents import EXTRACTORS
from core.events.log import COLUMNS, SOURCE, event_of
from core.storage.db import Database
from core.types import Event
from rules.document.schema import Rule, RunAgent
from rules.engine import lookups
from rules.engine.ruleset import Ruleset, RuleVerdict
from rules.engine.similarity import Meanings
from rules.flow.simulation import SimulatedOutcome, Simulation

PAGE: Final = 500
"""Events read at once."""

ASKED: Final = ("memory.requested", "memory.stated")
"""Events that request storing a statement, independent of the rules."""

END: Final = timedelta(days=365)
"""Time at which every wait ends, after the last event."""


@dataclass(frozen=True, slots=True)
class SessionReading:
    """A reading of a session up to a position in the log; `link`: the agent also relates its statements."""

    session_id: str
    upto: int
    link: bool


@dataclass(frozen=True, slots=True)
class StatementRequest:
    """A request to remember a statement."""

    event: Event


@dataclass(slots=True)
class _ReadingRule:
    """A rule that has sessions read, with its flow control state."""

    rule: Rule
    flow: Simulation
    sessions: dict[int, str] = field(default_factory=dict)

    def readings(self, outcomes: Sequence[SimulatedOutcome], upto: int) -> Iterator[SessionReading]:
        for outcome in outcomes:
            met = [self.sessions.pop(seq) for seq in outcome.seqs]
            if outcome.held_by is None:
                links = any(a.target == "memory_consolidator" for a in _readers(self.rule))
                yield SessionReading(met[-1], upto, links)


def read(
    db: Database, tenant_id: str, user_id: str, rules: Sequence[tuple[Rule, int]], until: datetime, meanings: Meanings
) -> Iterator[SessionReading | StatementRequest]:
    """Return the readings that the rules would have started for a user's sessions, in log order, up to a time."""
    known = Ruleset(list(rules))
    actors = {rule.name: _actor(rule) for rule, _ in rules if _readers(rule) and rule.action_mode != "shadow"}
    clock = seq = None
    for page in _pages(db, tenant_id, user_id, until):
        met = _decide(db, tenant_id, known, page, meanings)
        for event in page:
            clock = max(clock or event.time, event.time)
            yield from _step(known, actors, event, met.get(event.seq, ()), clock)
            seq = event.seq
    if clock is not None and seq is not None:
        for actor in actors.values():
            yield from actor.readings(actor.flow.advance(clock + END), seq)


def _actor(rule: Rule) -> _ReadingRule:
    return _ReadingRule(rule, Simulation(rule.flow.model_copy(update={"concurrency": None})))


def _readers(rule: Rule) -> list[RunAgent]:
    return [a for a in rule.actions if isinstance(a, RunAgent) and a.target in EXTRACTORS]


def _step(
    known: Ruleset, actors: dict[str, _ReadingRule], event: Event, verdicts: Sequence[RuleVerdict], clock: datetime
) -> Iterator[SessionReading | StatementRequest]:
    """Process one event, after everything that was due before it."""
    for actor in actors.values():
        yield from actor.readings(actor.flow.advance(clock), event.seq - 1)
    if event.event_type in ASKED:
        yield StatementRequest(event)
    for verdict in verdicts:
        if verdict.fired and verdict.name in actors and event.session_id is not None:
            actor = actors[verdict.name]
            actor.sessions[event.seq] = event.session_id
            yield from actor.readings(actor.flow.push(event.seq, verdict.keys, clock), event.seq)
    for flush in known.flushed_by(event):
        if flush.name in actors:
            actor = actors[flush.name]
            yield from actor.readings(actor.flow.flush(flush.key, clock), event.seq)


def _decide(
    db: Database, tenant_id: str, known: Ruleset, page: Sequence[Event], meanings: Meanings
) -> dict[int, list[RuleVerdict]]:
    """Decide each event of a page; lookups and comparisons are fetched for the whole page at once."""
    if known.compares_meanings:
        meanings.warm({compared for event in page for compared in known.texts(event)})
    asked = [(event, names) for event in page if (names := known.asks(event))]
    with db.tenant(tenant_id) as tx:
        answers = lookups.ask(tx, asked) if asked else {}
    decide = known.decide
    return {e.seq: decide(e, lookups.lookup_of(answers, e), similarity=meanings.similarity) for e in page}


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
