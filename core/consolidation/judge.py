"""Compares a new statement with known ones; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from core.memoize import memo_scope, memoized_in_scope
from core.memory.identity import KnownMemory, content_keys
from core.memory.known_set import KnownSet, Numbers, Places, slot_code
from core.statements import comparison, succession
from core.statements.comparison import Wording, may_be_alike, outline, read
from core.statements.succession import Statement, folded, gathered_list, normal_value, slot_name
from core.types import Candidate, Category


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Minimum cosines of two statements, where their words allow a verdict.

    `merge`: the same, in words that only share their stems. `near`: the same, in the same words or with more of them.
    `novelty`: related at all; below it nothing but slots is compared. `unclear`: worth asking a model if the words
    decide nothing: statements that people repeated are above 0.76, those that end others often near 0.5.
    """

    merge: float = 0.95
    near: float = 0.90
    novelty: float = 0.35
    unclear: float = 0.45


USUAL = Thresholds()

QUESTIONS = 5
"""Known memories, the nearest, that a model is asked about for one statement."""

READ_FOR_QUESTIONS = 12
"""Texts that are read together to find those."""

WITH_OWN_SLOT = frozenset({Category.EPISODE, Category.SKILL})
"""Categories whose slot is the id of a conversation or the name of a skill."""


class Kind(StrEnum):
    """Kind of a verdict.

    `merge`: the same, with more detail. `replace`: a correction. `predates`: true once, but something later is known.
    `contradict`: one denies the other, and nothing tells which holds.
    """

    ADD = "add"
    CONFIRM = "confirm"
    MERGE = "merge"
    REPLACE = "replace"
    SUPERSEDE = "supersede"
    PREDATES = "predates"
    CONTRADICT = "contradict"
    IGNORE = "ignore"


class OpinionKind(StrEnum):
    """Answers that a model may give about a new statement and a known one."""

    SAME = "same"
    MORE = "more"
    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"
    DIFFERENT = "different"


class Pair(NamedTuple):
    """A new statement and a known one whose relation the words do not decide."""

    candidate: Candidate
    known: KnownMemory

    @property
    def texts(self) -> tuple[str, str, str]:
        """Key of the pair within one batch."""
        return self.known.subject, self.candidate.content, self.known.content


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict on a candidate: its kind, the memory concerned, and the reason in words."""

    kind: Kind
    known: KnownMemory | None
    reason: str


@memo_scope()
def judge(candidate: Candidate, neighbours: Sequence[KnownMemory], thresholds: Thresholds = USUAL) -> Verdict:
    """Return the first that applies: known, empty, same slot, same meaning, corrected, taken back, denied …; else new.

    Of two statements about one thing the one that was said later holds, whatever time they refer to.
    """
    known = KnownSet.of(neighbours)
    about = known.about(candidate.subject)
    near = known.nearest_first(about & (known.likeness >= thresholds.novelty))
    about_subject = np.flatnonzero(about)
    return (
        said_before(candidate, known, about_subject)
        or _empty(candidate)
        or same_slot(candidate, known, about_subject)
        or _same_meaning(candidate, known, near, thresholds)
        or _corrected_word(candidate, known, near, thresholds)
        or _withdrawal_verdict(candidate, known, about_subject)
        or _denial_verdict(candidate, known, about_subject if read(candidate.content).ended else near)
        or _renumbering_verdict(candidate, known, near)
        or _new(known.likeness[near])
    )


def undecided(candidate: Candidate, near: Sequence[KnownMemory], thresholds: Thresholds = USUAL) -> list[KnownMemory]:
    """Return what a statement that `judge` finds new may yet repeat, replace or deny: the nearest, at most `QUESTIONS`.

    A model is never asked about a statement with a slot: the slot decides, and would be lost in a merge.
    """
    if candidate.attribute is not None:
        return []
    known = KnownSet.of(near)
    nearest = known.nearest_first(known.about(candidate.subject) & (known.likeness >= thresholds.unclear))
    pages = (
        known.at(nearest[start : start + READ_FOR_QUESTIONS]) for start in range(0, len(nearest), READ_FOR_QUESTIONS)
    )
    return list(islice(chain.from_iterable(pages), QUESTIONS))


@memo_scope()
def verdict_from_opinions(
    candidate: Candidate, opinions: Sequence[tuple[KnownMemory, OpinionKind | None]]
) -> Verdict | None:
    """Return the strongest verdict that a model's answers give and the guards allow; None: there is none."""
    verdicts = [
        verdict for known, opinion in opinions if opinion and (verdict := _verdict_of(candidate, known, opinion))
    ]
    return min(verdicts, key=lambda v: STRONGEST.index(v.kind), default=None)


