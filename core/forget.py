"""How alive a memory is now. A closed formula: nothing is rewritten to age it."""

from __future__ import annotations

from datetime import datetime

HALF_LIFE_DAYS = {
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
"""Days after which an unused memory of the category counts half. Instructions have none: they do not fade."""

DAY_SECONDS = 86_400


def strength(
    importance: float, category: str, last_used: datetime, now: datetime, *, pinned: bool, half_life_days: float | None
) -> float:
    """Importance, halved for every half-life since the memory was last made or used; 0 to 1.

    Exponential forgetting after Ebbinghaus; pinned memories and instructions keep their importance.
    """
    half_life = half_life_days or HALF_LIFE_DAYS.get(category)
    if pinned or half_life is None:
        return importance
    days = max(0.0, (now - last_used).total_seconds() / DAY_SECONDS)
    return importance * float(0.5 ** (days / half_life))
