"""The cheapest set of items that says enough: the most said per token, nothing said twice. Pure.

What a set says is the sum over its terms of the best share that one of its items has in them. An item's score is
shared out over its terms, the rarer ones taking more, so an item alone says as much as its score, and one whose terms
are all said by better ones says nothing more. Each term of the question that is met for the first time adds to that.
Items are taken by what they add per token. As what an item adds only ever falls while others are taken, a larger
budget never says less, and half of the best possible is not far: where one item alone says more, it is taken instead.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from core.text import has_han, terms
from core.wording import denial, difference, is_same, read

LEAST: Final = 0.15
"""What an item must add to be shown, as a share of the highest score: below it the rest says (almost) nothing new."""

ASKED: Final = 0.5
"""What meeting all terms of the question is worth, in highest scores."""

ALIKE: Final = 0.95
"""Cosine from which two texts are one, if no number, name, date or denial tells them apart."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something that could be shown. `key`: its own among the items. `tokens`: what it costs as shown, date included.

    `score`: how much it has to do with the question, higher is better, any scale from 0 up. `at`: when it was so.
    `conflicts`: keys of items that deny it. `vector`: its embedding of length 1, where there is one.
    """

    key: str
    text: str
    tokens: int
    score: float
    at: datetime | None = None
    conflicts: frozenset[str] = frozenset()
    vector: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What is not shown, and why, in words a person can read."""

    key: str
    why: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """`kept`: in the order in which to show them, best first; items that deny each other stand together, by date.

    `said`: how much the kept ones say together, in the scale of the scores.
    """

    kept: tuple[Item, ...]
    left_out: tuple[LeftOut, ...]
    tokens: int
    said: float


def choose(
    items: Sequence[Item], tokens: int, query: str = "", most: int | None = None, least: float = LEAST
) -> Chosen:
    """The cheapest set of `items` that says enough about `query`, within `tokens` and at most `most` of them.

    The order of `items` plays no part. Items that deny each other are kept or left out together.
    """
    units = _units(items)
    worth = _worth(items, query)
    choice = _Choice(worth, tokens, math.inf if most is None else most, least * worth.highest)
    for unit in _by_gain(units, choice):
        choice.consider(unit)
    alone = max((u for u in units if choice.has_room(u, 0, 0)), key=lambda u: (worth.of(u), u.key), default=None)
    if alone and worth.of(alone) > max(choice.said, choice.least):
        choice = choice.only(alone, units)
    kept = sorted(choice.kept, key=lambda u: (-max(item.score for item in u.items), u.key))
    return Chosen(
        tuple(item for unit in kept for item in unit.items),
        tuple(sorted(choice.left_out, key=lambda one: one.key)),
        sum(unit.tokens for unit in kept),
        choice.said,
    )


@dataclass(frozen=True, slots=True)
class _Unit:
    """Items that are shown together or not at all, by date; mostly one."""

    items: tuple[Item, ...]

    @property
    def key(self) -> str:
        return min(item.key for item in self.items)

    @property
    def tokens(self) -> int:
        return sum(max(1, item.tokens) for item in self.items)


@dataclass(frozen=True, slots=True)
class _Worth:
    """What items say: of each its share in terms, and what each term of the question is worth."""

    shares: Mapping[str, Mapping[str, float]]
    asked: Mapping[str, float]
    highest: float

    def of(self, unit: _Unit, said: Mapping[str, float] | None = None) -> float:
        """How much a unit says beyond what is said."""
        before = said or {}
        best = self.best(unit)
        return math.fsum(max(0.0, share - before.get(term, 0.0)) for term, share in best.items())

    def best(self, unit: _Unit) -> dict[str, float]:
        """The best share in each term that one of its items has; a question's term that is met counts as one more."""
        best: dict[str, float] = {}
        for item in unit.items:
            for term, share in self.shares[item.key].items():
                best[term] = max(best.get(term, 0.0), share)
        return best | {f"?{term}": self.asked[term] for term in list(best) if term in self.asked and self.highest}


