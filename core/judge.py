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

from core import wording
from core.types import Candidate, Category
from core.wording import Wording, read


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosines that statements must reach, where the words allow it.

    `merge`: to be one in words that only share their beginning. `near`: to be one in the same words, or with more
    behind them. `novelty`: to have anything to do with each other; below it nothing is compared but slots.
    """

    merge: float = 0.95
    near: float = 0.90
    novelty: float = 0.35


USUAL = Thresholds()


class Kind(StrEnum):
    """Verdicts.

    `merge`: the same with more to it. `replace`: the same put right. `predates`: true once, but something later is
    known already. `contradict`: one denies the other, and nothing tells which holds.
    """

    ADD = "add"
    CONFIRM = "confirm"
    MERGE = "merge"
    REPLACE = "replace"
    SUPERSEDE = "supersede"
    PREDATES = "predates"
    CONTRADICT = "contradict"
    IGNORE = "ignore"


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
    category: Category | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do with a candidate, with which memory, and why in words a person can read."""

    kind: Kind
    known: Known | None
    reason: str


def judge(candidate: Candidate, neighbours: Sequence[Known], thresholds: Thresholds = USUAL) -> Verdict:
    """The first of: said before, says nothing, same slot, same meaning, put right or denied; else it is new."""
    mine = [n for n in neighbours if n.subject == candidate.subject]
    near = sorted(
        (n for n in mine if (n.similarity or 0) >= thresholds.novelty), key=lambda n: (-(n.similarity or 0), n.id.int)
    )
    return (
        _said_before(candidate, mine)
        or _empty(candidate)
        or _same_slot(candidate, mine)
        or _same_meaning(candidate, near, thresholds)
        or _put_right(candidate, near, thresholds)
        or _denied(candidate, near)
        or _new(near)
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
    if one == other:
        return None
    mine, theirs = read(one), read(other)
    return wording.denial(mine, theirs) or wording.difference(mine, theirs)


def sameness(candidate: Candidate, known: Known, thresholds: Thresholds = USUAL) -> Verdict | None:
    """Whether two statements are one: CONFIRM where the known one says it all, MERGE where the new one says more."""
    similarity = known.similarity or 0
    if similarity < thresholds.novelty or _apart(candidate, known):
        return None
    one, other = read(candidate.content), read(known.content)
    if wording.denial(one, other) or wording.difference(one, other):
        return None
    near, cosine = similarity >= thresholds.near, f"(cosine {similarity:.2f})"
    if wording.begins_with(one, other) or (near and wording.says_more(one, other)):
        return Verdict(Kind.MERGE, known, f"Says the same and more {cosine}.")
    if wording.begins_with(other, one) or (near and wording.says_more(other, one)):
        return Verdict(Kind.CONFIRM, known, f"Known already, and more {cosine}.")
    if (near and wording.is_same(one, other)) or (similarity >= thresholds.merge and wording.is_derived(one, other)):
        return Verdict(Kind.CONFIRM, known, f"Says the same in other words {cosine}.")
    return None


def folded(value: str | None) -> str:
    """A slot's value for comparison: case, width and spaces do not count."""
    return " ".join(unicodedata.normalize("NFKC", value or "").casefold().split())


def _said_before(candidate: Candidate, neighbours: Sequence[Known]) -> Verdict | None:
    key = statement_key(candidate.subject, candidate.content)
    for known in neighbours:
        if statement_key(known.subject, known.content) == key:
            return Verdict(Kind.CONFIRM, known, "The same statement is known.")
    return None


def _empty(candidate: Candidate) -> Verdict | None:
    if candidate.attribute is not None:
        return None
    why = wording.is_empty(candidate.content, candidate.subject)
    return Verdict(Kind.IGNORE, None, f"Not worth keeping: {why}.") if why else None


def _same_slot(candidate: Candidate, neighbours: Sequence[Known]) -> Verdict | None:
    if candidate.attribute is None:
        return None
    for known in (n for n in neighbours if n.attribute == candidate.attribute):
        if folded(known.value) == folded(candidate.value):
            return _same_value(candidate, known)
        change = f"{known.attribute}: {known.value} → {candidate.value}"
        if candidate.occurred_at >= known.occurred_at:
            return Verdict(Kind.SUPERSEDE, known, f"Said later about the same slot ({change}).")
        return Verdict(Kind.PREDATES, known, f"Something later is known of the same slot ({change}).")
    return None


def _same_value(candidate: Candidate, known: Known) -> Verdict:
    more = wording.says_more(read(candidate.content), read(known.content))
    if more and conflicting(candidate.content, known.content) is None:
        return Verdict(Kind.MERGE, known, f"{known.attribute} is known to be {known.value}; this says more of it.")
    return Verdict(Kind.CONFIRM, known, f"{known.attribute} is known to be {known.value}.")


def _same_meaning(candidate: Candidate, near: Sequence[Known], thresholds: Thresholds) -> Verdict | None:
    found = (sameness(candidate, known, thresholds) for known in near)
    return next((verdict for verdict in found if verdict), None)


def _put_right(candidate: Candidate, near: Sequence[Known], thresholds: Thresholds) -> Verdict | None:
    """A correction of one place of a statement: the wording changes where it stands, its history keeps the old one."""
    if not candidate.corrects or candidate.attribute is not None:
        return None
    one = read(candidate.content)
    for known in near:
        other = read(known.content)
        if (known.similarity or 0) < thresholds.near or wording.denial(one, other) or _apart(candidate, known):
            continue
        if one.bound == other.bound and candidate.occurred_at >= known.occurred_at and _one_place(one, other):
            return Verdict(Kind.REPLACE, known, "Corrects one word of what is known.")
    return None


def _denied(candidate: Candidate, near: Sequence[Known]) -> Verdict | None:
    one = read(candidate.content)
    for known in near:
        other = read(known.content)
        why = wording.denial(one, other)
        if why is None or wording.difference(one, other) or _apart(candidate, known) or not wording.is_same(one, other):
            continue
        if one.ended == other.ended:
            return Verdict(Kind.CONTRADICT, known, f"Contradicts what is known: {why}.")
        if candidate.occurred_at >= known.occurred_at:
            return Verdict(Kind.SUPERSEDE, known, f"Said later of the same: {why}.")
        return Verdict(Kind.PREDATES, known, f"Something later is known of the same: {why}.")
    return None


def _new(near: Sequence[Known]) -> Verdict:
    if not near:
        return Verdict(Kind.ADD, None, "New: nothing known has to do with it.")
    return Verdict(
        Kind.ADD, None, f"New: the nearest that is known says something else (cosine {near[0].similarity:.2f})."
    )


def _apart(candidate: Candidate, known: Known) -> bool:
    """Two slots, or two events of different days, however alike their words."""
    if (candidate.attribute, folded(candidate.value)) != (known.attribute, folded(known.value)):
        return candidate.attribute is not None and known.attribute is not None
    dated = Category.EVENT in {candidate.category, known.category}
    return dated and candidate.occurred_at.date() != known.occurred_at.date()


def _one_place(one: Wording, other: Wording) -> bool:
    """Whether exactly one word stands in another's place."""
    if len(one.words) != len(other.words):
        return False
    return sum(a != b for a, b in zip(one.words, other.words, strict=True)) == 1
