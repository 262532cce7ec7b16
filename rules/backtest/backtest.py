"""Backtest of a draft rule over the stored log. Nothing is written.

Events are decided in the order of the log, each at its own time. Flow control starts empty and uses the latest time
seen so far, because events may come late. Memory does not grow with the log. Consequences of the draft's own
actions are not in the log, so they are not simulated.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from core.storage.db import Database, Tx
from core.types import Event, Json
from rules.backtest import estimate, log_window, reading, shown
from rules.backtest.counters import SHOWN_EVENTS, Act, Comparison, Ends, Shift, Side, Tally
from rules.backtest.log_window import Met, Numbered
from rules.document.counting import DispatchCount
from rules.document.schema import Rule
from rules.engine import lookups
from rules.engine.counts import NO_BUDGET, DailyBudget
from rules.engine.ruleset import Ruleset, RuleVerdict
from rules.engine.similarity import Meanings
from rules.expressions.facts import Lookup
from rules.flow.schedules import utc
from rules.flow.simulation import SimulatedOutcome, Simulation
from rules.registry import store

REPORTED: Final = 5_000
"""Events between two reports of progress."""

REPORT_SECONDS: Final = 1.0
"""Time between two of them where events come slowly; a caller that has gone ends the backtest there."""


@dataclass(frozen=True, slots=True)
class BacktestRequest:
    """A checked draft, and the period of event time to test it on.

    The period starts at `since` (None: the first event) and ends before `until`. The first and last `samples` firings
    are shown with their events. `characters`: maximum size of all sample actions as JSON.
    """

    draft: Rule
    since: datetime | None
    until: datetime
    samples: int = 5
    characters: int = 2 * 256 * 1024


@dataclass(frozen=True, slots=True)
class BacktestProgress:
    """Number of processed events and of all, and firings of the draft so far."""

    events: int
    of: int
    fired: int


@dataclass(frozen=True, slots=True)
class Result:
    """The result as JSON."""

    document: Json


class _Match(NamedTuple):
    """State of one matched event until its outcome is known."""

    event_id: str
    key: str
    user_id: str | None
    tick: Event | None


@dataclass(slots=True)
class _BacktestSide:
    """A rule whose firings are simulated. `alone` decides it by itself, `among` with all interacting rules."""

    rule: Rule
    alone: Ruleset
    among: Ruleset
    flow: Simulation
    tally: Tally
    version: int
    ends_waits: bool
    waiting: dict[int, _Match] = field(default_factory=dict)

    @classmethod
    def of(cls, numbered: Numbered, others: Sequence[Numbered], samples: int) -> _BacktestSide:
        rule, version = numbered
        flow = Simulation(rule.flow.model_copy(update={"concurrency": None}))
        ends_waits = rule.flow.debounce is not None and bool(rule.flow.debounce.flush_on)
        among = Ruleset([numbered, *others])
        return cls(rule, Ruleset([numbered]), among, flow, Tally(Ends(samples)), version, ends_waits)

    def meet(self, event: Event, verdict: RuleVerdict, at: datetime) -> list[int]:
        """Process a match; return the last positions of what fires now."""
        self.tally.matched += 1
        if not verdict.fired:
            self.tally.held[verdict.held_by or ""] += 1
            return []
        tick = event if event.seq < 0 else None
        self.waiting[event.seq] = _Match(event.id, shown.key_of(verdict, event), event.user_id, tick)
        return self.tell(self.flow.push(event.seq, verdict.keys, at))

    def end_waits(self, event: Event, at: datetime) -> list[int]:
        """End the waits that the event ends; return the last positions of what fires now."""
        return [seq for flushed in self.alone.flushed_by(event) for seq in self.tell(self.flow.flush(flushed.key, at))]

    def tell(self, outcomes: Iterable[SimulatedOutcome]) -> list[int]:
        """Count the outcomes of matches; return the last positions of what fires."""
        acted = []
        for outcome in outcomes:
            met = [self.waiting.pop(seq) for seq in outcome.seqs]
            if outcome.held_by is not None:
                self.tally.held[outcome.held_by] += len(met)
            else:
                ids, last = tuple(match.event_id for match in met[-SHOWN_EVENTS:]), met[-1]
                self.tally.add(Act(outcome.at, outcome.seqs[-1], ids, last.key, last.user_id, last.tick))
                acted.append(outcome.seqs[-1])
        return acted


class Backtest:
    """A backtest, ready to run."""

    def __init__(
        self,
        db: Database,
        tenant_id: str,
        request: BacktestRequest,
        meanings: Meanings,
        *,
        max_hops: int,
        budget: DailyBudget = NO_BUDGET,
    ) -> None:
        """Count the events. Invalid: the range is empty, or a schedule is due too often in it.

        `max_hops`: an event at this depth of its chain triggers nothing. `budget`: of models, for alarms that count it.
        """
        self._began = time.perf_counter()
        self._db, self._tenant_id, self._meanings, self._max_hops = db, tenant_id, meanings, max_hops
        with reading.read_only(db, tenant_id) as tx:
            in_force = store.readable(tx)
        draft = request.draft
        draft = draft.model_copy(update={"action_mode": "auto"}) if draft.action_mode == "shadow" else draft
        old = next((numbered for numbered in in_force if numbered[0].name == draft.name), None)
        others = _with_a_say(in_force, draft, old)
        rules: dict[Side, Numbered] = {"draft": (draft, old[1] + 1 if old else 1)}
        if old is not None:
            rules["in_force"] = old
        self._actors = {side: _BacktestSide.of(numbered, others, request.samples) for side, numbered in rules.items()}
        self._draft, self._old = self._actors["draft"], self._actors.get("in_force")
        self._before = self._old.among if self._old else Ruleset(others)
        self._has_others = bool(others)
        self._characters = request.characters
        self._stretch = log_window.open_window(db, tenant_id, request.since, request.until, rules, budget=budget)
        self._clock = self._stretch.since
        self._comparison = Comparison(request.samples)
        self._displaced, self._released = Shift(request.samples), Shift(request.samples)

    def run(self) -> Iterator[BacktestProgress | Result]:
        """Process all events, yielding progress at intervals; the last item is the result.

        No transaction is open while the caller has control, so it may resume late, or never.
        """
        done = reported = 0
        reported_at = time.monotonic()
        yield BacktestProgress(0, self._stretch.total, 0)
        for page in self._stretch.pages():
            self._take(page)
            done += len(page)
            if done - reported >= REPORTED or time.monotonic() - reported_at >= REPORT_SECONDS:
                reported, reported_at = done, time.monotonic()
                yield BacktestProgress(done, self._stretch.total, self._draft.tally.fired)
        self._close()
        yield Result(self._report(done))

    def _take(self, page: Sequence[Met]) -> None:
        met = self._decide(page)
        ends_waits = any(actor.ends_waits for actor in self._actors.values())
        for event, _ in page:
            self._clock = max(self._clock, event.time)
            verdicts = met.get(event.seq)
            if verdicts or ends_waits:
                self._step(event, verdicts or {})

    def _decide(self, page: Sequence[Met]) -> dict[int, dict[Side, RuleVerdict]]:
        """Decide every event twice, by its position in the log: by the rule alone, then among the other rules."""
        answers: dict[tuple[str, int], dict[str, Any]] = {}
        self._learn(answers, [event for event, _ in page], [actor.alone for actor in self._actors.values()])
        met: dict[int, dict[Side, RuleVerdict]] = {}
        for event, sides in page:
            lookup = lookups.lookup_of(answers, event)
            for side in sides:
                for verdict in self._verdicts(self._actors[side].alone, event, lookup):
                    met.setdefault(event.seq, {})[side] = verdict
        if met and self._has_others:
            events = [event for event, _ in page if event.seq in met]
            self._learn(answers, events, [self._draft.among, self._before])
            for event in events:
                self._weigh(event, met[event.seq], lookups.lookup_of(answers, event))
        return met

    def _weigh(self, event: Event, met: dict[Side, RuleVerdict], lookup: Lookup) -> None:
        """Record the effects of the other rules on the two, and of the two on them."""
        name = self._draft.rule.name
        after = {verdict.name: verdict for verdict in self._verdicts(self._draft.among, event, lookup)}
        before = {verdict.name: verdict for verdict in self._verdicts(self._before, event, lookup)}
        for side, verdicts in (("draft", after), ("in_force", before)):
            if side in met:
                met[side] = verdicts[name]
        fired_after, fired_before = (
            {other for other, verdict in verdicts.items() if verdict.fired and other != name}
            for verdicts in (after, before)
        )
        self._displaced.add(sorted(fired_before - fired_after), event.id)
        self._released.add(sorted(fired_after - fired_before), event.id)

    def _verdicts(self, rules: Ruleset, event: Event, lookup: Lookup) -> list[RuleVerdict]:
        verdicts = rules.decide(event, lookup, similarity=self._meanings.similarity)
        if event.hop < self._max_hops:
            return verdicts
        return [verdict._replace(fired=False, held_by="hop") for verdict in verdicts]

    def _learn(
        self, answers: dict[tuple[str, int], dict[str, Any]], events: Sequence[Event], rulesets: Sequence[Ruleset]
    ) -> None:
        """Look up unknown values that the rules may need for these events, and embed the texts they compare."""
        comparing = [rules for rules in rulesets if rules.compares_meanings]
        texts = {compared for rules in comparing for event in events for compared in rules.texts(event)}
        if texts:
            self._meanings.warm(texts)
        requested = []
        for event in events:
            names = frozenset().union(*(rules.asks(event) for rules in rulesets))
            if names and not names <= answers.get((event.tenant_id, event.seq), {}).keys():
                requested.append((event, names))
        if requested:
            with reading.read_only(self._db, self._tenant_id) as tx:
                for position, answer in lookups.ask(tx, requested).items():
                    answers.setdefault(position, {}).update(answer)

    def _step(self, event: Event, verdicts: Mapping[Side, RuleVerdict]) -> None:
        """Process one event on both sides, after everything that was due before it."""
        for side, actor in self._actors.items():
            acted = actor.tell(actor.flow.advance(self._clock))
            if side in verdicts:
                acted += actor.meet(event, verdicts[side], self._clock)
            acted += actor.end_waits(event, self._clock)
            if self._old is not None:
                self._comparison.add(side, acted)
        self._comparison.settle(lambda side: self._actors[side].flow.tails())

    def _close(self) -> None:
        """Fire everything due before the end of the range."""
        for side, actor in self._actors.items():
            self._comparison.add(side, actor.tell(actor.flow.advance(self._stretch.until - log_window.MOMENT)))
        self._comparison.close()

    def _report(self, events: int) -> Json:
        rule, tally, flow = self._draft.rule, self._draft.tally, self._draft.flow
        with reading.read_only(self._db, self._tenant_id) as tx:
            samples = shown.firings(tx, rule, tally.samples.all(), self._characters)
            costs = estimate.of(tx, rule, tally.fired)
            compared = self._comparison_json(tx)
        return {
            "rule": rule.name,
            "from": utc(self._stretch.since),
            "to": utc(self._stretch.until),
            "events": events,
            "expired": self._stretch.expired,
            "matched": tally.matched,
            "fired": tally.fired,
            "held": dict(tally.held.most_common()),
            "gathered": flow.gathered,
            "open": flow.open,
            "by_day": _by_day(tally),
            "keys": len(tally.keys),
            "users": len(tally.users),
            "samples": samples,
            "displaces": self._displaced.as_json(),
            "releases": self._released.as_json(),
            "compared": compared,
            "estimate": costs,
            "alarm": alarm.as_json() if (alarm := self._stretch.alarms.sides.get("draft")) else None,
            "not_simulated": list(_not_simulated(rule)),
            "took_ms": round(1000 * (time.perf_counter() - self._began)),
        }

    def _comparison_json(self, tx: Tx) -> Json | None:
        if self._old is None:
            return None
        return {
            "version": self._old.version,
            "both": self._comparison.both,
            "only_draft": self._comparison.alone["draft"],
            "only_in_force": self._comparison.alone["in_force"],
            "by_day": _by_day(self._old.tally),
            "only_draft_samples": shown.events(tx, self._comparison.last["draft"]),
            "only_in_force_samples": shown.events(tx, self._comparison.last["in_force"]),
        }


def _not_simulated(rule: Rule) -> Iterator[str]:
    if rule.flow.concurrency:
        yield "concurrency"
    if any(isinstance(count, DispatchCount) for count in (rule.counts or {}).values()):
        yield "dispatches"


def _by_day(tally: Tally) -> list[Json]:
    return [{"day": day.isoformat(), "fired": tally.days[day]} for day in sorted(tally.days)]


def _with_a_say(in_force: Sequence[Numbered], draft: Rule, old: Numbered | None) -> list[Numbered]:
    """Return the other rules that may hold back the draft or its predecessor, or be held back by them."""
    mine = [draft] if old is None else [draft, old[0]]
    others = [numbered for numbered in in_force if numbered[0].name != draft.name]
    if any(_may_hold_back(rule) for rule in mine):
        return others
    return [numbered for numbered in others if _may_hold_back(numbered[0])]


def _may_hold_back(rule: Rule) -> bool:
    return rule.stop or rule.group is not None
