"""The plan of a replay: what it would do, and why not more. Nothing is written.

The replay itself decides by the same module (`rules.backtest.redecision`) on the same events.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.storage.db import Database, Tx
from core.types import Event, Json
from rules.backtest import estimate, reading, redecision, selection, shown
from rules.backtest.counters import SHOWN_EVENTS, Act, Ends, Tally
from rules.backtest.log_window import PAGE, Numbered
from rules.backtest.redecision import Decided, Firing, HeldLater, Redecision, Step
from rules.backtest.selection import EventSelector, Extent
from rules.document.schema import Rule
from rules.engine.similarity import Meanings


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """Request of a plan: the events and their number, the rules, and how much to show.

    `samples`: firings to show of each rule, from its first and from its last. `characters`: maximum size of all sample
    actions of a rule as JSON.
    """

    criteria: EventSelector
    extent: Extent
    rules: Sequence[Numbered]
    samples: int
    characters: int


@dataclass(slots=True)
class _RuleTally:
    """Totals of a rule. `gathered`: matches that wait, with what a sample shows of each."""

    tally: Tally
    gathered: dict[int, tuple[str, str, str | None]] = field(default_factory=dict)


@dataclass(slots=True)
class _Plan:
    """The totals of all rules while events are decided. `failed`: events on which the rules fail."""

    request: PlanRequest
    rules: dict[str, _RuleTally] = field(default_factory=dict)
    decided: int = 0
    failed: int = 0

    def note(self, steps: Sequence[Step], event: Event | None, keys: dict[str, str]) -> None:
        """Count the steps. `event`: the one that is decided, and its flow key by rule."""
        for step in steps:
            match step:
                case Decided() if event is not None:
                    self._decide(step, event, keys)
                case HeldLater():
                    mine = self.rules[step.rule]
                    mine.tally.held[step.stage] += len(step.seqs)
                    for seq in step.seqs:
                        mine.gathered.pop(seq)
                case Firing():
                    self._fire(step)
                case _:
                    pass

    def _decide(self, decision: Decided, event: Event, keys: dict[str, str]) -> None:
        mine = self.rules.setdefault(decision.rule, _RuleTally(Tally(Ends(self.request.samples))))
        mine.tally.matched += 1
        if decision.verdict == "held":
            mine.tally.held[decision.reason or ""] += 1
        else:
            mine.gathered[event.seq] = event.id, keys[decision.rule], event.user_id

    def _fire(self, firing: Firing) -> None:
        mine = self.rules[firing.rule.name]
        met = [mine.gathered.pop(seq) for seq in firing.seqs]
        _, key, user_id = met[-1]
        ids = tuple(event_id for event_id, _, _ in met[-SHOWN_EVENTS:])
        mine.tally.add(Act(firing.at, firing.seqs[-1], ids, key, user_id))


def make(db: Database, tenant_id: str, request: PlanRequest, meanings: Meanings, *, max_hops: int) -> Json:
    """Return the plan as JSON. No transaction is open while texts are embedded."""
    began = time.perf_counter()
    plan = _decide_all(db, tenant_id, request, meanings, max_hops)
    with reading.read_only(db, tenant_id) as tx:
        rules = [_rule_json(tx, plan, *numbered) for numbered in request.rules if numbered[0].name in plan.rules]
    costs = [rule["estimate"] for rule in rules]
    return {
        "mode": "plan",
        "events": plan.decided,
        "truncated": request.extent.more,
        "next": request.extent.last_seq if request.extent.more else None,
        "failed": plan.failed,
        "dispatches": sum(cost["dispatches"] for cost in costs),
        "rules": rules,
        "idle": [rule.name for rule, _ in request.rules if rule.name not in plan.rules],
        "estimate": {name: estimate.total([cost[name] for cost in costs]) for name in ("seconds", "tokens", "cost")},
        "took_ms": round(1000 * (time.perf_counter() - began)),
    }


def _decide_all(db: Database, tenant_id: str, request: PlanRequest, meanings: Meanings, max_hops: int) -> _Plan:
    decider, plan, after = Redecision.of(request.rules, max_hops), _Plan(request), request.criteria.after
    while True:
        with reading.read_only(db, tenant_id) as tx:
            page = selection.page(tx, request.criteria, after=after, upto=request.extent.last_seq, limit=PAGE)
        verdicts = redecision.decide(db, tenant_id, decider.ruleset, page, meanings)
        for event in page:
            met = verdicts[event.seq]
            if isinstance(met, Exception):
                plan.failed += 1
                continue
            keys = {verdict.name: shown.key_of(verdict, event) for verdict in met}
            plan.note(decider.step(event, met), event, keys)
        plan.decided += len(page)
        if len(page) < PAGE:
            plan.note(decider.close(), None, {})
            return plan
        after = page[-1].seq


def _rule_json(tx: Tx, plan: _Plan, rule: Rule, version: int) -> Json:
    mine = plan.rules[rule.name]
    tally = mine.tally
    return {
        "rule": rule.name,
        "version": version,
        "action_mode": rule.action_mode,
        "risk_level": rule.risk_level,
        "matched": tally.matched,
        "fired": tally.fired,
        "held": dict(tally.held.most_common()),
        "gathered": len(mine.gathered),
        "keys": len(tally.keys),
        "users": len(tally.users),
        "samples": shown.firings(tx, rule, tally.samples.all(), plan.request.characters),
        "estimate": estimate.of(tx, rule, tally.fired),
        "not_simulated": ["concurrency"] if rule.flow.concurrency else [],
    }
