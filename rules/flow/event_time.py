"""Flow control of several rules over events of the log, on the time of the events.

Pure. Time never goes back: an event that came late counts as the latest time seen so far. `concurrency` is left out,
because it depends on how long the work takes. Keys are kept as digests: a saved state names nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final, NamedTuple

from core.types import Event, Json
from rules.document.schema import Rule
from rules.engine.ruleset import Flush, RuleVerdict
from rules.flow.simulation import SimulatedOutcome, Simulation

END: Final = timedelta(days=365)
"""Time at which every wait ends, after the last event."""


class Resolved(NamedTuple):
    """Matches of a rule that act at a moment, or that a stage holds back then."""

    rule: str
    outcome: SimulatedOutcome


class EventOutcome(NamedTuple):
    """Result of an event: what it resolves, and the rules that have gathered it."""

    resolved: Sequence[Resolved]
    gathered: Sequence[str]


class EventTimeFlow:
    """State of the flow control of rules. Call `before` for each event, then `meet`; `close` after the last."""

    def __init__(self, rules: Iterable[Rule], saved: Json | None = None) -> None:
        """Begin, or go on from a state that `saved` has returned; a rule that it does not know begins."""
        saved_rules: Mapping[str, Json] = saved["rules"] if saved else {}
        self._clock = datetime.fromisoformat(saved["clock"]) if saved and saved["clock"] else None
        self._flows = {rule.name: _simulation(rule, saved_rules.get(rule.name)) for rule in rules}

    def __contains__(self, name: str) -> bool:
        """Return whether the flow control of this rule is kept."""
        return name in self._flows

    def saved(self) -> Json:
        """Return the state as JSON."""
        return {
            "clock": self._clock and self._clock.isoformat(),
            "rules": {name: flow.saved() for name, flow in self._flows.items()},
        }

    def before(self, event: Event) -> list[Resolved]:
        """Move the clock to an event; return what was due before it."""
        self._clock = max(self._clock or event.time, event.time)
        return self._advance(self._clock)

    def meet(self, event: Event, verdicts: Iterable[RuleVerdict], flushes: Iterable[Flush]) -> EventOutcome:
        """Send the matches of an event through the flows of their rules, then end the waits that it ends."""
        clock = self._clock or event.time
        resolved, gathered = list[Resolved](), list[str]()
        for verdict in verdicts:
            keys = {stage: _digest(key) for stage, key in verdict.keys.items()}
            outcomes = self._flows[verdict.name].push(event.seq, keys, clock)
            resolved += [Resolved(verdict.name, outcome) for outcome in outcomes]
            if not outcomes:
                gathered.append(verdict.name)
        for flush in flushes:
            if flush.name in self._flows:
                outcomes = self._flows[flush.name].flush(_digest(flush.key), clock)
                resolved += [Resolved(flush.name, outcome) for outcome in outcomes]
        return EventOutcome(resolved, gathered)

    def close(self) -> list[Resolved]:
        """End every wait, because no event follows; return what that resolves."""
        return [] if self._clock is None else self._advance(self._clock + END)

    def open(self, rule: str) -> int:
        """Return how many matches of a rule still wait."""
        return self._flows[rule].open

    def _advance(self, to: datetime) -> list[Resolved]:
        return [Resolved(name, outcome) for name, flow in self._flows.items() for outcome in flow.advance(to)]


def _simulation(rule: Rule, saved: Json | None) -> Simulation:
    flow = rule.flow.model_copy(update={"concurrency": None})
    return Simulation(flow) if saved is None else Simulation.restored(flow, saved)


def _digest(key: str) -> str:
    return blake2b(key.encode(errors="surrogatepass"), digest_size=16).hexdigest()
