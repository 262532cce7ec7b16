"""From candidates to changes: each is judged against what is known and against the others of its batch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core import judge
from core.changes import Add, Change, Confirm, Link
from core.judge import Kind, Known, Verdict
from core.types import Candidate, Relation

RELATED = 0.75
"""Cosine from which two statements of one subject are about the same thing."""

Vectors = NDArray[np.float32]


def merged(candidates: Sequence[Candidate]) -> list[Candidate]:
    """One candidate for each statement, or slot and value, of a batch, with the evidence of all; oldest first."""
    by_key: dict[tuple[str, ...], Candidate] = {}
    for candidate in sorted(candidates, key=lambda c: c.occurred_at):
        key = _identity(candidate)
        earlier = by_key.pop(key, None)  # A slot's value counts from when it was last said: Lisbon, Porto, Lisbon.
        by_key[key] = _with_evidence(candidate, earlier) if earlier else candidate
    return list(by_key.values())


def _identity(candidate: Candidate) -> tuple[str, ...]:
    if candidate.attribute is not None:
        return candidate.subject, candidate.attribute, judge.folded(candidate.value)
    return (judge.statement_key(candidate.subject, candidate.content),)


def decide(candidates: Sequence[Candidate], vectors: Vectors, neighbours: Sequence[Sequence[Known]]) -> list[Change]:
    """The changes that a merged batch, oldest first, makes to what is known."""
    replaced_at = _replaced_within(candidates)
    adds: list[Add] = []
    confirms: list[Confirm] = []
    for place, (candidate, vector) in enumerate(zip(candidates, vectors, strict=True)):
        twin = _twin(adds, candidate, vector)
        if twin is not None:
            adds[twin] = replace(adds[twin], candidate=_with_evidence(adds[twin].candidate, candidate))
            continue
        verdict = judge.judge(candidate, neighbours[place])
        until = replaced_at.get(place)
        if until is None:
            change = _change(candidate, vector, verdict)
        elif verdict.kind is Kind.CONFIRM:
            continue  # What it confirms is about to be superseded by a later statement of this very batch.
        else:
            change = Add(candidate, "True until something later in the same batch.", vector, past=until)
        (adds if isinstance(change, Add) else confirms).append(change)  # type: ignore[arg-type]
    return [*_each_superseded_once(adds), *confirms]


def links(
    decided: Sequence[Change], candidates: Sequence[Candidate], neighbours: Sequence[Sequence[Known]]
) -> list[Link]:
    """What new statements say more closely about something known of the same subject."""
    near = {c.content: known for c, known in zip(candidates, neighbours, strict=True)}
    return [
        Link(add.id, Relation.REFINES, known.id)
        for add in decided
        if isinstance(add, Add) and not add.past
        for known in near.get(add.candidate.content, ())
        if known.subject == add.candidate.subject and (known.similarity or 0) >= RELATED
    ]


def _change(candidate: Candidate, vector: NDArray[np.float32], verdict: Verdict) -> Add | Confirm:
    if verdict.known is None:
        return Add(candidate, verdict.reason, vector)
    if verdict.kind is Kind.CONFIRM:
        return Confirm(verdict.known, candidate.evidence, verdict.reason)
    if verdict.kind is Kind.PREDATES:
        return Add(candidate, verdict.reason, vector, past=verdict.known.occurred_at)
    return Add(candidate, verdict.reason, vector, supersedes=verdict.known)


def _replaced_within(candidates: Sequence[Candidate]) -> dict[int, datetime]:
    """Places of candidates whose slot gets another value later in the batch, with the time of the next value."""
    slots: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for place, candidate in enumerate(candidates):
        if candidate.attribute is not None:
            slots[candidate.subject, candidate.attribute].append(place)
    return {
        place: candidates[following].occurred_at for places in slots.values() for place, following in pairwise(places)
    }


def _twin(adds: Sequence[Add], candidate: Candidate, vector: NDArray[np.float32]) -> int | None:
    """The place of an addition of this batch that says the same in other words."""
    for place, add in enumerate(adds):
        if (
            add.candidate.subject == candidate.subject
            and add.candidate.attribute == candidate.attribute
            and add.candidate.value == candidate.value
            and add.vector is not None
            and float(add.vector @ vector) >= judge.SAME
            and judge.conflicting(add.candidate.content, candidate.content) is None
        ):
            return place
    return None


def _each_superseded_once(adds: Sequence[Add]) -> list[Add]:
    """Two candidates may want to supersede one memory: the later does, the earlier is history."""
    latest = {a.supersedes.id: a.id for a in adds if a.supersedes}
    return [
        a
        if a.supersedes is None or latest[a.supersedes.id] == a.id
        else replace(a, supersedes=None, past=_of(adds, latest[a.supersedes.id]).candidate.occurred_at)
        for a in adds
    ]


def _of(adds: Sequence[Add], memory_id: object) -> Add:
    return next(a for a in adds if a.id == memory_id)


def _with_evidence(candidate: Candidate, other: Candidate) -> Candidate:
    return replace(candidate, evidence=tuple(dict.fromkeys(other.evidence + candidate.evidence)))
