"""Budgeted maximum coverage without redundancy. Pure.

The coverage of a set is the sum over its terms of the best share that one of its items has in them. An item's score is
divided among its terms, the rarer ones taking more, so an item alone covers as much as its score, and one whose terms
are all covered by better ones adds nothing. Each term of the query that is met for the first time adds to that.
The best matching item that there is room for is taken first, whatever it costs: a context without it would lack the
answer. The others are taken by what they add per token, which only ever falls while others are taken.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Literal

from core.language.terms import terms
from core.memoize import digest, memo_scope, memoized
from core.statements.comparison import denial, difference, is_same, read

LEAST: Final = 0.15
"""Least gain of an item, as a share of the highest score: below it the rest adds (almost) nothing."""

ASKED: Final = 0.5
"""Gain of covering all terms of the query, in highest scores."""

READ: Final = 4_096
"""Texts whose term codes are cached: some 4 MB if all were memories, 40 MB if all were passages."""

LONGEST: Final = 2_000
"""Characters of a cached text: a passage, not a query of pages, which nobody repeats."""


@dataclass(frozen=True, slots=True)
class SelectionItem:
    """A candidate for the context. `key`: unique among the items. `tokens`: its size as shown, date included.

    `score`: relevance, higher is better, any scale from 0 up. `occurred_at`: when it happened.
    `conflicts`: keys of items that contradict it.
    """

    key: str
    text: str
    tokens: int
    score: float
    occurred_at: datetime | None = None
    conflicts: frozenset[str] = frozenset()


OmissionReason = Literal["room", "enough", "repetition", "gain", "relevance", "hidden"]
"""Reason by which omissions are counted.

