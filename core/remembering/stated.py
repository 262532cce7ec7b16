"""Idempotent 'remember this' requests over HTTP."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from sqlalchemy import text

from core import metrics
from core.baton import REQUESTS
from core.consolidation.pipeline import Consolidation
from core.errors import Conflict
from core.events import log
from core.events.log import Announcement
from core.events.publishing import Author
from core.memory.changes import Add, Change, Confirm, Dispute, Ignore, Merge, Owner, Replace
from core.remembering import requests
from core.remembering.requests import PendingRequests
from core.storage.db import Tx
from core.types import Candidate, Event, Evidence, Json, Trust

STATED: Final = "memory.stated"
"""Type of the event that records a request to remember something."""

ATTEMPTS: Final = 5
"""Least number of attempts to judge a request while others write about the same."""

PATIENCE_S: Final = 20.0
"""Seconds for which a request is judged again after that: of all that write about the same, one succeeds each time."""

_TURNS: Final = tuple(threading.Lock() for _ in range(64))
"""Locks by which the requests of this process about one user take turns, once they were in each other's way."""

CandidateChange = Add | Confirm | Merge | Replace | Ignore
"""Changes that carry a candidate."""


@dataclass(frozen=True, slots=True)
class RequestedStatement:
    """A statement that someone asks to store: the words of the request, and the candidate read from them.

    `event_id`: of the request (`core.events.request_ids`); repeated, it has no effect. `fingerprint`: of its fields.
    """

    owner: Owner
    text: str
    candidate: Candidate
    event_id: str
    fingerprint: str

    @property
    def rests_on_others(self) -> bool:
        """True if its evidence is messages, and not the request itself."""
        return all(evidence.event_id != self.event_id for evidence in self.candidate.evidence)

    @property
    def marked(self) -> Candidate:
        """The candidate with the request added to its evidence, so that the resulting change can be found."""
        if not self.rests_on_others:
            return self.candidate
        request_evidence = Evidence("", self.event_id, self.event_id, self.text)
        return replace(self.candidate, evidence=(*self.candidate.evidence, request_evidence))


@dataclass(frozen=True, slots=True)
class StatementOutcome:
    """Result of one statement: the memory that holds it, if any, and the verdict."""

    memory_id: UUID | None
    verdict: str
    reason: str
    decision_id: UUID

    def as_json(self) -> Json:
        return {"verdict": self.verdict, "reason": self.reason, "decision_id": self.decision_id}


def remember_all(
    consolidation: Consolidation, tenant_id: str, author: Author, statements: Sequence[RequestedStatement]
) -> list[StatementOutcome]:
    """Judge statements and write the changes, all or nothing; return the outcomes in order.

    Conflict: others kept writing about the same concurrently, or the id of a request was used for another one.
    """
    with ExitStack() as turn:
        return _remember_in_turn(consolidation, tenant_id, author, statements, turn)


def _remember_in_turn(
    consolidation: Consolidation,
    tenant_id: str,
    author: Author,
    statements: Sequence[RequestedStatement],
    turn: ExitStack,
) -> list[StatementOutcome]:
    """Do what `remember_all` does; from the first conflict on in `turn`, which is then taken."""
    attempts, until = 0, time.monotonic() + PATIENCE_S
    while True:
        with consolidation.db.tenant(tenant_id) as tx:
            earlier = _earlier_outcomes(tx, statements)
        if earlier is not None:
            return earlier
        try:
            changes, outcomes = _decide(consolidation, tenant_id, statements)
            with consolidation.db.tenant(tenant_id) as tx:
                counts = changes.write(tx, author)
                _announce(tx, tenant_id, statements, outcomes)
        except Conflict:
            attempts += 1
            if attempts >= ATTEMPTS and time.monotonic() > until:
                raise
            if attempts == 1:
                owner = statements[0].owner  # One lock, so that batches with several owners cannot block each other.
                turn.enter_context(REQUESTS.holding(_TURNS[hash((tenant_id, owner)) % len(_TURNS)]))
        else:
            count_changes(counts)
            return [outcome for outcome, _ in outcomes]