@dataclass(slots=True)
class _Choice:
    """What is taken so far, and what is left out and why."""

    worth: _Worth
    tokens: int
    most: float
    least: float
    kept: list[_Unit] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    told: dict[str, float] = field(default_factory=dict)
    said: float = 0.0

    @property
    def spent(self) -> int:
        return sum(unit.tokens for unit in self.kept)

    def gain(self, unit: _Unit) -> float:
        return self.worth.of(unit, self.told)

    def has_room(self, unit: _Unit, spent: int, count: int) -> bool:
        return spent + unit.tokens <= self.tokens and count + len(unit.items) <= self.most

    def consider(self, unit: _Unit) -> None:
        """Take a unit, or leave it out with the reason."""
        gain, count = self.gain(unit), sum(len(one.items) for one in self.kept)
        twin = next(filter(None, (_twin(unit, one) for one in self.kept)), None)
        if twin:
            self._leave(unit, f"says the same as {twin}")
        elif gain <= 0 or gain < self.least:
            self._leave(unit, "adds almost nothing to what is shown" if self.kept else "has too little to do with it")
        elif count + len(unit.items) > self.most:
            self._leave(unit, f"{count} are enough for this question")
        elif not self.has_room(unit, self.spent, count):
            self._leave(unit, f"no room: {unit.tokens} tokens, {max(0, self.tokens - self.spent)} left")
        else:
            self._take(unit, gain)

    def only(self, unit: _Unit, units: Sequence[_Unit]) -> _Choice:
        """The choice of one unit that says more than all that fits beside the cheaper ones."""
        other = _Choice(self.worth, self.tokens, self.most, self.least)
        other._take(unit, self.worth.of(unit))
        for one in units:
            if one is not unit:
                other._leave(one, f"no room beside {unit.key}, which says more")
        return other

    def _take(self, unit: _Unit, gain: float) -> None:
        self.kept.append(unit)
        self.said += gain
        for term, share in self.worth.best(unit).items():
            self.told[term] = max(self.told.get(term, 0.0), share)

    def _leave(self, unit: _Unit, why: str) -> None:
        for item in unit.items:
            others = ", ".join(one.key for one in unit.items if one is not item)
            self.left_out.append(
                LeftOut(item.key, f"{why} (together with {others}, which denies it)" if others else why)
            )


def _by_gain(units: Sequence[_Unit], choice: _Choice) -> Iterator[_Unit]:
    """Units by what each adds per token at that moment. What was worked out before can only have been too high."""
    heap = [(-choice.gain(unit) / unit.tokens, unit.key, len(choice.kept), unit) for unit in units]
    heapq.heapify(heap)
    while heap:
        _, key, known, unit = heapq.heappop(heap)
        if known == len(choice.kept):
            yield unit
        else:
            heapq.heappush(heap, (-choice.gain(unit) / unit.tokens, key, len(choice.kept), unit))


def _worth(items: Sequence[Item], query: str) -> _Worth:
    said = {item.key: sorted(set(terms(item.text))) or [f"#{item.key}"] for item in items}
    counts = Counter(term for found in said.values() for term in found)
    rarity = {term: math.log1p(len(items) / count) for term, count in counts.items()}
    shares: dict[str, dict[str, float]] = {}
    for item in items:
        whole = math.fsum(rarity[term] for term in said[item.key])
        shares[item.key] = {term: max(0.0, item.score) * rarity[term] / whole for term in said[item.key]}
    highest = max((max(0.0, item.score) for item in items), default=0.0)
    asked = sorted(set(terms(query)))
    return _Worth(shares, {term: ASKED * highest / len(asked) for term in asked}, highest)


def _units(items: Sequence[Item]) -> list[_Unit]:
    """Items that deny each other, directly or through others, in one unit."""
    members = {item.key: {item.key} for item in items}
    for one, other in sorted((item.key, key) for item in items for key in item.conflicts if key in members):
        if members[one] is not members[other]:
            members[one] |= members[other]
            for key in members[other]:
                members[key] = members[one]
    known = {item.key: item for item in items}
    groups = {min(group): group for group in members.values()}
    return [_Unit(tuple(sorted((known[key] for key in group), key=_date))) for _, group in sorted(groups.items())]


_FIRST: Final = datetime.min.replace(tzinfo=UTC)


def _date(item: Item) -> tuple[datetime, str]:
    at = item.at or _FIRST
    return at if at.tzinfo else at.replace(tzinfo=UTC), item.key


def _twin(unit: _Unit, kept: _Unit) -> str | None:
    """The key of a kept item that says the same; items that are denied have none."""
    if len(unit.items) > 1:
        return None
    return next((one.key for one in kept.items if _is_twin(unit.items[0], one)), None)


def _is_twin(one: Item, other: Item) -> bool:
    """Whether two items say the same: nothing in their words forbids it, and words or vectors say so."""
    if one.text.strip() == other.text.strip():
        return True
    mine, theirs = read(one.text), read(other.text)
    alike = has_han(one.text) == has_han(other.text) and _cosine(one, other) >= ALIKE  # names do not compare across
    if not (alike or is_same(mine, theirs)):
        return False
    return not (denial(mine, theirs) or difference(mine, theirs))


def _cosine(one: Item, other: Item) -> float:
    if one.vector is None or other.vector is None or len(one.vector) != len(other.vector):
        return 0.0
    return math.fsum(a * b for a, b in zip(one.vector, other.vector, strict=True))
