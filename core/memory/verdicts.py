"""Log of judgements, and which were undone.

An undo is one of them, with kind `undo` and the change that it undoes: it is a judgement too, and can be undone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text

from core.errors import Conflict
from core.events.publishing import Author
from core.memory.changes import Add, Change, Confirm, Dispute, Edit, Ignore, Joined, Merge, Owner, Replace
from core.storage import tables
from core.storage.db import Tx, inserting, recordset
from core.storage.multiquery import BoundStatement
from core.types import Candidate, Category, Evidence, Json, Kind, Topic, Trust


@dataclass(frozen=True, slots=True)
class VerdictFilter:
    """Filter of verdicts: user, kind, memory, undone or not; None: all."""

    user_id: str | None = None
    kind: str | None = None
    memory_id: UUID | None = None
    undone: bool | None = None


def find(tx: Tx, verdict_filter: VerdictFilter, *, before: UUID | None = None, limit: int = 50) -> list[Any]:
    """List verdicts, newest first."""
    return list(tx.execute(_FIND, {**asdict(verdict_filter), "before": before, "limit": limit}))


def find_one(tx: Tx, change_id: UUID) -> Any:
    """Return the verdict that a change carried out, or None."""
    return tx.execute(_ONE, {"id": change_id}).one_or_none()


def memories_of(tx: Tx, rows: Sequence[Any]) -> dict[UUID, list[Any]]:
    """Return for each verdict the current rows of the memories that it was about."""
    by_verdict: dict[UUID, list[Any]] = {row.id: [] for row in rows}
    pairs = [{"id": row.id, "memory_id": row.memory_id, "other_id": row.other_id} for row in rows]
    for memory in tx.execute(_CONCERNED, {"rows": recordset(pairs)}) if pairs else ():
        by_verdict[memory.verdict].append(memory)
    return by_verdict


def undo_of(tx: Tx, change_id: UUID, memory_ids: Sequence[UUID]) -> UUID | None:
    """Return the valid undo of a change that touched these memories, or None."""
    undo_id = tx.execute(_UNDO_OF, {"id": str(change_id), "memories": list(memory_ids)}).scalar()
    return UUID(str(undo_id)) if undo_id else None


def undone_of(tx: Tx, undos: Iterable[UUID | None]) -> set[UUID]:
    """Return the changes undone by those of these undos that are still valid."""
    return {
        UUID(undone_id) for undone_id in tx.execute(_UNDONE_OF, {"ids": [undo for undo in undos if undo]}).scalars()
    }


def mark_undone(tx: Tx, chain: Sequence[UUID], by: UUID) -> None:
    """Mark the first of a chain as undone, in which each change has undone the next. Conflict: it is already.

    What it had undone becomes valid again, what that had undone is undone again, and so on.
    """
    first = tx.execute(_ONE_LOCKED, {"id": chain[0]}).one_or_none()
    if first is not None and first.undone_by is not None:
        raise Conflict(f"This was undone in the meantime, by change {first.undone_by}.")
    rows = [
        {"id": change_id, "by": None if position % 2 else (chain[position - 1] if position else by)}
        for position, change_id in enumerate(chain)
    ]
    tx.execute(_MARK, {"rows": recordset(rows)})


def record_undo(tx: Tx, tenant_id: str, row: Json, author: Author) -> None:
    """Store an undo as a verdict."""
    more: Json = {"author": author.as_json(), "dispatch_id": author.cause and author.cause.dispatch_id}
    tx.execute(_RECORD, {"tenant": tenant_id, "rows": recordset([row | more])})


def recording(tenant_id: str, owner: Owner, changes: Sequence[Change], author: Author) -> BoundStatement | None:
    """Return the statement that stores the verdicts among these changes, and the edits that a person made.

    A plain addition has none: its first version says it all. Edits by agents are their everyday work.
    """
    rows = [row for change in changes for row in _rows(change, by_hand=author.cause is None)]
    if not rows:
        return None
    shared: Json = {"user_id": owner.user_id, "group_id": owner.group_id, "author": author.as_json()}
    shared["dispatch_id"] = author.cause and author.cause.dispatch_id
    return _RECORD, {"tenant": tenant_id, "rows": recordset([row | shared for row in rows])}


def candidate_json(candidate: Candidate) -> Json:
    """Encode a candidate as JSON for `candidate_of`."""
    plain = asdict(candidate)
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in plain.items()}


def candidate_of(kept: Json) -> Candidate:
    """Decode a candidate written by `candidate_json`."""
    times = ("occurred_at", "said_at", "valid_from", "valid_to", "expires_at")
    dates = {name: at for name in times if (at := kept.get(name))}
    read: dict[str, Any] = kept | {name: datetime.fromisoformat(at) for name, at in dates.items()}
    read["evidence"] = tuple(Evidence(**fields) for fields in kept["evidence"])
    read["tags"] = tuple(kept["tags"])
    read["audience_labels"] = tuple(kept.get("audience_labels", ()))
    enums = {"category": Category, "topic": Topic, "kind": Kind, "trust": Trust}
    return Candidate(**read | {name: enum(kept[name]) for name, enum in enums.items()})


def _rows(change: Change, *, by_hand: bool) -> Iterator[Json]:
    match change:
        case Confirm(known=known):
            yield _row(change, "confirm", known.id)
        case Merge(known=known, absorbs=absorbed):
            yield _row(change, "merge", known.id, absorbed.id if absorbed else None)
        case Replace(known=known):
            yield _row(change, "replace", known.id)
        case Joined(memory_id=memory_id, merged=merged):
            yield _row(change, "merge" if merged else "confirm", memory_id)
        case Ignore():
            yield _row(change, "ignore", None)
        case Add(supersedes=known) if known is not None:
            yield _row(change, "supersede", change.id, known.id)
        case Add(past=past) if past is not None:
            yield _row(change, "predates", change.id)
        case Dispute(memory=memory, other=other):
            yield _row(change, "contradict", memory.id, other.id, content=memory.content)
        case Edit() if by_hand:
            yield _row(change, "edit", change.id, content=change.fields.get("content"))


def _row(
    change: Confirm | Merge | Replace | Joined | Ignore | Add | Dispute | Edit,
    kind: str,
    memory_id: UUID | None,
    other_id: UUID | None = None,
    *,
    content: object = None,
) -> Json:
    candidate = {"content": content} if isinstance(change, Dispute | Edit) else candidate_json(change.candidate)
    row = {"id": change.change_id, "kind": kind, "reason": change.reason, "candidate": candidate}
    return row | {"memory_id": memory_id, "other_id": other_id}


_RECORD = inserting(
    tables.verdicts,
    "id user_id group_id kind reason candidate memory_id other_id author dispatch_id".split(),
    "ON CONFLICT DO NOTHING",
)

_FIND = text("""
    SELECT * FROM verdicts
    WHERE (cast(:user_id AS text) IS NULL OR user_id = :user_id) AND (cast(:kind AS text) IS NULL OR kind = :kind)
      AND (cast(:memory_id AS uuid) IS NULL OR memory_id = :memory_id
           OR id = ANY(ARRAY(SELECT change_id FROM memory_versions WHERE memory_id = :memory_id)))
      AND (cast(:undone AS bool) IS NULL OR (undone_by IS NOT NULL) = :undone)
      AND (cast(:before AS uuid) IS NULL OR id < :before)
    ORDER BY id DESC LIMIT :limit
