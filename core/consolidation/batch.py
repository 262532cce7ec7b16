"""Judges a batch against memory and against itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from core.consolidation import judge
from core.consolidation.judge import Kind, Pair, Thresholds, Verdict, Word
from core.memoize import at_work
from core.memory import identity
from core.memory.changes import Add, Change, Confirm, Dispute, Ignore, Joined, Link, Merge, Replace
from core.memory.identity import Known, Revised
from core.statements import endings, succession
from core.statements.comparison import read
from core.types import Candidate, Relation

RELATED = 0.75
"""Cosine from which two statements of one subject are about the same thing."""

NEAREST = 5
"""Additions of one batch that a candidate is judged against, the nearest: with all of them a batch would cost as the
square of its length.
"""

WITHIN = 60
"""Additions of one batch, the nearest, among which a candidate may end some."""

Vectors = NDArray[np.float32]
Vector = NDArray[np.float32]
Said = Callable[[Pair], Word | None]
"""What a model has said of two statements; None: nothing."""


def nobody(_pair: Pair) -> None:
    """Where no model is asked."""


def merged(candidates: Sequence[Candidate]) -> list[Candidate]:
    """One candidate for each statement, or slot and value, of a batch, with the evidence of all; in the order said."""
    by_key: dict[tuple[str, ...], Candidate] = {}
    for candidate in sorted(candidates, key=lambda c: c.told_at):
        key = _identity(candidate)
        earlier = by_key.pop(key, None)  # A slot's value counts from when it was last said: Lisbon, Porto, Lisbon.
        by_key[key] = _with_evidence(candidate, earlier) if earlier else candidate
    return list(by_key.values())


def _identity(candidate: Candidate) -> tuple[str, ...]:
    if candidate.attribute is not None:
        return candidate.subject, str(succession.slot_name(candidate.attribute)), succession.folded(candidate.value)
    return (identity.statement_key(candidate.subject, candidate.content),)


def joined(candidates: Sequence[Candidate], kept: Sequence[Candidate], decided: Sequence[Change]) -> list[Joined]:
    """Verdicts on the wordings of a batch that `merged` took for one with others, and that are stored nowhere."""
    into = {_identity(one): memory_id for change in decided for one, memory_id in _stored(change)}
    worded = {(_identity(c), c.content) for c in kept}
    return [
        Joined(into[key], c, "Said in other words in the same batch.")
        for c in candidates
        if (key := _identity(c)) in into and (key, c.content) not in worded and c.attribute is not None
    ]


def _stored(change: Change) -> Iterator[tuple[Candidate, UUID]]:
    if isinstance(change, Add):
        yield change.candidate, change.id
    elif isinstance(change, Confirm | Merge | Replace):
        yield change.candidate, change.known.id


@at_work()
def decide(
    candidates: Sequence[Candidate],
    vectors: Vectors,
    neighbours: Sequence[Sequence[Known]],
    thresholds: Thresholds = judge.USUAL,
    said: Said = nobody,
    *,
    explicit: bool = False,
) -> list[Change]:
    """The changes that a merged batch, in the order said, makes to what is known. `explicit`: someone asked for it."""
    replaced_at = _replaced_within(candidates)
    batch = _Batch(thresholds, vectors.copy())
    for place, candidate in enumerate(candidates):
        known = batch.as_it_stands(neighbours[place], vectors[place])
        within = [] if candidate.attribute else batch.near(candidate, vectors[place])
        verdict = _verdict(candidate, [*known, *within], thresholds, said)
        ends = batch.ended_by(candidate, known, vectors[place])
        if ends and (verdict.kind is Kind.ADD or verdict.known in [one.known for one in ends]):
            verdict = Verdict(Kind.SUPERSEDE, *ends[0])
        if explicit and verdict.kind is Kind.IGNORE:
            verdict = Verdict(Kind.ADD, None, "New: someone asked for it to be kept.")
        until = replaced_at.get(place)
        if until is None or verdict.kind in {Kind.CONFIRM, Kind.MERGE}:
            batch.take(place, candidate, verdict)
            batch.retire(place, ends)
        else:
            reason = "True until something later in the same batch."
            batch.adds[place] = Add(candidate, reason, vectors[place], past=until)
    return batch.changes()


def unclear(
    candidates: Sequence[Candidate],
    vectors: Vectors,
    neighbours: Sequence[Sequence[Known]],
    thresholds: Thresholds = judge.USUAL,
) -> list[Pair]:
    """What `decide` would ask a model, as far as that can be told before its first answer."""
    asked: list[Pair] = []
    decide(candidates, vectors, neighbours, thresholds, asked.append)
    return asked


def _verdict(candidate: Candidate, near: Sequence[Known], thresholds: Thresholds, said: Said) -> Verdict:
    """The judge's, or where it finds nothing alike in the words, a model's within the guards."""
    verdict = judge.judge(candidate, near, thresholds)
    if verdict.kind is not Kind.ADD:
        return verdict
    pairs = [Pair(candidate, known) for known in judge.unclear(candidate, near, thresholds)]
    return judge.opined(candidate, [(pair.known, said(pair)) for pair in pairs]) or verdict


@dataclass(slots=True)
class _Batch:
    """What the candidates judged so far make of the known memories and of each other; additions by their place."""

    thresholds: Thresholds
    vectors: Vectors
    adds: dict[int, Add] = field(default_factory=dict)
    others: list[Change] = field(default_factory=list)
    worded: dict[UUID, tuple[Known, Vector]] = field(default_factory=dict)
    gone: set[UUID] = field(default_factory=set)

    def as_it_stands(self, neighbours: Sequence[Known], vector: Vector) -> list[Known]:
        """Known memories with the wording that this batch has given them, less those it has superseded."""
        standing = [n for n in neighbours if n.id not in self.gone]
        return [
            replace(self.worded[n.id][0], similarity=float(self.worded[n.id][1] @ vector)) if n.id in self.worded else n
            for n in standing
        ]

    def near(self, candidate: Candidate, vector: Vector) -> list[Known]:
        """Additions of this batch that a candidate without a slot has to do with: the nearest, and what it may end."""
        places = [p for p, a in self.adds.items() if not a.past and _may_meet(a.candidate, candidate)]
        if not places:
            return []
        cosines = self.vectors[places] @ vector
        takes_back = read(candidate.content).ended
        return [
            replace(_as_known(self.adds[places[at]]), similarity=float(cosines[at]))
            for rank, at in enumerate(np.argsort(-cosines, kind="stable"))
            if (rank < NEAREST and cosines[at] >= self.thresholds.novelty)
            or self.adds[places[at]].candidate.attribute
            or takes_back
        ]

    def ended_by(self, candidate: Candidate, known: Sequence[Known], vector: Vector) -> list[Revised]:
        """What a candidate ends of what is known, and of the additions of this batch near it."""
        if not endings.may_end(candidate):
            return []
        places = [p for p, a in self.adds.items() if not a.past]
        nearest = np.argsort(-(self.vectors[places] @ vector), kind="stable")[:WITHIN] if places else ()
        return judge.revised(candidate, [*known, *(_as_known(self.adds[places[at]]) for at in nearest)])

    def retire(self, place: int, ends: Sequence[Revised]) -> None:
        """Let the addition at a place end what else it revises; nothing where it was not added."""
        add = self.adds.get(place)
        if add is None or add.past:
            return
        for known, reason in ends:
            mine = next((at for at, one in self.adds.items() if one.id == known.id), None)
            if mine is None and known.id not in self.gone:
                self.gone.add(known.id)
                self.adds[place] = add = replace(add, also=[*add.also, Revised(known, reason)])
            elif mine is not None and not self.adds[mine].past:
                self.adds[mine] = replace(self.adds[mine], reason=_ended(reason), past=_since(add.candidate))
                self.others.append(Link(add.id, Relation.SUPERSEDES, known.id, self.adds[mine].change_id))

    def take(self, place: int, candidate: Candidate, verdict: Verdict) -> None:
        """Carry a verdict over into changes."""
        mine = next((at for at, add in self.adds.items() if verdict.known and add.id == verdict.known.id), None)
        if mine is not None:
            self._take_within(place, candidate, verdict, mine)
            return
        if verdict.kind is Kind.CONTRADICT and verdict.known:
            added = self._added(place, candidate, verdict)
            self.others.append(Dispute(_as_known(added), verdict.known, verdict.reason))
            return
        change = _change(candidate, self.vectors[place], verdict)
        if isinstance(change, Add):
            self.adds[place] = change
            if change.supersedes:
                self.gone.add(change.supersedes.id)
        else:
            self.others.append(change)
        if isinstance(change, Merge | Replace):
            self.worded[change.known.id] = (replace(change.known, content=candidate.content), self.vectors[place])

    def _take_within(self, place: int, candidate: Candidate, verdict: Verdict, mine: int) -> None:
        """The same, where it is about an addition of this very batch."""
        add = self.adds[mine]
        if verdict.kind is Kind.CONFIRM:
            self.adds[mine] = replace(add, candidate=_with_evidence(add.candidate, candidate))
            self.others.append(Joined(add.id, candidate, verdict.reason))
        elif verdict.kind in {Kind.MERGE, Kind.REPLACE}:
            self.others.append(Joined(add.id, add.candidate, verdict.reason, merged=True))
            richer = replace(candidate, occurred_at=add.candidate.occurred_at, said_at=candidate.told_at)
            self.adds[mine] = replace(add, candidate=_with_evidence(richer, add.candidate), vector=self.vectors[place])
            self.vectors[mine] = self.vectors[place]
        elif verdict.kind is Kind.CONTRADICT:
            added = self._added(place, candidate, verdict)
            self.others.append(Dispute(_as_known(added), _as_known(add), verdict.reason))
        elif verdict.kind is Kind.PREDATES:
            past = candidate.valid_to or _since(add.candidate)
            self.adds[place] = Add(candidate, verdict.reason, self.vectors[place], past=past)
        else:
            self.adds[mine] = replace(add, reason=_ended(verdict.reason), past=_since(candidate))
            added = self._added(place, candidate, verdict)
            self.others.append(Link(added.id, Relation.SUPERSEDES, add.id, added.change_id))

    def _added(self, place: int, candidate: Candidate, verdict: Verdict) -> Add:
        self.adds[place] = Add(candidate, verdict.reason, self.vectors[place])
        return self.adds[place]

    def changes(self) -> list[Change]:
        """Everything, additions first; no dispute about what has become history meanwhile."""
        adds = _each_superseded_once(list(self.adds.values()))
        past = self.gone | {a.id for a in adds if a.past}
        kept = [c for c in self.others if not (isinstance(c, Dispute) and {c.one.id, c.other.id} & past)]
        return [*adds, *kept]


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
        if judge.same_subject(known.subject, add.candidate.subject) and (known.similarity or 0) >= RELATED
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


def _may_meet(one: Candidate, other: Candidate) -> bool:
    return judge.same_subject(one.subject, other.subject) and one.attribute in {None, identity.slot_of(other)}


def _ended(reason: str) -> str:
    return f"True until something later in the same batch. {reason}"


def _as_known(add: Add) -> Known:
    """An addition as it will stand once it is written."""
    c = add.candidate
    return Known(
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
        gathered=succession.gathered(c.structured),
    )


def _replaced_within(candidates: Sequence[Candidate]) -> dict[int, datetime]:
    """Places of candidates whose slot gets another value later in the batch, with the time of the next value."""
    slots: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for place, candidate in enumerate(candidates):
        if candidate.attribute is not None and not judge.is_over(candidate):
            slots[candidate.subject, candidate.attribute].append(place)
    return {place: _since(candidates[following]) for places in slots.values() for place, following in pairwise(places)}


def _each_superseded_once(adds: Sequence[Add]) -> list[Add]:
    """Two candidates may want to supersede one memory: the later does, the earlier is history."""
    latest = {a.supersedes.id: a.id for a in adds if a.supersedes}
    return [
        a
        if a.supersedes is None or latest[a.supersedes.id] == a.id
        else replace(a, supersedes=None, past=_since(_of(adds, latest[a.supersedes.id]).candidate))
        for a in adds
    ]


def _since(candidate: Candidate) -> datetime:
    return candidate.valid_from or candidate.occurred_at


def _of(adds: Sequence[Add], memory_id: object) -> Add:
    return next(a for a in adds if a.id == memory_id)


def _with_evidence(candidate: Candidate, other: Candidate) -> Candidate:
    return replace(
        candidate,
        evidence=tuple(dict.fromkeys(other.evidence + candidate.evidence)),
        tags=tuple(dict.fromkeys(other.tags + candidate.tags)),
        importance=max(candidate.importance, other.importance),
        pinned=candidate.pinned or other.pinned,
    )
