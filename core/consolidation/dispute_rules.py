"""Deterministic rules for contradictions. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from core.types import Json

LEAST_DIFFERENCE: Final = 0.05
"""Difference from which confidence decides: less is chance."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of two memories that deny each other. `sources`: number of conversations and requests in its evidence."""

    id: UUID
    version: int
    content: str
    by_person: bool
    sources: int
    said_at: datetime
    since: datetime
    confidence: float


@dataclass(frozen=True, slots=True)
class Ruling:
    """The side that holds, and why; without a winner no rule decides."""

    reason: str
    winner: Side | None = None
    loser: Side | None = None

    def as_json(self) -> Json:
        if self.winner is None or self.loser is None:
            return {"resolved": False, "reason": self.reason}
        return {"resolved": True, "kept": str(self.winner.id), "gave_way": str(self.loser.id), "reason": self.reason}


def settle(side: Side, other: Side) -> Ruling:
    """Apply the first rule that distinguishes the sides: a person's word, evidence, time, confidence."""
    for name, preferred, reason in _RULES:
        score, other_score = preferred(side), preferred(other)
        if score - other_score >= _LEAST.get(name, 0) and score > other_score:
            return Ruling(reason(side, other), side, other)
        if other_score - score >= _LEAST.get(name, 0) and other_score > score:
            return Ruling(reason(other, side), other, side)
    return Ruling("Undecided: neither a person's word, nor evidence, time or confidence speaks for one of them.")


def rule_for(side: Side, other: Side, keep: UUID) -> Ruling:
    """Return the ruling of a person who named the side to keep."""
    winner, loser = (side, other) if keep == side.id else (other, side)
    return Ruling("Someone has decided to keep it.", winner, loser)


_Rule = tuple[str, Callable[[Side], float], Callable[[Side, Side], str]]

_LEAST: Final = {"confidence": LEAST_DIFFERENCE}

_RULES: Final[tuple[_Rule, ...]] = (
    ("person", lambda s: s.by_person, lambda _w, _o: "A person has said it; the other was extracted."),
    (
        "evidence",
        lambda s: s.sources,
        lambda w, o: f"It rests on {w.sources} independent sources, the other on {o.sources}.",
    ),
    (
        "time",
        lambda s: s.said_at.timestamp(),
        lambda w, o: f"It was said later: {w.said_at:%Y-%m-%d %H:%M}, not {o.said_at:%Y-%m-%d %H:%M}.",
    ),
    (
        "confidence",
        lambda s: s.confidence,
        lambda w, o: f"It is surer: {w.confidence:.2f} against {o.confidence:.2f}.",
    ),
)
"""Rules in their order, with the words of their reasons."""
