"""Strength formulas, pure.

Every formula comes to a curve of the same kind, a part that halves over a floor that stays:

    strength(days since last use) = floor + height · 0.5^(days / half-life)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

HALF_LIFE_DAYS: Final[Mapping[str, float]] = {
    "fact": 180.0,
    "preference": 180.0,
    "knowledge": 365.0,
    "project": 90.0,
    "pattern": 365.0,
    "skill": 365.0,
    "episode": 60.0,
    "event": 60.0,
    "plan": 30.0,
}
"""Days after which an unused memory of the category counts half, before anything has strengthened it."""

LASTING: Final = frozenset({"instruction"})
"""Categories that never fade: what was ordered holds until it is taken back."""

USED: Final = 0.5
"""How much longer the half-life grows each time the number of uses, and one, doubles."""

CONFIRMED: Final = 0.25
"""The same for each doubling of the pieces of evidence."""

RELATED: Final = 0.1
"""The same for each doubling of the number of relations that speak for it, and one."""

SPACING: Final = timedelta(hours=12)
"""A use counts if the memory was never of use before, or is not since so long: ten recalls in a minute are one."""

UNDER: Final = 0.05
"""The strength below which a memory has faded, unless the setting `fade_under` says otherwise."""

SIMILARITY: Final = 0.6
"""What the similarity to a question weighs in the two formulas that blend it with strength."""

DAY_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class Facts:
    """What strength is made of. `evidence`: messages it cites; `relations`: those that speak for it."""

    importance: float
    category: str
    uses: int = 0
    evidence: int = 1
    relations: int = 0
    pinned: bool = False
    half_life_days: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """How a memory fades if nobody uses it; without a half-life it does not."""

    height: float
    half_life_days: float | None
    floor: float = 0.0

    def strength(self, since: datetime, now: datetime) -> float:
        """How alive it is at a moment, when it was last of use at another; the future counts as now."""
        if self.half_life_days is None:
            return self.floor + self.height
        days = max(0.0, (now - since).total_seconds() / DAY_SECONDS)
        return self.floor + self.height * float(0.5 ** (days / self.half_life_days))

    def fade_at(self, since: datetime, under: float) -> datetime | None:
        """The moment from which on its strength lies under a threshold; None: never, or beyond the calendar."""
        gap = under - self.floor
        if self.half_life_days is None or gap <= 0:
            return None
        if self.height <= gap:
            return since
        try:
            return since + timedelta(days=self.half_life_days * math.log2(self.height / gap))
        except OverflowError:
            return None


Formula = Callable[[Facts], Curve]


def fading(facts: Facts) -> Curve:
    """Imprint's own: importance, halved for every half-life; use, confirmation and relations lengthen the half-life.

    Exponential forgetting after Ebbinghaus. What strengthens makes a memory last, and never more important than it is.
    """
    base = _positive(facts.half_life_days) or HALF_LIFE_DAYS.get(facts.category, HALF_LIFE_DAYS["fact"])
    strengthened = (
        1
        + USED * math.log2(1 + max(0, facts.uses))
        + CONFIRMED * math.log2(max(1, facts.evidence))
        + RELATED * math.log2(1 + max(0, facts.relations))
    )
    return _curve(facts, _share(facts.importance), base * strengthened)


def even_blend(facts: Facts) -> Curve:
    """`0.6·similarity + 0.2·decay(30 d) + 0.2·importance`, where decay is `exp(-days/30)`; here without similarity."""
    return _curve(facts, 0.2, 30 * math.log(2), floor=0.2 * _share(facts.importance))


def recent_blend(facts: Facts) -> Curve:
    """`0.6·similarity + 0.25·importance + 0.15·decay`, where decay halves every 30 days; here without similarity."""
    return _curve(facts, 0.15, 30, floor=0.25 * _share(facts.importance))


def weekly(facts: Facts) -> Curve:
    """`importance·exp(-days/7) + log(1 + uses)/10`; may exceed 1."""
    return _curve(facts, _share(facts.importance), 7 * math.log(2), floor=math.log1p(max(0, facts.uses)) / 10)


FORMULAS: Final[Mapping[str, Formula]] = {
    "fading": fading,
    "even_blend": even_blend,
    "recent_blend": recent_blend,
    "weekly": weekly,
}
"""The formulas by the name that the setting `strength_formula` gives them."""

BLENDS: Final = frozenset({"even_blend", "recent_blend"})
"""The formulas that have a part for the similarity to a question."""


def relevance(formula: str, similarity: float, strength: float) -> float:
    """The whole of a formula for a question: its strength, and the part for similarity where it has one."""
    return SIMILARITY * similarity + strength if formula in BLENDS else strength


def _curve(facts: Facts, height: float, half_life_days: float, floor: float = 0.0) -> Curve:
    lasts = facts.pinned or facts.category in LASTING
    return Curve(height, None if lasts else half_life_days, floor)


def _share(value: float) -> float:
    """A number from 0 to 1, whatever was stored."""
    return min(1.0, max(0.0, value)) if math.isfinite(value) else 0.0


def _positive(days: float | None) -> float | None:
    return days if days is not None and math.isfinite(days) and days > 0 else None