""")

_ONE = text("SELECT * FROM verdicts WHERE id = :id")

_ONE_LOCKED = text("SELECT * FROM verdicts WHERE id = :id FOR UPDATE")

_CONCERNED = text("""
    WITH asked AS (
        SELECT * FROM json_to_recordset(cast(:rows AS json)) AS r (id uuid, memory_id uuid, other_id uuid)
    ), about AS (
        SELECT id AS verdict, memory_id, 0 AS place FROM asked
        UNION ALL SELECT id, other_id, 1 FROM asked
        UNION ALL SELECT v.change_id, v.memory_id, 2 FROM asked JOIN memory_versions v ON v.change_id = asked.id
    ), first AS (
        SELECT verdict, memory_id, min(place) AS place FROM about GROUP BY verdict, memory_id
    )
    SELECT first.verdict, m.id, m.content, m.status, m.trust FROM first JOIN memories m ON m.id = first.memory_id
    ORDER BY first.verdict, first.place, m.id
""")
"""Memories named in a verdict first, then all others that its change has touched."""

_UNDO_OF = text("""
    SELECT id FROM verdicts
    WHERE memory_id = ANY(:memories) AND kind = 'undo' AND undone_by IS NULL AND candidate ->> 'undoes' = :id
""")

_UNDONE_OF = text("SELECT candidate ->> 'undoes' FROM verdicts WHERE id = ANY(:ids) AND undone_by IS NULL")

_MARK = text("""
    UPDATE verdicts v SET undone_by = r.by FROM json_to_recordset(cast(:rows AS json)) AS r (id uuid, by uuid)
    WHERE v.id = r.id
""")
