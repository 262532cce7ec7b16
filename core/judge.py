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
        or Verdict(Kind.ADD, None, "New: nothing known says this or fills its slot.")
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
    if _turned(one, other):
        return "what stands before and after has changed places"
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
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot|stopped|quit|former|formerly"
    r"|used to|n't)\b|n['’]t\b"
    r"|[不没沒無无未別别勿]|从未|不再",
    re.IGNORECASE,
)
NUMBER_WORDS = frozenset(
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million half twice".split()
)
NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*|[〇零一二三四五六七八九十百千万亿两]+(?=[年月日号点个岁次元块])")
MONTHS = (
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday"
).split()
WORD = re.compile(r"[^\W_]+(?:[-.][^\W_]+)*")
DIRECTED = re.compile(r"\b(?:than|over|from|to|before|after|instead|rather|for|by)\b|[比从到给被把]", re.IGNORECASE)
HAN = re.compile(r"[\u3400-\u9fff]")
PARTICLES = frozenset("的了是在我你他她它们吗呢啊吧也都就很着过")


def _numbers(text: str) -> frozenset[str]:
    folded = unicodedata.normalize("NFKC", text)
    spelled = {w for w in re.findall(r"[a-z]+", folded.casefold()) if w in MONTHS or w in NUMBER_WORDS}
    return frozenset(NUMBER.findall(folded)) | spelled


def _negated(text: str) -> bool:
    return bool(NEGATION.search(text))


def _names(text: str) -> frozenset[str]:
    """Words that look like names or identifiers: capitalised behind the first, or letters mixed with digits."""
    words = WORD.findall(unicodedata.normalize("NFKC", text))
    capital = {w.casefold() for w in words[1:] if w[0].isupper() and w != "I"}
    mixed = {w.casefold() for w in words if any(c.isdigit() for c in w) and any(c.isalpha() for c in w)}
    # A cat and a dog are one unknown token to a small model, 猫 and 狗, so each sign of Chinese counts as a name.
    return frozenset(capital | mixed | set(HAN.findall(text)) - PARTICLES)


def _turned(one: str, other: str) -> bool:
    """Whether texts that compare or direct (tea over coffee, from Rome to Bern) share words in another order."""
    if not (DIRECTED.search(one) or DIRECTED.search(other)):
        return False
    mine, theirs = (re.findall(rf"{HAN.pattern}|[^\W\d_]+", folded(text)) for text in (one, other))
    shared = set(mine) & set(theirs)
    return list(dict.fromkeys(w for w in mine if w in shared)) != list(dict.fromkeys(w for w in theirs if w in shared))
