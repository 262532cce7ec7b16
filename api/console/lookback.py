"""Looking back at an owner's memories: two positions between the first memory and now, as moments."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from fastapi import Query

from core.types import Json

NOW: Final = 100
"""Position of a slider that means now."""

Percent = Annotated[int, Query(ge=0, le=NOW)]


@dataclass(frozen=True, slots=True)
class Lookback:
    """Moments that the two sliders name; `true_from` and `known_from`: their left ends. None as a moment: now."""

    true_then: int
    known_then: int
    true_from: datetime
    known_from: datetime
    now: datetime

    @property
    def as_of(self) -> str | None:
        return _moment(self.true_then, self.true_from, self.now)

    @property
    def known_at(self) -> str | None:
        return _moment(self.known_then, self.known_from, self.now)

    @property
    def query(self) -> str:
        """Return the part of an address that leads here again."""
        return f"?true_then={self.true_then}&known_then={self.known_then}"


def between(oldest: list[Json], true_then: int, known_then: int, now: datetime) -> Lookback:
    """Return the moments that two percentages stand for, from the oldest memory on, if there is one."""
    if not oldest:
        return Lookback(true_then, known_then, now, now, now)
    recorded = datetime.fromisoformat(oldest[0]["recorded_at"])
    stated = oldest[0]["valid_from"] or oldest[0]["occurred_at"]
    valid = min(datetime.fromisoformat(stated), now) if stated else recorded
    return Lookback(true_then, known_then, valid, recorded, now)


def _moment(percent: int, first: datetime, now: datetime) -> str | None:
    return None if percent == NOW else (first + (now - first) * percent / NOW).isoformat()
