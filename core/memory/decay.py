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
"""Days after which an unused memory of the category has half its strength, before anything has strengthened it."""

LASTING: Final = frozenset({"instruction"})
"""Categories that never fade: an instruction holds until it is revoked."""

USED: Final = 0.5
"""Growth of the half-life, as a share, for each doubling of the number of uses plus one."""

CONFIRMED: Final = 0.25
"""Likewise, for each doubling of the pieces of evidence."""

RELATED: Final = 0.1
"""Likewise, for each doubling of the number of supporting relations plus one."""

SPACING: Final = timedelta(hours=12)
"""Least time between two uses that count: ten recalls in a minute are one."""

UNDER: Final = 0.05
"""Strength below which a memory has faded, unless the setting `fade_under` says otherwise."""

SIMILARITY: Final = 0.6
"""Weight of the similarity to a question in the two formulas that blend it with strength."""

DAY_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class Facts:
    """Inputs of the strength. `evidence`: number of messages cited; `relations`: number of those that support it."""

    importance: float
    category: str
    uses: int = 0
    evidence: int = 1
    relations: int = 0
    pinned: bool = False
    half_life_days: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """Curve by which a memory fades if nobody uses it; without a half-life it does not."""

    height: float
    half_life_days: float | None
    floor: float = 0.0

    def strength(self, since: datetime, now: datetime) -> float:
        """Return the strength at `now` of a memory last used at `since`; times in the future count as now."""
        if self.half_life_days is None:
            return self.floor + self.height
        days = max(0.0, (now - since).total_seconds() / DAY_SECONDS)
        return self.floor + self.height * float(0.5 ** (days / self.half_life_days))

    def fade_at(self, since: datetime, under: float) -> datetime | None:
        """Return when the strength falls below a threshold; None: never, or beyond the calendar."""
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
    """Imprint's own: importance, halved every half-life; use, confirmation and relations lengthen the half-life.

    Exponential forgetting after Ebbinghaus. Strengthening makes a memory last longer, never more important than it is.
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
"""Formulas by the names that the setting `strength_formula` takes."""

BLENDS: Final = frozenset({"even_blend", "recent_blend"})
"""Formulas with a part for the similarity to a question."""


def relevance(formula: str, similarity: float, strength: float) -> float:
    """Return a formula's value for a question: the strength, with the part for similarity if it has one."""
    return SIMILARITY * similarity + strength if formula in BLENDS else strength


def _curve(facts: Facts, height: float, half_life_days: float, floor: float = 0.0) -> Curve:
    lasts = facts.pinned or facts.category in LASTING
    return Curve(height, None if lasts else half_life_days, floor)


def _share(value: float) -> float:
    """Clamp a stored number to 0..1."""
    return min(1.0, max(0.0, value)) if math.isfinite(value) else 0.0


def _positive(days: float | None) -> float | None:
    return days if days is not None and math.isfinite(days) and days > 0 else None
