"""What a new statement is to what is known already. Pure: no database, no network, no model."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from core.types import Candidate

SAME = 0.95
"""Cosine from which two statements of one subject count as one, if no guard objects."""


class Kind(StrEnum):
    """Verdicts. `predates`: true once, but something later is known already."""

    ADD = "add"
    CONFIRM = "confirm"
    SUPERSEDE = "supersede"
    PREDATES = "predates"


@dataclass(frozen=True, slots=True)
class Known:
    """A memory that stands near a candidate; `similarity` is their cosine, or None where either has no vector."""

    id: UUID
    version: int
    content: str
    subject: str
    attribute: str | None
    value: str | None
    occurred_at: datetime
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do with a candidate, with which memory, and why in words a person can read."""

    kind: Kind
    known: Known | None
    reason: str


def judge(candidate: Candidate, neighbours: Sequence[Known]) -> Verdict:
    """The first of: said before, same slot, same meaning; else it is new."""
    mine = [n for n in neighbours if n.subject == candidate.subject]
    return (
        _said_before(candidate, mine)
        or _same_slot(candidate, mine)
        or _same_meaning(candidate, mine)
        or Verdict(Kind.ADD, None, "Nothing known says this.")
    )


def statement_key(subject: str, content: str) -> str:
    """Equal for statements that differ only in case, width, spaces and punctuation, in any script."""
    folded = unicodedata.normalize("NFKC", f"{subject}\n{content}").casefold()
    # Signs inside a number count: 1.5 is not 15, and -3 is not 3.
    words = re.findall(r"[+-]?\d+(?:[.,:/-]\d+)*|[^\W\d_]+|[^\w\s]", folded)
    kept = [w for w in words if not unicodedata.category(w[0]).startswith("P") or w[0] in "+-"]
    return hashlib.sha256(" ".join(kept).encode()).hexdigest()[:32]


def conflicting(one: str, other: str) -> str | None:
    """What forbids taking two statements for one, however close their vectors; None: nothing does."""
    if _numbers(one) != _numbers(other):
        return "numbers or dates differ"
    if _negated(one) != _negated(other):
        return "one denies what the other says"
    if _names(one) != _names(other):
        return "names differ"
    return None


def _said_before(candidate: Candidate, neighbours: Sequence[Known]) -> Verdict | None:
    key = statement_key(candidate.subject, candidate.content)
    for known in neighbours:
        if statement_key(known.subject, known.content) == key:
            return Verdict(Kind.CONFIRM, known, "The same statement is known.")
    return None


def _same_slot(candidate: Candidate, neighbours: Sequence[Known]) -> Verdict | None:
    if candidate.attribute is None:
        return None
    for known in (n for n in neighbours if n.attribute == candidate.attribute):
        if folded(known.value) == folded(candidate.value):
            return Verdict(Kind.CONFIRM, known, f"{known.attribute} is known to be {known.value}.")
        change = f"{known.attribute}: {known.value} → {candidate.value}"
        if candidate.occurred_at >= known.occurred_at:
            return Verdict(Kind.SUPERSEDE, known, f"Said later about the same slot ({change}).")
        return Verdict(Kind.PREDATES, known, f"Something later is known of the same slot ({change}).")
    return None


def _same_meaning(candidate: Candidate, neighbours: Sequence[Known]) -> Verdict | None:
    for known in sorted(neighbours, key=lambda n: -(n.similarity or 0)):
        if (known.similarity or 0) < SAME:
            return None
        if conflicting(candidate.content, known.content) is None:
            return Verdict(Kind.CONFIRM, known, f"Means the same (cosine {known.similarity:.2f}).")
    return None


def folded(value: str | None) -> str:
    """A slot's value for comparison: case, width and spaces do not count."""
    return " ".join(unicodedata.normalize("NFKC", value or "").casefold().split())


NEGATION = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot|stopped|quit|n't)\b|n['’]t\b"
    r"|[不没沒無无未別别勿]|从未|不再",
    re.IGNORECASE,
)
NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*|[〇零一二三四五六七八九十百千万亿两]+(?=[年月日号点个岁次元块])")
MONTHS = (
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday"
).split()
WORD = re.compile(r"[^\W_]+(?:[-.][^\W_]+)*")


def _numbers(text: str) -> frozenset[str]:
    folded = unicodedata.normalize("NFKC", text)
    dates = {w for w in re.findall(r"[a-z]+", folded.casefold()) if w in MONTHS}
    return frozenset(NUMBER.findall(folded)) | dates


def _negated(text: str) -> bool:
    return bool(NEGATION.search(text))


def _names(text: str) -> frozenset[str]:
    """Words that look like names or identifiers: capitalised behind the first, or letters mixed with digits."""
    words = WORD.findall(unicodedata.normalize("NFKC", text))
    capital = {w.casefold() for w in words[1:] if w[0].isupper() and w != "I"}
    mixed = {w.casefold() for w in words if any(c.isdigit() for c in w) and any(c.isalpha() for c in w)}
    return frozenset(capital | mixed)
