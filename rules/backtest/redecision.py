"""Deciding events of the log again: verdicts of rules, and what their flow control makes of the matches.

Read-only, and the only way in which the plan of a replay, the replay itself and a rebuild decide, so that each does
what the others announce.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

import structlog

from core import logs
from core.storage.db import Database
from core.types import Event, Json
from rules.backtest import reading
from rules.backtest.log_window import Numbered
from rules.document.schema import Rule
from rules.engine import lookups
from rules.engine.ruleset import Ruleset, RuleVerdict
from rules.engine.similarity import Meanings
from rules.flow.event_time import EventTimeFlow, Resolved

log = structlog.get_logger()

Verdicts = dict[int, Sequence[RuleVerdict] | Exception]
"""Verdicts on events by their positions in the log; an error where the rules fail on one."""


class Decided(NamedTuple):
    """The verdict of a rule on one event, as the decision log words it."""

    seq: int
    rule: str
    version: int
    verdict: Literal["fired", "held", "gathered"]
    reason: str | None


class Firing(NamedTuple):
    """A rule that acts, on all that its flow has gathered: positions in the log, the last one last.

    `waited`: how many of them had been decided as `gathered`.
    """

    rule: Rule
    version: int
    at: datetime
    seqs: tuple[int, ...]
    waited: int


class HeldLater(NamedTuple):
    """Gathered events that a later stage has held back."""

    rule: str
    seqs: tuple[int, ...]
    stage: str


Step = Decided | Firing | HeldLater


@dataclass(frozen=True, slots=True)
class Redecision:
    """Rules that decide again, and the state of their flow control. `max_hops`: an event so deep triggers nothing."""

    ruleset: Ruleset
    flow: EventTimeFlow
    max_hops: int

    @classmethod
    def of(cls, rules: Sequence[Numbered], max_hops: int, saved: Json | None = None) -> Redecision:
        """Begin, or go on from the state that `flow.saved` has returned."""
        return cls(Ruleset(list(rules)), EventTimeFlow((rule for rule, _ in rules), saved), max_hops)

    def step(self, event: Event, verdicts: Sequence[RuleVerdict]) -> list[Step]:
        """Process the verdicts on one event, after everything that was due before it."""
        steps = self._resolve(self.flow.before(event))
        is_shallow = event.hop < self.max_hops
        held = [(verdict, verdict.held_by if is_shallow else "hop") for verdict in verdicts]
        fired = [verdict for verdict, reason in held if reason is None]
        passage = self.flow.meet(event, fired, self.ruleset.flushed_by(event))
        steps += [
            Decided(event.seq, verdict.name, verdict.version, "held", why) for verdict, why in held if why is not None
        ]
        held_now = {
            resolved.rule: resolved.outcome.held_by
            for resolved in passage.resolved
            if event.seq in resolved.outcome.seqs
        }
        at_once = {verdict.name for verdict in fired if verdict.name not in passage.gathered}
        for verdict in fired:
            if verdict.name in passage.gathered:
                gathering = "debounce" if verdict.rule.flow.debounce is not None else "count"
                steps.append(Decided(event.seq, verdict.name, verdict.version, "gathered", gathering))
            elif (stage := held_now[verdict.name]) is not None:
                steps.append(Decided(event.seq, verdict.name, verdict.version, "held", stage))
            else:
                steps.append(Decided(event.seq, verdict.name, verdict.version, "fired", None))
        return steps + self._resolve(passage.resolved, event.seq, at_once)

    def close(self) -> list[Step]:
        """End every wait after the last event."""
        return self._resolve(self.flow.close())

    def _resolve(
        self, resolved: Sequence[Resolved], decided: int | None = None, at_once: Collection[str] = ()
    ) -> list[Step]:
        """Return firings and drops. `decided`: the event at hand, which did not wait in the flows of `at_once`."""
        steps = list[Step]()
        for name, outcome in resolved:
            rule, version = self._rule(name)
            waited = tuple(seq for seq in outcome.seqs if seq != decided or name not in at_once)
            if outcome.held_by is None:
                steps.append(Firing(rule, version, outcome.at, outcome.seqs, len(waited)))
            elif waited:
                steps.append(HeldLater(name, waited, outcome.held_by))
        return steps

    def _rule(self, name: str) -> Numbered:
        numbered = self.ruleset.get(name)
        if numbered is None:
            raise KeyError(name)
        return numbered


def decide(db: Database, tenant_id: str, ruleset: Ruleset, page: Sequence[Event], meanings: Meanings) -> Verdicts:
    """Decide each event of a page; lookups and comparisons are fetched for the whole page at once.

    No transaction is open while texts are embedded.
    """
    if ruleset.compares_meanings:
        meanings.warm({compared for event in page for compared in _needs_of(ruleset.texts, event)})
    requested = [(event, names) for event in page if (names := _needs_of(ruleset.asks, event))]
    answers: lookups.Answers = {}
    if requested:
        with reading.read_only(db, tenant_id) as tx:
            answers = lookups.ask(tx, requested)
    return {event.seq: _decide(ruleset, event, answers, meanings) for event in page}


def _decide(
    ruleset: Ruleset, event: Event, answers: lookups.Answers, meanings: Meanings
) -> Sequence[RuleVerdict] | Exception:
    try:
        return ruleset.decide(event, lookups.lookup_of(answers, event), similarity=meanings.similarity)
    except Exception as error:  # noqa: BLE001 - one event must not stop the others
        log.warning("redecision.failed", event_id=event.id, tenant=event.tenant_id, **logs.fault(error))
        return error


def _needs_of(ask: Callable[[Event], frozenset[str]], event: Event) -> frozenset[str]:
    """Return what deciding on the event needs; nothing if the rules fail on it, as `_decide` will find."""
    try:
        return ask(event)
    except Exception as error:  # noqa: BLE001 - likewise
        log.warning("redecision.unasked", event_id=event.id, tenant=event.tenant_id, **logs.fault(error))
        return frozenset()