def structured_of(tx: Tx, event_ids: Collection[str]) -> dict[str, Json]:
    """Return the structured data of requests, as they were made, by the id of their event; few have any."""
    rows = tx.execute(_STRUCTURED, {"ids": list(event_ids), "type": STATED, "source": log.SOURCE}) if event_ids else ()
    return {row.id: row.structured for row in rows}


def _decide(
    consolidation: Consolidation, tenant_id: str, statements: Sequence[RequestedStatement]
) -> tuple[PendingRequests, list[tuple[StatementOutcome, CandidateChange]]]:
    """Return the changes of the statements, and for each statement its outcome and the resulting change."""
    by_owner: defaultdict[Owner, list[RequestedStatement]] = defaultdict(list)
    for statement in statements:
        by_owner[statement.owner].append(statement)
    candidates_by_owner = {
        owner: [statement.marked for statement in own_statements] for owner, own_statements in by_owner.items()
    }
    remembered = requests.remember(consolidation, tenant_id, candidates_by_owner)
    places = dict(
        outcome
        for owner, own_statements in by_owner.items()
        for outcome in _outcomes_by_request(own_statements, remembered.changes[owner])
    )
    event_ids = {statement.event_id for statement in statements if statement.rests_on_others}
    unmarked = {
        owner: [_without_requests(change, event_ids) for change in made] for owner, made in remembered.changes.items()
    }
    return PendingRequests(tenant_id, unmarked), [places[statement.event_id] for statement in statements]


def _outcomes_by_request(
    statements: Sequence[RequestedStatement], made: Sequence[Change]
) -> Iterator[tuple[str, tuple[StatementOutcome, CandidateChange]]]:
    """Yield for each statement the id of its request, its outcome, and the resulting change."""
    ends: dict[str, CandidateChange] = {}
    for change in made:
        if isinstance(change, CandidateChange):
            ends |= {evidence.event_id: change for evidence in change.candidate.evidence if not evidence.session_id}
    disputes = {change.memory.id: change for change in made if isinstance(change, Dispute)}
    taken: set[UUID] = set()
    for statement in statements:
        change = ends[statement.event_id]
        outcome = outcome_of(change, disputes)
        if change.change_id in taken:
            outcome = replace(outcome, verdict="confirm", reason="Said more than once in this request.")
        taken.add(change.change_id)
        yield statement.event_id, (outcome, change)


def outcome_of(change: CandidateChange, disputes: Mapping[UUID, Dispute]) -> StatementOutcome:
    match change:
        case Ignore():
            return StatementOutcome(None, "ignore", change.reason, change.change_id)
        case Confirm(known=known) | Merge(known=known) | Replace(known=known):
            return StatementOutcome(known.id, type(change).__name__.lower(), change.reason, change.change_id)
        case Add(id=memory_id) if memory_id in disputes:
            dispute = disputes[memory_id]
            return StatementOutcome(memory_id, "contradict", dispute.reason, dispute.change_id)
        case _:
            verdict = "supersede" if change.supersedes else "predates" if change.past else "add"
            return StatementOutcome(change.id, verdict, change.reason, change.change_id)


def _without_requests(change: Change, event_ids: Collection[str]) -> Change:
    """Return the change without the requests that cited messages as their evidence."""
    if not isinstance(change, CandidateChange):
        return change
    remaining = tuple(e for e in change.candidate.evidence if e.session_id or e.event_id not in event_ids)
    return replace(change, candidate=replace(change.candidate, evidence=remaining))


def _announce(
    tx: Tx,
    tenant_id: str,
    statements: Sequence[RequestedStatement],
    outcomes: Sequence[tuple[StatementOutcome, CandidateChange]],
) -> None:
    """Append the event of each request, which makes a repeat known. Conflict: it is in the log by now."""
    announced = [_announcement(statement, *outcome) for statement, outcome in zip(statements, outcomes, strict=True)]
    if log.announce(tx, tenant_id, announced) != len(announced):
        raise Conflict("A request with this Idempotency-Key was completed in the meantime.")