@memoized_in_scope
def same_subject(subject: str, other: str) -> bool:
    """Return whether two names are one, as `statement_key` reads them: a user `ada` may be "Ada" elsewhere."""
    return subject == other or folded(subject) == folded(other)


def conflict_between(statement: str, other: str) -> str | None:
    """Return what forbids treating two statements as one, however close their vectors; None: nothing does."""
    if statement == other:
        return None
    wording, other_wording = read(statement), read(other)
    return comparison.denial(wording, other_wording) or comparison.difference(wording, other_wording)


def sameness(candidate: Candidate, known: KnownMemory, thresholds: Thresholds = USUAL) -> Verdict | None:
    """Return CONFIRM if the known statement says all of the new one, MERGE if the new one says more; None: neither."""
    similarity = known.similarity or 0
    if (
        similarity < thresholds.novelty
        or not may_be_alike(outline(candidate.content), known.outline)
        or _differ_in_slot_or_day(candidate, known)
    ):
        return None
    wording, other = read(candidate.content), read(known.content)
    verdict = _alike(wording, other, known, thresholds)
    # Last, because alike statements are rare and the guards cost most.
    return (
        None
        if verdict is None or comparison.denial(wording, other) or comparison.difference(wording, other)
        else verdict
    )


def is_over(candidate: Candidate) -> bool:
    """Return whether what it says had ended when it was said."""
    return candidate.valid_to is not None and candidate.valid_to <= candidate.told_at


def normalized_slot(candidate: Candidate) -> Candidate:
    """Normalise the name of the slot; drop a slot whose value held once and does not now."""
    if candidate.attribute is None or candidate.category in WITH_OWN_SLOT:
        return candidate
    if candidate.valid_to is None and succession.is_past(candidate):
        return replace(candidate, attribute=None, value=None)
    return replace(candidate, attribute=slot_name(candidate.attribute))


def fitting_slot(candidate: Candidate, known: KnownSet, earlier: Sequence[Candidate]) -> Candidate:
    """Return the candidate without its slot if another value holds it, and both values may be true."""
    if candidate.attribute is None or candidate.category in WITH_OWN_SLOT:
        return candidate
    places = np.flatnonzero(known.about(candidate.subject) & (known.rows["slot"] == slot_code(candidate.attribute)))
    slot = candidate.subject, candidate.attribute
    same: list[Statement] = [
        *known.at(places),
        *(statement for statement in earlier if (statement.subject, statement.attribute) == slot),
    ]
    beside = any(succession.stands_beside(candidate, statement) for statement in same)
    return replace(candidate, attribute=None, value=None) if beside else candidate


def said_before(candidate: Candidate, known: KnownSet, among: Places) -> Verdict | None:
    """Return CONFIRM if the same statement is known, letter by letter or in another spelling."""
    keys = content_keys(candidate.content)
    exact = known.rows["exact"][among] == keys.exact[0]
    spelling = known.rows["spelling"][among] == keys.spelling[0]
    for memory in known.at(among[exact | spelling]):
        if memory.keys.exact == keys.exact:
            return Verdict(Kind.CONFIRM, memory, "The same statement is known.")
        if memory.keys.spelling == keys.spelling and (memory.attribute is None) == (candidate.attribute is None):
            return Verdict(Kind.CONFIRM, memory, "The same statement is known in another spelling.")
    return None


