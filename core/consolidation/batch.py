"""Judges a batch against memory and against itself."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from types import MappingProxyType
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from core.consolidation import endings, judge, relations
from core.consolidation.endings import Readings
from core.consolidation.judge import Kind, OpinionKind, Pair, Thresholds, Verdict
from core.memoize import memo_scope
from core.memory import identity
from core.memory.changes import Add, Change, Confirm, Dispute, Edit, Ignore, Joined, Link, Merge, Replace
from core.memory.identity import KnownMemory, Revised
from core.memory.known_set import KnownSet
from core.statements import clauses, succession
from core.statements.comparison import read
from core.types import Candidate, Relation, Relations

RELATED = 0.75
"""Cosine from which two statements of one subject count as related."""

NEAREST = 5
"""Nearest additions of its batch that a candidate is judged against, because with all of them the cost would grow with
the square of the batch; and related statements that it is linked to.
"""

Vectors = NDArray[np.float32]
Vector = NDArray[np.float32]
Answers = Callable[[Pair], OpinionKind | None]
"""A model's answer about two statements; None: there is none."""


NO_RESTS: Mapping[str, Vector] = MappingProxyType({})

NOTHING_READ: Readings = MappingProxyType({})
"""Judgement of an installation without a reader."""


def no_answer(_pair: Pair) -> None:
    """Answer nothing, where no model is asked."""