`room`: the limit of tokens; `enough`: there are as many as the question needs; `repetition`: another says the same;
`gain`: it adds almost nothing to what is shown; `relevance`: it has too little to do with the question; `hidden`: a
message that was hidden.
"""


@dataclass(frozen=True, slots=True)
class Omission:
    """An item left out: `why` in plain words, `reason` as it is counted."""

    key: str
    why: str
    reason: OmissionReason

    @property
    def for_room(self) -> bool:
        """Return whether it would be shown with a higher limit."""
        return self.reason == "room"


@dataclass(frozen=True, slots=True)
class Chosen:
    """`kept`: in display order, best first; contradicting items are adjacent, by date.

    `coverage`: coverage of the kept ones, in the scale of the scores.
    """

    kept: tuple[SelectionItem, ...]
    left_out: tuple[Omission, ...]
    tokens: int
    coverage: float


@memo_scope()
def choose(
    items: Sequence[SelectionItem], tokens: int, query: str = "", most: int | None = None, least: float = LEAST
) -> Chosen:
    """Choose the cheapest set of `items` that says enough about `query`, within `tokens` and at most `most` of them.

    The order of `items` does not matter. Contradicting items are kept or left out together.
    """
    highest = max((max(0.0, item.score) for item in items), default=0.0)
    units = _units(items, _shares(items, query, highest))
    limits = _Limits(tokens, math.inf if most is None else most, least * highest)
    choice = _TakenItems(limits)
    best = max((u for u in units if u.worth > 0 and limits.have_room(u, 0, 0)), key=_best, default=None)
    if best is not None:
        choice.consider(best, best.worth)
    for unit, gain in _by_gain([unit for unit in units if unit is not best], choice):
        choice.consider(unit, gain)
    kept = sorted(choice.kept, key=lambda u: (-max(item.score for item in u.items), u.key))
    return Chosen(
        tuple(item for unit in kept for item in unit.items),
        tuple(sorted(choice.left_out, key=lambda left: left.key)),
        choice.spent,
        choice.coverage,
    )


Term = bytes
"""Code of a term in this process: `core.memoize` keeps no words."""

Shares = Sequence[tuple[Term, float]]
"""Coverage: the share in each term; of a term of the query one more, under a marked key."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """Items shown together or not at all, by date; mostly one. `says`: the best share of each term."""

    items: tuple[SelectionItem, ...]
    key: str
    tokens: int
    says: Shares
    worth: float


@dataclass(frozen=True, slots=True)
class _Limits:
    tokens: int
    most: float
    least: float

    def have_room(self, unit: _Unit, spent: int, count: int) -> bool:
        return spent + unit.tokens <= self.tokens and count + len(unit.items) <= self.most


@dataclass(slots=True)
class _TakenItems:
    """Items taken so far, and items left out with reasons."""

    limits: _Limits
    kept: list[_Unit] = field(default_factory=list)
    left_out: list[Omission] = field(default_factory=list)
    best_shares: dict[Term, float] = field(default_factory=dict)
    coverage: float = 0.0
    spent: int = 0
    count: int = 0

    def gain(self, unit: _Unit) -> float:
        """Return the gain of a unit over what is taken."""
        best_share = self.best_shares.get
        return math.fsum([share - covered for term, share in unit.says if share > (covered := best_share(term, 0.0))])

    def consider(self, unit: _Unit, gain: float) -> None:
        """Take a unit, or leave it out with the reason. Words are compared only if it could be taken."""
        limits = self.limits
        if 0 < gain < limits.least:
            self._leave_little(unit)
        elif gain > 0 and self.count + len(unit.items) > limits.most:
            self._leave(unit, f"{self.count} are enough for this question", "enough")
        elif twin := next(filter(None, (_twin(unit, kept) for kept in self.kept)), None):
            self._leave(unit, f"says the same as {twin}", "repetition")
        elif gain <= 0:
            self._leave_little(unit)
        elif not limits.have_room(unit, self.spent, self.count):
            self._leave(unit, f"no room: {unit.tokens} tokens, {max(0, limits.tokens - self.spent)} left", "room")
        else:
            self._take(unit, gain)

    def _take(self, unit: _Unit, gain: float) -> None:
        self.kept.append(unit)
        self.coverage += gain
        self.spent += unit.tokens
        self.count += len(unit.items)
        for term, share in unit.says:
            self.best_shares[term] = max(self.best_shares.get(term, 0.0), share)

    def _leave_little(self, unit: _Unit) -> None:
        """Leave out what says little: beside what is taken, or at all."""
        if self.kept:
            self._leave(unit, "adds almost nothing to what is shown", "gain")
        else:
            self._leave(unit, "has too little to do with it", "relevance")

    def _leave(self, unit: _Unit, why: str, reason: OmissionReason) -> None:
        for item in unit.items:
            others = ", ".join(other.key for other in unit.items if other is not item)
            whole = f"{why} (together with {others}, which denies it)" if others else why
            self.left_out.append(Omission(item.key, whole, reason))


def _by_gain(units: Sequence[_Unit], choice: _TakenItems) -> Iterator[tuple[_Unit, float]]:
    """Yield units by gain per token at that moment. A gain computed earlier can only be too high."""
    heap = [(-unit.worth / unit.tokens, unit.key, 0, unit.worth, unit) for unit in units]
    heapq.heapify(heap)
    while heap:
        _, key, computed_at, gain, unit = heap[0]
        if computed_at == len(choice.kept):
            heapq.heappop(heap)
            yield unit, gain
        else:
            gain = choice.gain(unit)
            heapq.heapreplace(heap, (-gain / unit.tokens, key, len(choice.kept), gain, unit))


def _best(unit: _Unit) -> tuple[float, float, str]:
    return max(item.score for item in unit.items), unit.worth, unit.key


def _term_codes(text: str) -> tuple[Term, ...]:
    """Return the codes of the terms of a text, each once, from the cache."""
    return _cached_term_codes(text) if len(text) <= LONGEST else _cached_term_codes.work(text)


@memoized(READ)
def _cached_term_codes(text: str) -> tuple[Term, ...]:
    return tuple(digest(term, size=8) for term in sorted(set(terms(text))))


def _shares(items: Sequence[SelectionItem], query: str, highest: float) -> dict[str, Shares]:
    """Return the coverage of each item: its score divided among its terms, rarer ones more, and its query terms."""
    terms_of_item = {item.key: _term_codes(item.text) or (b"#" + item.key.encode(),) for item in items}
    counts = Counter(term for term_codes in terms_of_item.values() for term in term_codes)
    rarity = {term: math.log1p(len(items) / count) for term, count in counts.items()}
    query_terms = frozenset(_term_codes(query)) if highest else frozenset()
    worth = ASKED * highest / len(query_terms) if query_terms else 0.0
    shares: dict[str, Shares] = {}
    for item in items:
        term_codes = terms_of_item[item.key]
        rare = [rarity[term] for term in term_codes]
        score, whole = max(0.0, item.score), math.fsum(rare)
        met = [(b"?" + term, worth) for term in sorted(query_terms.intersection(term_codes))]
        shares[item.key] = [(term, score * weight / whole) for term, weight in zip(term_codes, rare, strict=True)] + met
    return shares


def _units(items: Sequence[SelectionItem], shares: Mapping[str, Shares]) -> list[_Unit]:
    """Group items that contradict each other, directly or through others."""
    members = {item.key: {item.key} for item in items}
    for first, other in sorted((item.key, key) for item in items for key in item.conflicts if key in members):
        if members[first] is not members[other]:
            members[first] |= members[other]
            for key in members[other]:
                members[key] = members[first]
    by_key = {item.key: item for item in items}
    groups = {min(group): group for group in members.values()}
    return [_unit(key, [by_key[member] for member in group], shares) for key, group in sorted(groups.items())]


def _unit(key: str, items: Sequence[SelectionItem], shares: Mapping[str, Shares]) -> _Unit:
    says = shares[key]
    if len(items) > 1:
        best: dict[Term, float] = {}
        for term, share in (pair for item in items for pair in shares[item.key]):
            best[term] = max(best.get(term, 0.0), share)
        says = sorted(best.items())
    tokens = sum(max(1, item.tokens) for item in items)
    return _Unit(tuple(sorted(items, key=_date)), key, tokens, says, math.fsum([share for _, share in says]))


_FIRST: Final = datetime.min.replace(tzinfo=UTC)


def _date(item: SelectionItem) -> tuple[datetime, str]:
    occurred_at = item.occurred_at or _FIRST
    return occurred_at if occurred_at.tzinfo else occurred_at.replace(tzinfo=UTC), item.key


def _twin(unit: _Unit, other: _Unit) -> str | None:
    """Return the key of a kept item that says the same; None for contradicted items."""
    if len(unit.items) > 1:
        return None
    return next((item.key for item in other.items if _is_twin(unit.items[0], item)), None)


def _is_twin(item: SelectionItem, other: SelectionItem) -> bool:
    """Return whether two items say the same, and no number, name, date or denial tells them apart."""
    if item.text.strip() == other.text.strip():
        return True
    analysis, other_analysis = read(item.text), read(other.text)
    differ = denial(analysis, other_analysis) or difference(analysis, other_analysis)
    return is_same(analysis, other_analysis) and not differ
