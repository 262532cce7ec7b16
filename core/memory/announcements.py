"""Events that describe changes. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from core.events.log import Emission
from core.memory.changes import Add, Confirm, Derive, Dispute, Merge, Owner, Replace
from core.memory.rows import MemoryRow
from core.statements.succession import Statement
from core.types import Candidate, Json, Trust

IMPORTANT = 0.8
"""Importance from which a new memory is announced by `memory.write.important`."""

Rows = Mapping[UUID, MemoryRow]
"""Memories as changed by a batch, by id."""


def event_about(memory_id: UUID, event_type: str, payload: Json) -> Emission:
    """Build an event about one memory."""
    return Emission(event_type, payload, subject=f"memory:{memory_id}")


def owner_fields(row: MemoryRow) -> Json:
    """Return a memory's owner and id, for a payload."""
    return {"user_id": row.user_id, "memory_id": str(row.id)}


def statement_fields(statement: Statement) -> Json:
    """Return a memory's statement, for a payload."""
    fields = {"content": statement.content, "attribute": statement.attribute, "value": statement.value}
    return {name: value for name, value in fields.items() if value}


def change_payload(row: MemoryRow, reason: str, *, old: Statement | None = None, new: Statement | None = None) -> Json:
    """Build the payload of a change: memory, category, reason, and the statement before and after.

    A quarantined text is left out: readers of events must not be given what it tries to do.
    """
    payload = owner_fields(row) | {"category": row.category, "reason": reason}
    if row.group_id:
        payload["group_id"] = row.group_id
    if row.trust == Trust.QUARANTINED:
        return payload
    return payload | {
        name: statement_fields(statement) for name, statement in (("old", old), ("new", new)) if statement is not None
    }


def of_change(
    row: MemoryRow,
    event_type: str,
    reason: str,
    *,
    old: Statement | None = None,
    new: Statement | None = None,
    more: Json | None = None,
) -> Emission:
    """Build the event of a change, with further fields of its payload."""
    return event_about(row.id, event_type, change_payload(row, reason, old=old, new=new) | (more or {}))


def of_update(row: MemoryRow, change: str, reason: str, *, old: Statement) -> Emission:
    """Build the event of a memory that says something else, or is otherwise held, by the name of the change."""
    return of_change(row, "memory.updated", reason, old=old, new=row, more={"change": change})


def of_adds(owner: Owner, adds: Sequence[Add], rows: Rows) -> list[Emission]:
    """Build the events of additions. A quarantined text is left out, so that no reader of events is given it."""
    emissions = []
    for add in adds:
        if add.candidate.trust is Trust.QUARANTINED:
            payload = {"user_id": owner.user_id, "memory_id": str(add.id), "reason": add.reason}
            emissions.append(event_about(add.id, "memory.quarantined", payload))
            continue
        emissions += _creation_events(owner, add.id, add.candidate)
        for known, reason, *_ in add.retired:
            by = {"by": str(add.id)}
            new = add.candidate
            emissions.append(of_change(rows[known.id], "memory.superseded", reason, old=known, new=new, more=by))
    return emissions


def of_confirms(confirms: Sequence[Confirm], rows: Rows) -> list[Emission]:
    return [
        of_update(rows[memory_id], "confirm", c.reason, old=c.known)
        for memory_id, c in {c.known.id: c for c in confirms}.items()
    ]


def of_rewrites(rewrites: Sequence[Merge | Replace], rows: Rows) -> list[Emission]:
    emissions = []
    for change in rewrites:
        row, reason, old = rows[change.known.id], change.reason, change.known
        if isinstance(change, Replace):
            emissions.append(of_update(row, "replace", reason, old=old))
            continue
        absorbed = {"absorbed": str(change.absorbs.id)} if change.absorbs else {}
        emissions.append(of_change(row, "memory.merged", reason, old=old, new=row, more=absorbed))
    return emissions


def of_disputes(disputes: Sequence[Dispute], rows: Rows) -> list[Emission]:
    return [
        of_change(
            rows[d.other.id],
            "memory.conflicted",
            d.reason,
            old=d.other,
            new=d.memory,
            more={"with": str(d.memory.id)},
        )
        for d in disputes
    ]


def of_derivations(owner: Owner, derived: Sequence[Derive]) -> list[Emission]:
    """Build the events of derived memories; one that replaces its parts is also announced as a compression."""
    emissions = []
    for change in derived:
        emissions += _creation_events(owner, change.id, change.candidate)
        if change.retires:
            payload = {
                "user_id": owner.user_id,
                "memory_id": str(change.id),
                "parts": [str(part.id) for part in change.parts],
                "reason": change.reason,
            }
            emissions.append(event_about(change.id, "memory.compressed", payload))
    return emissions


def _creation_events(owner: Owner, memory_id: UUID, candidate: Candidate) -> list[Emission]:
    payload = _payload(owner, memory_id, candidate)
    important = [event_about(memory_id, "memory.write.important", payload)] * (candidate.importance >= IMPORTANT)
    return [event_about(memory_id, "memory.created", payload), *important]


def _payload(owner: Owner, memory_id: UUID, c: Candidate) -> Json:
    payload = {
        "user_id": owner.user_id,
        "group_id": owner.group_id,
        "memory_id": str(memory_id),
        "content": c.content,
        "category": c.category.value,
        "topic": c.topic.value,
        "importance": c.importance,
        "attribute": c.attribute,
        "value": c.value,
        "session_id": c.evidence[0].session_id if c.evidence else None,
    }
    return {name: value for name, value in payload.items() if value}