def merge_candidates(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Merge the candidates of each statement, or slot and value, with the evidence of all; in the order said."""
    by_key: dict[tuple[str, ...], Candidate] = {}
    for candidate in sorted(candidates, key=lambda c: c.told_at):
        key = _identity(candidate)
        earlier = by_key.pop(key, None)  # A slot's value counts from when it was last said: Lisbon, Porto, Lisbon.
        by_key[key] = _with_evidence(candidate, earlier) if earlier else candidate
    return list(by_key.values())


def _identity(candidate: Candidate) -> tuple[str, ...]:
    if candidate.attribute is not None:
        return (
            candidate.subject,
            str(succession.slot_name(candidate.attribute)),
            succession.normal_value(candidate.value),
        )
    return (identity.statement_key(candidate.subject, candidate.content),)


def join_verdicts(
    candidates: Sequence[Candidate], merged: Sequence[Candidate], decided: Sequence[Change]
) -> list[Joined]:
    """Return one verdict on each wording that `merge_candidates` joined to others, and that is stored nowhere."""
    into = {
        _identity(candidate): memory_id for change in decided for candidate, memory_id in _candidates_stored_by(change)
    }
    stored = {(_identity(c), c.content) for c in merged}
    joined: dict[tuple[tuple[str, ...], str], Candidate] = {}
    for c in candidates:
        wording = _identity(c), c.content
        if wording[0] in into and wording not in stored and c.attribute is not None:
            joined[wording] = _with_evidence(c, joined[wording]) if wording in joined else c
    return [Joined(into[key], c, "Said in other words in the same batch.") for (key, _), c in joined.items()]


def _candidates_stored_by(change: Change) -> Iterator[tuple[Candidate, UUID]]:
    if isinstance(change, Add):
        yield change.candidate, change.id
    elif isinstance(change, Confirm | Merge | Replace):
        yield change.candidate, change.known.id


@memo_scope()
def decide(
    candidates: Sequence[Candidate],
    vectors: Vectors,
    neighbours: Sequence[Sequence[KnownMemory]],
    thresholds: Thresholds = judge.USUAL,
    answers: Answers = no_answer,
    *,
    explicit: bool = False,
    readings: Readings = NOTHING_READ,
    least_certain: float = 0.0,
    rests: Mapping[str, Vector] = NO_RESTS,
) -> list[Change]:
    """Decide the changes of a merged batch, in order.

    `explicit`: someone asked to store it. `readings`: what the reader says of the pairs of `endings.pairs`.
    `least_certain`: of an ending; one below it is a dispute for people to decide. `rests`: vectors of what remains of
    memories that are ended in part.
    """
    candidates = _with_fitting_slots(candidates, neighbours)
    replaced_at = _replaced_within(candidates)
    batch = _Batch(thresholds, vectors.copy(), candidates, readings, rests)
    for index, candidate in enumerate(candidates):
        known = batch.current(neighbours[index], vectors[index])
        if candidate.tentative:
            batch.hold(index, candidate, known)
            continue
        related = batch.relations_of(candidate)
        within = [] if candidate.attribute or related else batch.near(candidate, vectors[index])
        likely = relations.ended(candidate, related, known, rests) if related else batch.ended_by(index, known)
        ends = [end for end in likely if end.certainty >= least_certain]
        doubtful = [end for end in likely if end.certainty < least_certain]
        if related is not None:
            verdict = relations.verdict(candidate, related, known, ends)
        else:
            verdict = _verdict(candidate, known.more(within), ends, thresholds, answers)
        if verdict.kind is Kind.ADD and (later := endings.ended_by(candidate, known, readings)):
            if later.certainty < least_certain:
                doubtful.append(later)
            else:
                verdict = Verdict(Kind.PREDATES, later.known, later.reason)
        if explicit and verdict.kind is Kind.IGNORE:
            verdict = Verdict(Kind.ADD, None, "New: someone asked for it to be kept.")
        until = replaced_at.get(index)
        if until is None or verdict.kind in {Kind.CONFIRM, Kind.MERGE}:
            batch.take(index, candidate, verdict)
            batch.retire(index, ends)
            batch.dispute(index, doubtful)
            batch.doubt(index, known)
        else:
            reason = "True until something later in the same batch."
            batch.adds[index] = Add(candidate, reason, vectors[index], past=until)
    return batch.changes()


def _with_fitting_slots(
    candidates: Sequence[Candidate], neighbours: Sequence[Sequence[KnownMemory]]
) -> list[Candidate]:
    fitting: list[Candidate] = []
    for candidate, near in zip(candidates, neighbours, strict=True):
        fitting.append(judge.fitting_slot(candidate, KnownSet.of(near), fitting))
    return fitting


def unclear(
    candidates: Sequence[Candidate],
    vectors: Vectors,
    neighbours: Sequence[Sequence[KnownMemory]],
    thresholds: Thresholds = judge.USUAL,
) -> list[Pair]:
    """Return the pairs that `decide` would ask a model about, as far as they are known before its first answer."""
    pairs: list[Pair] = []
    decide(candidates, vectors, neighbours, thresholds, pairs.append)
    return pairs


def _verdict(
    candidate: Candidate, near: KnownSet, ends: Sequence[Revised], thresholds: Thresholds, answers: Answers
) -> Verdict:
    """Return the judge's verdict or, where it finds nothing alike, that of a model's opinion; `ends` come last."""
    verdict = judge.judge(candidate, near, thresholds)
    if verdict.kind is Kind.ADD and answers is not no_answer:
        pairs = [Pair(candidate, known) for known in judge.undecided(candidate, near, thresholds)]
        verdict = judge.verdict_from_opinions(candidate, [(pair.known, answers(pair)) for pair in pairs]) or verdict
    whole = [end for end in ends if not end.rest]
    if whole and (verdict.kind is Kind.ADD or verdict.known in [end.known for end in whole]):
        return Verdict(Kind.SUPERSEDE, whole[0].known, whole[0].reason)
    return verdict


@dataclass(slots=True)
class _Batch:
    """Changes of the candidates judged so far, to known memories and to each other; additions by their place."""

    thresholds: Thresholds
    vectors: Vectors
    candidates: Sequence[Candidate]
    readings: Readings
    rests: Mapping[str, Vector]
    adds: dict[int, Add] = field(default_factory=dict)
    others: list[Change] = field(default_factory=list)
    worded: dict[UUID, tuple[KnownMemory, Vector]] = field(default_factory=dict)
    retired_ids: set[UUID] = field(default_factory=set)
    cuts: defaultdict[UUID, list[tuple[int, Revised]]] = field(default_factory=lambda: defaultdict(list))
    """Known memories that are over in part, each time with the place of the addition that ends the part."""
    known: dict[int, tuple[Add, KnownMemory]] = field(default_factory=dict)
    """Additions as known memories, by their place."""

    def _as_known(self, position: int) -> KnownMemory:
        """Return the addition at a position as a known memory."""
        add, cached = self.adds[position], self.known.get(position)
        if cached is None or cached[0] is not add:
            cached = self.known[position] = add, _as_known(add)
        return cached[1]

    def current(self, neighbours: Sequence[KnownMemory], vector: Vector) -> KnownSet:
        """Return known memories with the wording that this batch has given them, less those it has superseded."""
        known = KnownSet.of(neighbours).without(self.retired_ids)
        for memory_id, (memory, worded) in self.worded.items():
            known = known.worded(memory_id, replace(memory, similarity=float(worded @ vector)))
        return known

    def near(self, candidate: Candidate, vector: Vector) -> list[KnownMemory]:
        """Return additions of this batch to compare with a candidate without a slot: near ones, or ones it may end."""
        places = [
            position
            for position, add in self.adds.items()
            if not add.past and not add.candidate.tentative and _may_meet(add.candidate, candidate)
        ]
        if not places:
            return []
        cosines = self.vectors[places] @ vector
        takes_back = read(candidate.content).ended
        return [
            replace(self._as_known(places[near_index]), similarity=float(cosines[near_index]))
            for rank, near_index in enumerate(np.argsort(-cosines, kind="stable"))
            if (rank < NEAREST and cosines[near_index] >= self.thresholds.novelty)
            or self.adds[places[near_index]].candidate.attribute
            or takes_back
        ]

    def ended_by(self, index: int, known: KnownSet) -> list[Revised]:
        """Return the known memories, and additions of this batch, that the candidate at a place ends."""
        if not self.readings:
            return []
        added, tentative = self._within(index), self._within(index, tentative=True)
        return endings.ended(self.candidates[index], known, added, self.readings, self.rests, tentative)

    def doubt(self, index: int, memories: KnownSet) -> None:
        """Let the addition at a place cast doubt on what it may end; nothing if it was not added, or is related."""
        add = self.adds.get(index)
        if not self.readings or add is None or add.past or self.candidates[index].relations is not None:
            return
        doubted = endings.doubted(self.candidates[index], memories, self._within(index), self.readings)
        self.others += [Link(add.id, Relation.MAY_SUPERSEDE, memory.id) for memory in doubted]

    def _within(self, index: int, *, tentative: bool = False) -> list[KnownMemory]:
        """Return the nearest additions of this batch that the candidate at a place may end."""
        cosines = self.vectors[:index] @ self.vectors[index]
        places = endings.within(self.candidates[index], self.candidates[:index], cosines, tentative=tentative)
        return [self._as_known(place) for place in places if place in self.adds and not self.adds[place].past]

    def hold(self, index: int, candidate: Candidate, memories: KnownSet) -> None:
        """Hold a tentative candidate, unless a memory says the same: what follows may end it."""
        if judge.said_before(candidate, memories, np.flatnonzero(memories.about(candidate.subject))) is None:
            self.adds[index] = Add(candidate, "Said in passing.", self.vectors[index])

    def retire(self, index: int, ends: Sequence[Revised]) -> None:
        """Let the addition at a place end what it revises; nothing if it was not added."""
        add = self.adds.get(index)
        if add is None or add.past:
            return
        for end in ends:
            ended, reason = end.known, end.reason
            if end.rest:
                self.cuts[ended.id].append((index, end))
                continue
            addition = next((position for position, other in self.adds.items() if other.id == ended.id), None)
            if addition is None and ended.id not in self.retired_ids:
                self.retired_ids.add(ended.id)
                self.adds[index] = add = replace(add, also=[*add.also, end])
            elif addition is not None and not self.adds[addition].past:
                self.adds[addition] = replace(
                    self.adds[addition], reason=_ended_reason(reason), past=_since(add.candidate)
                )
                self.others.append(Link(add.id, Relation.SUPERSEDES, ended.id, self.adds[addition].change_id))

    def relations_of(self, candidate: Candidate) -> Relations | None:
        """Return the relations of a candidate, of which none rewords what this batch has reworded."""
        related = candidate.relations
        taken = related is not None and related.more_of is not None and related.more_of.id in self.worded
        return replace(related, more_of=None) if related is not None and taken else related

    def dispute(self, index: int, doubtful: Sequence[Revised]) -> None:
        """Set the addition at a place against what it may end; nothing if it was not added."""
        add = self.adds.get(index)
        if add is not None and not add.past:
            self.others += [Dispute(_as_known(add), end.known, end.reason) for end in doubtful]

    def _cut(self) -> list[Edit | Link]:
        """Reword memories to what remains of them, which keep evidence, pin and all else; decided when all is known.

        A memory of which another one says the rest is ended as a whole. What the batch confirms or disputes stays.
        """
        changed = {change.known.id for change in self.others if isinstance(change, Confirm | Merge | Replace)}
        changed |= {change.other.id for change in self.others if isinstance(change, Dispute)}
        stated = {
            identity.statement_key(add.candidate.subject, add.candidate.content)
            for add in self.adds.values()
            if not add.past
        }
        stated |= {identity.statement_key(memory.subject, memory.content) for memory, _ in self.worded.values()}
        changes: list[Edit | Link] = []
        for memory_id, cuts in self.cuts.items():
            if memory_id in self.retired_ids | changed:
                continue
            index, end = cuts[-1]
            shared = clauses.common(end.known.content, [each.rest for _, each in cuts])
            rest = end.rest if shared is None else shared
            key = identity.statement_key(end.known.subject, rest)
            if not rest or key in stated:
                self.adds[index] = replace(self.adds[index], also=[*self.adds[index].also, end._replace(rest="")])
                self.retired_ids.add(memory_id)
                continue
            stated.add(key)
            ending = self.adds[index]
            changes.append(_reworded(end, rest, self.rests.get(rest), ending.change_id))
            changes.append(Link(ending.id, Relation.SUPERSEDES_PART, memory_id, ending.change_id))
        return changes

    def take(self, index: int, candidate: Candidate, verdict: Verdict) -> None:
        """Record the change that a verdict makes."""
        addition = next(
            (position for position, add in self.adds.items() if verdict.known and add.id == verdict.known.id), None
        )
        if addition is not None:
            self._take_within(index, candidate, verdict, addition)
            return
        if verdict.kind is Kind.CONTRADICT and verdict.known:
            added = self._added(index, candidate, verdict)
            self.others.append(Dispute(_as_known(added), verdict.known, verdict.reason))
            return
        change = _change(candidate, self.vectors[index], verdict)
        if isinstance(change, Add):
            self.adds[index] = change
            if change.supersedes:
                self.retired_ids.add(change.supersedes.id)
        else:
            self.others.append(change)
        if isinstance(change, Merge | Replace):
            self.worded[change.known.id] = (replace(change.known, content=candidate.content), self.vectors[index])

    def _take_within(self, index: int, candidate: Candidate, verdict: Verdict, addition: int) -> None:
        """Record the change of a verdict about an addition of this batch."""
        add = self.adds[addition]
        if verdict.kind is Kind.CONFIRM:
            self.adds[addition] = replace(add, candidate=_with_evidence(add.candidate, candidate))
            self.others.append(Joined(add.id, candidate, verdict.reason))
        elif verdict.kind in {Kind.MERGE, Kind.REPLACE}:
            self.others.append(Joined(add.id, add.candidate, verdict.reason, merged=True))
            richer = replace(candidate, occurred_at=add.candidate.occurred_at, said_at=candidate.told_at)
            self.adds[addition] = replace(
                add, candidate=_with_evidence(richer, add.candidate), vector=self.vectors[index]
            )
            self.vectors[addition] = self.vectors[index]
        elif verdict.kind is Kind.CONTRADICT:
            added = self._added(index, candidate, verdict)
            self.others.append(Dispute(_as_known(added), _as_known(add), verdict.reason))
        elif verdict.kind is Kind.PREDATES:
            past = candidate.valid_to or _since(add.candidate)
            self.adds[index] = Add(candidate, verdict.reason, self.vectors[index], past=past)
        else:
            self.adds[addition] = replace(add, reason=_ended_reason(verdict.reason), past=_since(candidate))
            added = self._added(index, candidate, verdict)
            self.others.append(Link(added.id, Relation.SUPERSEDES, add.id, add.change_id))

    def _added(self, index: int, candidate: Candidate, verdict: Verdict) -> Add:
        self.adds[index] = Add(candidate, verdict.reason, self.vectors[index])
        return self.adds[index]

    def changes(self) -> list[Change]:
        """Return all changes, additions first, without disputes and doubts about what this batch has ended."""
        cuts = self._cut()
        adds = _each_superseded_once(
            [_settled(add) for add in self.adds.values() if add.past or not add.candidate.tentative]
        )
        past = self.retired_ids | {add.id for add in self.adds.values() if add.past or add.candidate.tentative}
        others = [change for change in self.others if not _ends_of(change) & past]
        return [*adds, *others, *cuts]


def _settled(add: Add) -> Add:
    """Return an addition whose candidate is tentative no more."""
    return replace(add, candidate=replace(add.candidate, tentative=False)) if add.candidate.tentative else add


def _ends_of(change: Change) -> set[UUID]:
    """Return the memories of a dispute or a doubt; none of another change."""
    if isinstance(change, Dispute):
        return {change.memory.id, change.other.id}
    if isinstance(change, Link) and change.relation == Relation.MAY_SUPERSEDE:
        return {change.from_id, change.to_id}
    return set()


def link_related(
    decided: Sequence[Change], candidates: Sequence[Candidate], neighbours: Sequence[Sequence[KnownMemory]]
) -> list[Link]:
    """Link new statements to related known ones of the same subject."""
    near = {c.content: KnownSet.of(known) for c, known in zip(candidates, neighbours, strict=True)}
    return [
        Link(add.id, Relation.REFINES, known_id)
        for add in decided
        if isinstance(add, Add) and not add.past and (known := near.get(add.candidate.content)) is not None
        for known_id in known.ids(
            known.nearest_first(known.about(add.candidate.subject) & (known.likeness >= RELATED))[:NEAREST]
        )
    ]


def _change(candidate: Candidate, vector: Vector, verdict: Verdict) -> Change:
    known, reason = verdict.known, verdict.reason
    if verdict.kind is Kind.IGNORE:
        return Ignore(candidate, reason)
    if known is None:
        return Add(candidate, reason, vector)
    changes: dict[Kind, Change] = {
        Kind.CONFIRM: Confirm(known, candidate, reason),
        Kind.MERGE: Merge(known, candidate, reason, vector),
        Kind.REPLACE: Replace(known, candidate, reason, vector),
        Kind.PREDATES: Add(candidate, reason, vector, past=candidate.valid_to or known.since),
        Kind.SUPERSEDE: Add(candidate, reason, vector, supersedes=known),
    }
    return changes[verdict.kind]


def _reworded(end: Revised, rest: str, vector: Vector | None, change_id: UUID) -> Edit:
    """Return the edit that leaves the rest of a memory; its slot stays if the rest has the value.

    It is undone with the ending: `change_id` is that of the new statement.
    """
    value = str(end.known.value or "")
    pattern = rf"\b{re.escape(value)}\b" if value.isascii() else re.escape(value)
    keeps_slot = bool(value) and bool(re.search(pattern, clauses.framed(rest).text, re.IGNORECASE))
    fields = {"content": rest} | ({} if keeps_slot else {"attribute": None, "value": None})
    return Edit(end.known.id, end.known.version, fields, f"What remains of it. {end.reason}", vector, change_id)


def _may_meet(candidate: Candidate, other: Candidate) -> bool:
    return judge.same_subject(candidate.subject, other.subject) and candidate.attribute in {
        None,
        identity.slot_of(other),
    }


def _ended_reason(reason: str) -> str:
    return f"True until something later in the same batch. {reason}"


def _as_known(add: Add) -> KnownMemory:
    """Return an addition as a known memory."""
    c = add.candidate
    return KnownMemory(
        add.id,
        1,
        c.content,
        c.subject,
        c.attribute,
        c.value,
        c.occurred_at,
        category=c.category,
        said_at=c.told_at,
        valid_from=c.valid_from,
        gathered=succession.gathered_list(c.structured),
    )


def _replaced_within(candidates: Sequence[Candidate]) -> dict[int, datetime]:
    """Return the places of candidates whose slot gets another value later in the batch, with the time of that."""
    slots: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for index, candidate in enumerate(candidates):
        if candidate.attribute is not None and not judge.is_over(candidate):
            slots[candidate.subject, candidate.attribute].append(index)
    return {index: _since(candidates[following]) for places in slots.values() for index, following in pairwise(places)}


def _each_superseded_once(adds: Sequence[Add]) -> list[Add]:
    """Let only the last of several candidates supersede a memory; the earlier ones are history."""
    latest = {a.supersedes.id: a.id for a in adds if a.supersedes}
    return [
        a
        if a.supersedes is None or latest[a.supersedes.id] == a.id
        else replace(a, supersedes=None, past=_since(_addition(adds, latest[a.supersedes.id]).candidate))
        for a in adds
    ]


def _since(candidate: Candidate) -> datetime:
    return candidate.valid_from or candidate.occurred_at


def _addition(adds: Sequence[Add], memory_id: object) -> Add:
    return next(a for a in adds if a.id == memory_id)


def _with_evidence(candidate: Candidate, other: Candidate) -> Candidate:
    return replace(
        candidate,
        evidence=tuple(dict.fromkeys(other.evidence + candidate.evidence)),
        tags=tuple(dict.fromkeys(other.tags + candidate.tags)),
        importance=max(candidate.importance, other.importance),
        pinned=candidate.pinned or other.pinned,
        relations=_united(candidate.relations, other.relations),
        tentative=candidate.tentative and other.tentative,
    )


def _united(relations: Relations | None, others: Relations | None) -> Relations | None:
    return relations | others if relations and others else relations or others