def _empty(candidate: Candidate) -> Verdict | None:
    if candidate.attribute is not None:
        return None
    why = comparison.is_empty(candidate.content, candidate.subject)
    return Verdict(Kind.IGNORE, None, f"Not worth keeping: {why}.") if why else None


def same_slot(candidate: Candidate, neighbours: KnownSet, among: Places) -> Verdict | None:
    """Return the verdict on a candidate whose slot a known memory fills; None: there is none."""
    if candidate.attribute is None:
        return None
    for known in neighbours.at(among[neighbours.rows["slot"][among] == slot_code(candidate.attribute)]):
        if normal_value(known.value) == normal_value(candidate.value):
            return _same_value(candidate, known)
        change = f"{known.attribute}: {known.value} → {candidate.value}"
        if is_over(candidate):
            return Verdict(Kind.PREDATES, known, f"It was over when it was said ({change}).")
        if candidate.told_at >= known.told_at:
            return Verdict(Kind.SUPERSEDE, known, f"Said later about the same slot ({change}).")
        return Verdict(Kind.PREDATES, known, f"Something later is known of the same slot ({change}).")
    return None


def _same_value(candidate: Candidate, known: KnownMemory) -> Verdict:
    more = comparison.says_more(read(candidate.content), read(known.content))
    if more and conflict_between(candidate.content, known.content) is None:
        return Verdict(Kind.MERGE, known, f"{known.attribute} is known to be {known.value}; this says more of it.")
    return Verdict(Kind.CONFIRM, known, f"{known.attribute} is known to be {known.value}.")


def _same_meaning(candidate: Candidate, known: KnownSet, near: Places, thresholds: Thresholds) -> Verdict | None:
    alike = near[known.may_be_alike(near, outline(candidate.content))]
    verdicts = (sameness(candidate, memory, thresholds) for memory in known.at(alike))
    return next((verdict for verdict in verdicts if verdict), None)


def _corrected_word(candidate: Candidate, neighbours: KnownSet, near: Places, thresholds: Thresholds) -> Verdict | None:
    """Detect a correction of one word: the memory gets the new wording, and its history keeps the old one."""
    if not candidate.corrects or candidate.attribute is not None:
        return None
    wording = read(candidate.content)
    for known in neighbours.at(near[neighbours.likeness[near] >= thresholds.near]):
        other = read(known.content)
        if comparison.denial(wording, other) or _differ_in_slot_or_day(candidate, known):
            continue
        if wording.bound == other.bound and candidate.told_at >= known.told_at and _one_place(wording, other):
            return Verdict(Kind.REPLACE, known, "Corrects one word of what is known.")
    return None


def _denial_verdict(candidate: Candidate, neighbours: KnownSet, among: Places) -> Verdict | None:
    wording, own = read(candidate.content), outline(candidate.content)
    for known in neighbours.at(among[neighbours.rows["words"][among] == own.words]):
        other = read(known.content)
        if (
            not comparison.is_same(wording, other)
            or comparison.difference(wording, other)
            or _differ_in_slot_or_day(candidate, known)
        ):
            continue
        why = comparison.denial(wording, other)
        if why is None:
            continue
        if wording.ended == other.ended:
            return Verdict(Kind.CONTRADICT, known, f"Contradicts what is known: {why}.")
        return _in_order(candidate, known, why)
    return None


def _withdrawal_verdict(candidate: Candidate, neighbours: KnownSet, among: Places) -> Verdict | None:
    """Detect a statement that ends or denies a value of a slot or a list."""
    gathered = gathered_list(candidate.structured)
    for known in neighbours.at(among) if gathered else ():
        if why := succession.ends(candidate, gathered, known, known.gathered):
            return _in_order(candidate, known, why)
        if why := succession.denies(gathered, known.gathered):
            return Verdict(Kind.CONTRADICT, known, f"Contradicts what is known: {why}.")
    return None


def _renumbering_verdict(candidate: Candidate, neighbours: KnownSet, near: Places) -> Verdict | None:
    """Detect a new number of a thing that has one ("my room is 204")."""
    for known in neighbours.at(near) if succession.has_number(candidate.content) else ():
        if not _differ_in_slot_or_day(candidate, known) and (
            why := succession.number_change(candidate.content, known.content)
        ):
            return _in_order(candidate, known, why)
    return None


