"""Idempotent 'remember this' requests over HTTP."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from sqlalchemy import text

from core import metrics
from core.consolidation import pipeline
from core.consolidation.pipeline import Gateway
from core.errors import Conflict
from core.events import log
from core.events.log import Announcement
from core.events.publishing import Author
from core.extraction import requests
from core.memory.changes import Add, Change, Confirm, Dispute, Ignore, Merge, Owner, Replace
from core.storage.db import Tx
from core.types import Candidate, Event, Evidence, Json, Trust

STATED: Final = "memory.stated"
"""The event of a request to remember something."""

ATTEMPTS: Final = 5
"""How often a request is judged anew when someone else writes about the same in between."""

Judged = Add | Confirm | Merge | Replace | Ignore
"""Changes that carry a candidate."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement that someone asks to keep, in the words of the request and as they were read.

    `event_id`: of the request (`core.requests`); sent again, it changes nothing. `fingerprint`: of all that it asks.
    """

    owner: Owner
    words: str
    candidate: Candidate
    event_id: str
    fingerprint: str

    @property
    def rests_on_others(self) -> bool:
        """Whether messages are its evidence, and not the request itself."""
        return all(evidence.event_id != self.event_id for evidence in self.candidate.evidence)

    @property
    def marked(self) -> Candidate:
        """The candidate with the request among its evidence, by which it is found again in what was judged."""
        if not self.rests_on_others:
            return self.candidate
        asked = Evidence("", self.event_id, self.event_id, self.words)
        return replace(self.candidate, evidence=(*self.candidate.evidence, asked))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a statement: the memory that stands for it, if any, and by which verdict."""

    memory_id: UUID | None
    verdict: str
    reason: str
    decision_id: UUID

    def as_json(self) -> Json:
        return {"verdict": self.verdict, "reason": self.reason, "decision_id": self.decision_id}


def state(gate: Gateway, tenant_id: str, author: Author, statements: Sequence[Statement]) -> list[Outcome]:
    """Judge statements and write what that changes, all of it or nothing; what became of each, in their order.

    Conflict: others kept writing about the same meanwhile, or the id of a request was used for another one.
    """
    attempts = 0
    while True:
        with gate.db.tenant(tenant_id) as tx:
            earlier = _earlier(tx, statements)
        if earlier is not None:
            return earlier
        judged = _judged(gate, tenant_id, statements)
        try:
            with gate.db.tenant(tenant_id) as tx:
                counts = _write(tx, tenant_id, author, statements, judged)
        except Conflict:
            attempts += 1
            if attempts == ATTEMPTS:
                raise
        else:
            count(counts)
            return [outcome for outcome, _ in judged.found]


@dataclass(frozen=True, slots=True)
class _Judged:
    """Changes by owner, and for each statement what became of it and the change that did."""

    changes: Mapping[Owner, Sequence[Change]]
    found: Sequence[tuple[Outcome, Judged]] = field(default_factory=list)


def _judged(gate: Gateway, tenant_id: str, statements: Sequence[Statement]) -> _Judged:
    """What the statements change; no transaction is open while that is thought about."""
    by_owner: defaultdict[Owner, list[Statement]] = defaultdict(list)
    for statement in statements:
        by_owner[statement.owner].append(statement)
    decided: dict[Owner, Sequence[Change]] = {}
    places: dict[str, tuple[Outcome, Judged]] = {}
    for owner, theirs in by_owner.items():
        wanted = [statement.marked for statement in theirs]
        made = pipeline.judged(gate, tenant_id, owner, wanted, explicit=True)
        places |= dict(_found(theirs, made))
        given = {statement.event_id for statement in theirs if statement.rests_on_others}
        decided[owner] = [_unmarked(change, given) for change in made]
    return _Judged(decided, [places[statement.event_id] for statement in statements])


def _found(statements: Sequence[Statement], made: Sequence[Change]) -> Iterator[tuple[str, tuple[Outcome, Judged]]]:
    """For each statement, by the id of its request, the change that it ended in."""
    ends: dict[str, Judged] = {}
    for change in made:
        if isinstance(change, Judged):
            ends |= {evidence.event_id: change for evidence in change.candidate.evidence if not evidence.session_id}
    disputes = {change.one.id: change for change in made if isinstance(change, Dispute)}
    taken: set[UUID] = set()
    for statement in statements:
        change = ends[statement.event_id]
        outcome = _outcome(change, disputes)
        if change.change_id in taken:
            outcome = replace(outcome, verdict="confirm", reason="Said more than once in this request.")
        taken.add(change.change_id)
        yield statement.event_id, (outcome, change)


def _outcome(change: Judged, disputes: Mapping[UUID, Dispute]) -> Outcome:
    match change:
        case Ignore():
            return Outcome(None, "ignore", change.reason, change.change_id)
        case Confirm(known=known) | Merge(known=known) | Replace(known=known):
            return Outcome(known.id, type(change).__name__.lower(), change.reason, change.change_id)
        case Add(id=memory_id) if memory_id in disputes:
            dispute = disputes[memory_id]
            return Outcome(memory_id, "contradict", dispute.reason, dispute.change_id)
        case _:
            verdict = "supersede" if change.supersedes else "predates" if change.past else "add"
            return Outcome(change.id, verdict, change.reason, change.change_id)


