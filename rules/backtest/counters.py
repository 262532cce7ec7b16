"""Counters of a backtest, in memory that does not grow with the log."""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from hashlib import blake2b
from typing import Final, Literal

from core.types import Event, Json

KEPT_HASHES: Final = 10_000
"""Number of different values counted exactly; larger numbers are estimated within about one percent."""

SHOWN_EVENTS: Final = 20
"""Maximum event ids listed in a sample, the last ones."""

SETTLED_FROM: Final = 1_000
"""Number of unmatched firings from which it is checked whether the other side may still follow."""

Side = Literal["draft", "in_force"]
"""Side of the comparison: the draft, or the rule in force under its name."""


@dataclass(slots=True)
class Distinct:
    """Estimate of the number of distinct texts by the smallest of their hashes (k minimum values)."""

    _kept: set[int] = field(default_factory=set)
    _largest: list[int] = field(default_factory=list)

    def add(self, value: str) -> None:
        number = int.from_bytes(blake2b(value.encode(errors="surrogatepass"), digest_size=8).digest(), "big")
        if number in self._kept:
            return
        if len(self._kept) < KEPT_HASHES:
            heapq.heappush(self._largest, -number)
        elif number < -self._largest[0]:
            self._kept.discard(-heapq.heapreplace(self._largest, -number))
        else:
            return
        self._kept.add(number)

    def __len__(self) -> int:
        if len(self._kept) < KEPT_HASHES:
            return len(self._kept)
        return round((KEPT_HASHES - 1) * 2**64 / -self._largest[0])


@dataclass(frozen=True, slots=True)
class Act:
    """A firing of a rule: when, on which events (ids, the last of them last), for whom.

    `tick` is the last event if it is not in the log.
    """

    at: datetime
    last_seq: int
    events: tuple[str, ...]
    key: str
    user_id: str | None
    tick: Event | None = None


@dataclass(slots=True)
class Ends:
    """The first and the last of many items, up to `limit` of each."""

    limit: int
    first: list[Act] = field(default_factory=list)
    last: deque[Act] = field(default_factory=deque)

    def add(self, act: Act) -> None:
        if len(self.first) < self.limit:
            self.first.append(act)
        else:
            self.last.append(act)
            if len(self.last) > self.limit:
                self.last.popleft()

    def all(self) -> list[Act]:
        return [*self.first, *self.last]


@dataclass(slots=True)
class Tally:
    """Totals of a rule: firings, times, subjects, and reasons it was held back."""

    samples: Ends
    matched: int = 0
    fired: int = 0
    held: Counter[str] = field(default_factory=Counter)
    days: Counter[date] = field(default_factory=Counter)
    keys: Distinct = field(default_factory=Distinct)
    users: Distinct = field(default_factory=Distinct)

    def add(self, act: Act) -> None:
        """Count a firing."""
        self.fired += 1
        self.days[act.at.astimezone(UTC).date()] += 1
        self.keys.add(act.key)
        if act.user_id is not None:
            self.users.add(act.user_id)
        self.samples.add(act)


@dataclass(slots=True)
class Comparison:
    """Firings of a draft and of the rule in force, which are equal if their last event is.

    Either may come first: firings of one side wait for the other, as long as that may still fire on them. `last`: the
    positions of the last `limit` events on which only one of the two has fired.
    """

    limit: int = 5
    both: int = 0
    alone: Counter[Side] = field(default_factory=Counter)
    last: dict[Side, list[int]] = field(default_factory=lambda: {"draft": [], "in_force": []})
    _waiting: dict[int, Side] = field(default_factory=dict)
    _settle_at: int = SETTLED_FROM

    def add(self, side: Side, seqs: Iterable[int]) -> None:
        """Record that this side has fired on bursts that end at these positions."""
        for seq in seqs:
            earlier = self._waiting.get(seq)
            if earlier is None:
                self._waiting[seq] = side
            elif earlier != side:
                del self._waiting[seq]
                self.both += 1

    def settle(self, tails: Callable[[Side], set[int]]) -> None:
        """If very many wait, give up those for which the other side does not wait (`tails`)."""
        if len(self._waiting) < self._settle_at:
            return
        may_follow = {"draft": tails("in_force"), "in_force": tails("draft")}
        for seq, side in list(self._waiting.items()):
            if seq not in may_follow[side]:
                del self._waiting[seq]
                self._give_up(seq, side)
        self._settle_at = max(SETTLED_FROM, 2 * len(self._waiting))

    def close(self) -> None:
        """End the comparison: no more firings follow."""
        for seq, side in self._waiting.items():
            self._give_up(seq, side)
        self._waiting.clear()

    def _give_up(self, seq: int, side: Side) -> None:
        self.alone[side] += 1
        self.last[side] = sorted([*self.last[side], seq])[-self.limit :] if self.limit else []


@dataclass(slots=True)
class Shift:
    """Other rules that would stop or start firing, how often, and the ids of some of the events."""

    limit: int
    _times: Counter[str] = field(default_factory=Counter)
    _events: dict[str, list[str]] = field(default_factory=dict)

    def add(self, rules: Iterable[str], event_id: str) -> None:
        for rule in rules:
            self._times[rule] += 1
            event_ids = self._events.setdefault(rule, [])
            if len(event_ids) < self.limit:
                event_ids.append(event_id)

    def as_json(self) -> list[Json]:
        """Return the rules, those with the most events first."""
        return [
            {"rule": rule, "times": times, "samples": self._events[rule]} for rule, times in self._times.most_common()
        ]