def _in_order(candidate: Candidate, known: KnownMemory, why: str) -> Verdict:
    """Decide between two statements that cannot both hold: the later one does."""
    if candidate.told_at >= known.told_at:
        return Verdict(Kind.SUPERSEDE, known, f"Said later of the same: {why}.")
    return Verdict(Kind.PREDATES, known, f"Something later is known of the same: {why}.")


def _alike(wording: Wording, other: Wording, known: KnownMemory, thresholds: Thresholds) -> Verdict | None:
    """Compare the words of two statements, before the guards."""
    similarity = known.similarity or 0
    near, cosine = similarity >= thresholds.near, f"(cosine {similarity:.2f})"
    if comparison.begins_with(wording, other) or (near and comparison.says_more(wording, other)):
        return Verdict(Kind.MERGE, known, f"Says the same and more {cosine}.")
    if comparison.begins_with(other, wording) or (near and comparison.says_more(other, wording)):
        return Verdict(Kind.CONFIRM, known, f"Known already, and more {cosine}.")
    if (near and comparison.is_same(wording, other)) or (
        similarity >= thresholds.merge and comparison.is_derived(wording, other)
    ):
        return Verdict(Kind.CONFIRM, known, f"Says the same in other words {cosine}.")
    return None


def _verdict_of(candidate: Candidate, known: KnownMemory, opinion: OpinionKind) -> Verdict | None:
    """Turn a model's answer into a verdict; None: it is `different`, or what it says cannot be.

    Names, numbers and negations forbid that two statements are one, and the earlier one ends nothing.
    """
    if opinion is OpinionKind.DIFFERENT or candidate.attribute or not same_subject(candidate.subject, known.subject):
        return None
    if opinion is OpinionKind.SUPERSEDES:
        forbidden = candidate.told_at <= known.told_at
    else:
        is_one = opinion is not OpinionKind.CONTRADICTS
        forbidden = is_one and (
            _differ_in_slot_or_day(candidate, known) or conflict_between(candidate.content, known.content) is not None
        )
    kind, finding = FINDINGS[opinion]
    return None if forbidden else Verdict(kind, known, f"{finding} (cosine {known.similarity or 0:.2f}).")


def _new(cosines: Numbers) -> Verdict:
    if not len(cosines):
        return Verdict(Kind.ADD, None, "New: nothing known is related.")
    return Verdict(Kind.ADD, None, f"New: the nearest known statement says something else (cosine {cosines[0]:.2f}).")


def _differ_in_slot_or_day(candidate: Candidate, known: KnownMemory) -> bool:
    """Return whether both have slots that differ, or they are events of different days."""
    if candidate.attribute != known.attribute or (
        candidate.value != known.value and normal_value(candidate.value) != normal_value(known.value)
    ):
        return candidate.attribute is not None and known.attribute is not None
    dated = Category.EVENT in {candidate.category, known.category}
    return dated and candidate.occurred_at.date() != known.occurred_at.date()


def _one_place(wording: Wording, other: Wording) -> bool:
    """Return whether the statements differ in exactly one word."""
    if len(wording.words) != len(other.words):
        return False
    return sum(a != b for a, b in zip(wording.words, other.words, strict=True)) == 1


FINDINGS = {
    OpinionKind.SAME: (Kind.CONFIRM, "A model finds that it says the same"),
    OpinionKind.MORE: (Kind.MERGE, "A model finds that it says the same and more"),
    OpinionKind.SUPERSEDES: (Kind.SUPERSEDE, "Said later, and a model finds that it takes the place of what is known"),
    OpinionKind.CONTRADICTS: (Kind.CONTRADICT, "A model finds that it contradicts what is known"),
}

STRONGEST = (Kind.CONFIRM, Kind.MERGE, Kind.SUPERSEDE, Kind.CONTRADICT)
"""Order of preference of verdicts: a statement that is known needs no other."""