def _unmarked(change: Change, given: Collection[str]) -> Change:
    """The change without the requests that named other evidence."""
    if not isinstance(change, Judged):
        return change
    kept = tuple(e for e in change.candidate.evidence if e.session_id or e.event_id not in given)
    return replace(change, candidate=replace(change.candidate, evidence=kept))


def _write(tx: Tx, tenant_id: str, author: Author, statements: Sequence[Statement], judged: _Judged) -> Counter[str]:
    """Everything at once; the owners in one order, so that two requests wait for each other instead of deadlocking."""
    counts: Counter[str] = Counter()
    for owner in sorted(judged.changes, key=lambda owner: owner.user_id):
        counts.update(requests.keep(tx, tenant_id, owner, judged.changes[owner], author))
    said = [_said(s, *found) for s, found in zip(statements, judged.found, strict=True)]
    if log.announce(tx, tenant_id, said) != len(said):
        raise Conflict("A request with this Idempotency-Key was carried out meanwhile.")
    return counts


def _said(statement: Statement, outcome: Outcome, change: Judged) -> Announcement:
    """The event of a request. What was refused, or tries to instruct an agent, is not handed on."""
    payload: Json = {"user_id": statement.owner.user_id, "group_id": statement.owner.group_id}
    payload |= {"verdict": outcome.verdict, "decision_id": str(outcome.decision_id)}
    if outcome.memory_id is not None:
        payload["memory_id"] = str(outcome.memory_id)
    if outcome.memory_id is not None and change.candidate.trust is not Trust.QUARANTINED:
        payload |= _fields(statement, change)
    if payload.get("content") != statement.words:
        payload["characters"] = len(statement.words)
    subject = f"memory:{outcome.memory_id}" if outcome.memory_id else None
    plain = {name: value for name, value in payload.items() if value not in (None, [], (), {})}
    extensions = {FINGERPRINT: statement.fingerprint}
    return Announcement(statement.event_id, STATED, datetime.now(UTC), plain, subject, extensions)


def _fields(statement: Statement, change: Judged) -> Json:
    """A statement for the log: as it was asked for or, where it held a secret, as it was judged; times as text."""
    words = next(e.quote for e in change.candidate.evidence if e.event_id == statement.event_id)
    fields = asdict(statement.candidate if words == statement.words else change.candidate) | {"content": words}
    del fields["evidence"], fields["corrects"]
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in fields.items()}


def _earlier(tx: Tx, statements: Sequence[Statement]) -> list[Outcome] | None:
    """What became of these very requests when they came first; None: they are new."""
    asked = {statement.event_id: statement for statement in statements}
    rows = tx.execute(_STATED, {"ids": list(asked), "type": STATED, "source": log.SOURCE}).all()
    if not rows:
        return None
    known = {event.id: event for event in (log.event_of(row[:-1]) for row in rows)}
    if len(known) < len(asked) or any(row.fingerprint not in {None, asked[row.id].fingerprint} for row in rows):
        raise Conflict("This Idempotency-Key was used for another request. Send a new one with a new request.")
    decisions = [_id(event.payload, "decision_id") for event in known.values()]
    reasons = {row.id: row.reason for row in tx.execute(_REASONS, {"ids": decisions})}
    return [_again(known[statement.event_id], reasons) for statement in statements]


def _again(event: Event, reasons: Mapping[UUID, str]) -> Outcome:
    decision = UUID(event.payload["decision_id"])
    verdict = str(event.payload.get("verdict", "erased"))
    reason = "It was kept, and erased since." if verdict == "erased" else reasons.get(decision, "")
    return Outcome(_id(event.payload, "memory_id"), verdict, reason, decision)


def _id(payload: Json, name: str) -> UUID | None:
    """An id in a payload; None where none is, or an erasure has taken it."""
    return UUID(payload[name]) if payload.get(name) else None


def count(counts: Mapping[str, int]) -> None:
    """Add to the figures of what was done to memories."""
    for name, n in counts.items():
        metrics.MEMORIES.labels(name).inc(n)


FINGERPRINT: Final = "fingerprint"
"""Where the event of a request keeps what tells it from another one under the same key."""

_STATED = text(f"""
    SELECT {log.COLUMNS}, e.extensions ->> '{FINGERPRINT}' AS fingerprint FROM events e
    WHERE e.id = ANY(:ids) AND e.source = :source AND e.event_type = :type
""")
"""No event of that source comes from outside, and nobody can foresee the id of a request. An erasure takes the
fingerprint, too: what was erased fits any request of its id."""

_REASONS = text("""
    SELECT id, reason FROM verdicts WHERE id = ANY(:ids)
    UNION SELECT change_id, reason FROM memory_versions WHERE change_id = ANY(:ids) AND change = 'add'
""")
"""A plain addition met nothing and has no verdict: its first version says why."""
