"""Verdicts on statements whose reader was shown the known memories, and said which of them they repeat, extend or end.

Checked is only that a memory is the owner's, said to the same audience (else it is not among the known ones), no later
than the statement, and as it was shown. Pure.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Final

import numpy as np

from core.consolidation import judge
from core.consolidation.judge import Kind, Verdict
from core.memory.identity import KnownMemory, Revised
from core.memory.known_set import KnownSet, Places
from core.types import Candidate, Relations, Shown


def verdict(candidate: Candidate, relations: Relations, neighbours: KnownSet, ends: Sequence[Revised]) -> Verdict:
    """Return the verdict on a candidate by its slot, the words of known memories and its relations.

    `ends`: those of `ended` that are certain enough.
    """
    slot, whole = _slot(candidate, neighbours), [end for end in ends if not end.rest]
    if slot and slot.kind is Kind.PREDATES:
        return slot
    if len(whole) == 1 and _is_slip(candidate, whole[0].known):
        return Verdict(Kind.REPLACE, whole[0].known, "Corrects a slip, says whoever read the messages.")
    if whole:
        return Verdict(Kind.SUPERSEDE, whole[0].known, whole[0].reason)
    same = judge.said_before(candidate, neighbours, _about(candidate, neighbours)) or slot
    if same:
        return same
    for kind, relation, reason in (
        (Kind.CONFIRM, relations.same_as, "Known already, says whoever read the messages."),
        (Kind.MERGE, relations.more_of, "Says the same and more, says whoever read the messages."),
    ):
        memory = _as_shown(neighbours, relation)
        if memory is not None:
            # A slot that the known wording lacks comes with the new one.
            return Verdict(Kind.MERGE if candidate.attribute and not memory.attribute else kind, memory, reason)
    return _NEW


def ended(
    candidate: Candidate, relations: Relations, neighbours: KnownSet, rests: Container[str] = ()
) -> list[Revised]:
    """Return the known memories that a candidate ends; with them those that it says all of, whose place it takes.

    `rests`: what may remain of memories; of others nothing does. A slot, and what the candidate says itself, is
    certain; what else the reader ends is as certain as the statement.
    """
    slot = _slot(candidate, neighbours)
    if slot and slot.kind is Kind.PREDATES:
        return []
    reason, certainty = _ENDED.format(certainty=candidate.confidence), candidate.confidence
    ends = {
        memory.id: Revised(memory, reason, certainty, end.rest if end.rest in rests else "")
        for end in relations.ends
        if (memory := _as_shown(neighbours, end.memory)) is not None and memory.told_at <= candidate.told_at
    }
    if slot and slot.known and slot.kind is Kind.SUPERSEDE:
        ends[slot.known.id] = Revised(slot.known, slot.reason)
    if any(not end.rest for end in ends.values()):
        repeated = judge.said_before(candidate, neighbours, _about(candidate, neighbours))
        named = [_as_shown(neighbours, relation) for relation in (relations.same_as, relations.more_of)]
        own = [repeated and repeated.known, slot and slot.known, *named]
        ends |= {memory.id: Revised(memory, _TAKEN) for memory in own if memory and memory.id not in ends}
    return list(ends.values())


def _is_slip(candidate: Candidate, memory: KnownMemory) -> bool:
    """Return whether a correction changes words alone, so that the memory can be reworded."""
    return (
        candidate.corrects
        and candidate.attribute is None
        and memory.attribute is None
        and judge.same_subject(candidate.subject, memory.subject)
        and candidate.occurred_at.date() == memory.occurred_at.date()
    )


def _as_shown(neighbours: KnownSet, named: Shown | None) -> KnownMemory | None:
    """Return a memory if it is known and has not changed since it was shown."""
    memories = neighbours.named([named.id]) if named else []
    return next((memory for memory in memories if named and memory.version == named.version), None)


def _slot(candidate: Candidate, neighbours: KnownSet) -> Verdict | None:
    return judge.same_slot(candidate, neighbours, _about(candidate, neighbours))


def _about(candidate: Candidate, neighbours: KnownSet) -> Places:
    return np.flatnonzero(neighbours.about(candidate.subject))


_ENDED: Final = "Whoever read the messages says that it no longer holds ({certainty:.0%})."
_TAKEN: Final = "Said again by a statement that ends others."

_NEW: Final = Verdict(Kind.ADD, None, "New: it repeats and ends nothing that was shown.")