def _announcement(statement: RequestedStatement, outcome: StatementOutcome, change: CandidateChange) -> Announcement:
    """Return the event of a request. It repeats no refused statement, and none that tries to instruct an agent."""
    payload: Json = {"user_id": statement.owner.user_id, "group_id": statement.owner.group_id}
    payload |= {"verdict": outcome.verdict, "decision_id": str(outcome.decision_id)}
    if outcome.memory_id is not None:
        payload["memory_id"] = str(outcome.memory_id)
    if outcome.memory_id is not None and change.candidate.trust is not Trust.QUARANTINED:
        payload |= _fields(statement, change)
    if payload.get("content") != statement.text:
        payload["characters"] = len(statement.text)
    subject = f"memory:{outcome.memory_id}" if outcome.memory_id else None
    non_empty = {name: value for name, value in payload.items() if value not in (None, [], (), {})}
    extensions = {FINGERPRINT: statement.fingerprint}
    return Announcement(statement.event_id, STATED, datetime.now(UTC), non_empty, subject, extensions)


def _fields(statement: RequestedStatement, change: CandidateChange) -> Json:
    """Return a statement for the log: as requested or, if it held a secret, as it was judged; times as text."""
    quote = next(e.quote for e in change.candidate.evidence if e.event_id == statement.event_id)
    fields = asdict(statement.candidate if quote == statement.text else change.candidate) | {"content": quote}
    del fields["evidence"], fields["corrects"]
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in fields.items()}


def _earlier_outcomes(tx: Tx, statements: Sequence[RequestedStatement]) -> list[StatementOutcome] | None:
    """Return the outcomes of these requests, if they were carried out before; None: they are new."""
    by_event_id = {statement.event_id: statement for statement in statements}
    rows = tx.execute(_STATED, {"ids": list(by_event_id), "type": STATED, "source": log.SOURCE}).all()
    if not rows:
        return None
    stored_events = {event.id: event for event in (log.event_of(row[:-1]) for row in rows)}
    if len(stored_events) < len(by_event_id) or any(
        row.fingerprint not in {None, by_event_id[row.id].fingerprint} for row in rows
    ):
        raise Conflict("This Idempotency-Key was used for a different request. Use a new key for a new request.")
    decisions = [_id(event.payload, "decision_id") for event in stored_events.values()]
    reasons = {row.id: row.reason for row in tx.execute(_REASONS, {"ids": decisions})}
    return [_outcome_of_event(stored_events[statement.event_id], reasons) for statement in statements]


def _outcome_of_event(event: Event, reasons: Mapping[UUID, str]) -> StatementOutcome:
    decision = UUID(event.payload["decision_id"])
    verdict = str(event.payload.get("verdict", "erased"))
    reason = "It was kept, and has been erased since." if verdict == "erased" else reasons.get(decision, "")
    return StatementOutcome(_id(event.payload, "memory_id"), verdict, reason, decision)


def _id(payload: Json, name: str) -> UUID | None:
    """Return an id from a payload; None if there is none, or an erasure has removed it."""
    return UUID(payload[name]) if payload.get(name) else None


def count_changes(counts: Mapping[str, int]) -> None:
    """Count changes in the metric of memories."""
    for name, n in counts.items():
        metrics.MEMORIES.labels(name).inc(n)


FINGERPRINT: Final = "fingerprint"
"""Extension of a request's event that tells it from another request under the same key."""

_STATED = text(f"""
    SELECT {log.COLUMNS}, e.extensions ->> '{FINGERPRINT}' AS fingerprint FROM events e
    WHERE e.id = ANY(:ids) AND e.source = :source AND e.event_type = :type
""")
"""No event of that source comes from outside, and the id of a request cannot be guessed. An erasure removes the
fingerprint, too: an erased request matches any request with its id."""

_STRUCTURED = text("""
    SELECT id, payload -> 'structured' AS structured FROM events
    WHERE id = ANY(:ids) AND source = :source AND event_type = :type
          AND jsonb_typeof(payload -> 'structured') = 'object'
""")

_REASONS = text("""
    SELECT id, reason FROM verdicts WHERE id = ANY(:ids)
    UNION SELECT change_id, reason FROM memory_versions WHERE change_id = ANY(:ids) AND change = 'add'
""")
"""A plain addition has no verdict, because nothing was near it: the reason is in its first version."""
