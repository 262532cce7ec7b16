"""Edit, archive, restore, pin, count uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import TextClause, text

from core.errors import Conflict
from core.events.log import Emission
from core.events.publishing import Author
from core.index import search_index
from core.language import introductions
from core.memory import announcements, decay, identity, memories, versions
from core.memory.changes import Archive, Change, Edit, Pin, Restore, Use
from core.memory.rows import MemoryRow
from core.memory.versions import VersionEntry
from core.storage import tables
from core.storage.db import Tx, recordset
from core.types import Status, Trust

EDITABLE: Final = frozenset(
    (
        "subject kind category topic content structured attribute value importance confidence trust status "
        "occurred_at valid_from valid_to expires_at half_life_days pinned tags audience_labels"
    ).split()
)
"""Columns that an edit may set; all others are computed from these or from use."""

CLAIMING: Final = frozenset({"subject", "content", "attribute", "value", "status", "trust", "expires_at"})
"""Columns by which an edited memory may collide with another."""


UNBELIEVED: Final = frozenset({Trust.REJECTED, Trust.QUARANTINED})
"""Trust of memories whose statements do not count."""


def apply_updates(
    tx: Tx, tenant_id: str, changes: Sequence[Change], author: Author
) -> tuple[list[UUID], list[Emission]]:
    """Carry out these changes; return the ids of memories whose curve must be recomputed, and the events."""
    restores = [c for c in changes if isinstance(c, Restore)]
    pins = [c for c in changes if isinstance(c, Pin)]
    edits = [c for c in changes if isinstance(c, Edit)]
    emissions = archive(tx, [c for c in changes if isinstance(c, Archive)], author)
    emissions += _restore(tx, restores, author)
    emissions += _pin(tx, pins, author)
    emissions += _edit(tx, tenant_id, edits, author)
    used = _use(tx, [c.id for c in changes if isinstance(c, Use)])
    return [*(c.id for c in restores), *(c.id for c in pins), *(c.id for c in edits), *used], emissions


def archive(tx: Tx, archives: Sequence[Archive], author: Author) -> list[Emission]:
    """Archive memories of any owners; return the events. Conflict: one has changed since this was decided."""
    steps = _change_all(tx, _ARCHIVE, archives, "archive", author)
    return [announcements.of_change(step.row, "memory.archived", step.reason, old=step.row) for step in steps]


def replace_index_entry(tx: Tx, tenant_id: str, row: MemoryRow, vector: object) -> None:
    """Replace a memory's row in the index; without a vector it is found by its words alone."""
    tx.execute(_UNINDEX, {"ref": str(row.id)})
    naming = introductions.told_of(row.subject, row.structured)
    entry = search_index.MemoryEntry(str(row.id), row.content, row.occurred_at, vector, naming)  # type: ignore[arg-type]
    search_index.put_memories(tx, tenant_id, row.user_id, row.group_id, [entry])


def refuse_collisions(tx: Tx, ids: Sequence[UUID]) -> None:
    """Raise Conflict if another active memory says the same as one of these, or fills its slot."""
    if ids and tx.execute(_TAKEN, {"ids": list(ids)}).first() is not None:
        raise Conflict(
            "Another active memory makes the same statement or fills the same slot; archive or change it first."
        )


def slots_taken(tx: Tx, ids: Sequence[UUID]) -> set[UUID]:
    """Return those of these memories whose slot another active memory fills."""
    return set(tx.execute(_SLOTS_TAKEN, {"ids": list(ids)}).scalars()) if ids else set()


def _restore(tx: Tx, restores: Sequence[Restore], author: Author) -> list[Emission]:
    steps = _change_all(tx, _RESTORE, restores, "restore", author)
    refuse_collisions(tx, [step.row.id for step in steps])
    return [announcements.of_change(step.row, "memory.restored", step.reason, new=step.row) for step in steps]


def _pin(tx: Tx, pins: Sequence[Pin], author: Author) -> list[Emission]:
    steps = _change_all(tx, _PIN, pins, "pin", author)
    return [announcements.of_update(step.row, step.change, step.reason, old=step.row) for step in steps]


def _edit(tx: Tx, tenant_id: str, edits: Sequence[Edit], author: Author) -> list[Emission]:
    emissions, claimed = [], []
    for edit in edits:
        before, row = _apply_edit(tx, edit)
        versions.record(tx, [VersionEntry(row, "edit", edit.reason, edit.change_id)], author)
        if "content" in edit.fields or "occurred_at" in edit.fields:
            replace_index_entry(tx, tenant_id, row, edit.vector)
        elif "subject" in edit.fields or "structured" in edit.fields:
            search_index.put_naming(tx, str(row.id), row.content, introductions.told_of(row.subject, row.structured))
        counts = row.status == Status.ACTIVE and row.trust not in UNBELIEVED
        if edit.fields.keys() & CLAIMING and counts:
            claimed.append(row.id)
        emissions.append(announcements.of_update(row, "edit", edit.reason, old=before))
        if before.importance < announcements.IMPORTANT <= row.importance and counts:
            emissions.append(important_event(row))
    refuse_collisions(tx, claimed)
    return emissions


def important_event(row: MemoryRow) -> Emission:
    """Return the event for a memory that has become important."""
    names = ("group_id", "content", "category", "topic", "importance", "attribute", "value", "session_id")
    details = {name: value for name in names if (value := getattr(row, name))}
    return announcements.event_about(row.id, "memory.write.important", announcements.owner_fields(row) | details)


def write_fields(tx: Tx, before: MemoryRow, fields: Mapping[str, object]) -> MemoryRow:
    """Set columns of a memory with those that follow from them; return the new row.

    Conflict: the memory is no longer at the version of `before`.
    """
    following: dict[str, object] = {"version": before.version + 1, "updated_at": memories.now()}
    if {"subject", "content"} & fields.keys():
        subject, content = (str(fields.get(name, getattr(before, name))) for name in ("subject", "content"))
        following["statement_key"] = identity.statement_key(subject, content)
    if fields.get("status", before.status) != Status.ACTIVE:
        following["fade_at"] = None
    table = tables.memories
    as_read = (table.c.id == before.id) & (table.c.version == before.version)
    change = table.update().where(as_read).values(**fields, **following)
    row = tx.execute(change.returning(*table.c)).one_or_none()
    if row is None:
        raise Conflict(_CHANGED.format(before.id))
    return row


def _apply_edit(tx: Tx, edit: Edit) -> tuple[MemoryRow, MemoryRow]:
    """Return the row before the edit and after it. Conflict: the memory is not at the version that was edited."""
    unknown = edit.fields.keys() - EDITABLE
    if unknown:
        raise ValueError(f"not editable: {sorted(unknown)}")
    before = tx.execute(_AT_VERSION, {"id": edit.id, "version": edit.version}).one_or_none()
    if before is None:
        raise Conflict(_CHANGED.format(edit.id))
    return before, write_fields(tx, before, edit.fields)


def _use(tx: Tx, ids: Sequence[UUID]) -> list[UUID]:
    """Count uses that come long enough after the last counted one; return the memories counted."""
    if not ids:
        return []
    values = {"ids": list(ids), "spacing": decay.SPACING.total_seconds()}
    return list(tx.execute(_USE, values).scalars())


def _change_all(
    tx: Tx, change: TextClause, requests: Sequence[Archive | Restore | Pin], name: str, author: Author
) -> list[VersionEntry]:
    """Run a statement on memories at their given versions, and record it. Conflict: one is at another version."""
    if not requests:
        return []
    expected = [{"id": c.id, "version": c.version, "pinned": isinstance(c, Pin) and c.pinned} for c in requests]
    rows = tx.execute(change, {"rows": recordset(expected)}).all()
    if len(rows) != len(requests):
        raise Conflict("A memory of this decision has been changed in the meantime, or its status does not allow it.")
    by_id = {request.id: request for request in requests}
    steps = [
        VersionEntry(
            row, "unpin" if name == "pin" and not row.pinned else name, by_id[row.id].reason, by_id[row.id].change_id
        )
        for row in rows
    ]
    versions.record(tx, steps, author)
    return steps


_CHANGED: Final = "Memory {} has been changed in the meantime. Read it again."

_AT_VERSION = text("SELECT * FROM memories WHERE id = :id AND version = :version AND status <> 'erased' FOR UPDATE")

_CHANGING = """
    version = m.version + 1, updated_at = clock_timestamp()
    FROM json_to_recordset(cast(:rows AS json)) AS c (id uuid, version int, pinned bool)
    WHERE m.id = c.id AND m.version = c.version
"""

_ARCHIVE = text(f"""
    UPDATE memories m SET status = 'archived', fade_at = NULL, {_CHANGING} AND m.status = 'active' RETURNING m.*
""")

_RESTORE = text(f"""
    UPDATE memories m SET status = 'active', last_used_at = clock_timestamp(),
                          expires_at = CASE WHEN m.expires_at > clock_timestamp() THEN m.expires_at END,
                          {_CHANGING} AND m.status = 'archived' RETURNING m.*
""")
"""A past expiry is removed, because it would archive the memory again at once."""

_PIN = text(f"UPDATE memories m SET pinned = c.pinned, {_CHANGING} AND m.status = 'active' RETURNING m.*")

_OTHERS = f"""
    FROM memories t
    JOIN memories m ON m.user_id = t.user_id AND m.group_id IS NOT DISTINCT FROM t.group_id AND m.id <> t.id
         AND m.audience_labels = t.audience_labels AND {memories.ACTIVE_SQL}
"""
_SAME_SLOT = "m.subject = t.subject AND m.attribute = t.attribute"

_TAKEN = text(f"""
    SELECT {_OTHERS} AND (m.statement_key = t.statement_key OR ({_SAME_SLOT})) WHERE t.id = ANY(:ids) LIMIT 1
""")

_SLOTS_TAKEN = text(f"SELECT DISTINCT t.id {_OTHERS} AND {_SAME_SLOT} WHERE t.id = ANY(:ids)")

_USE = text("""
    UPDATE memories SET uses = uses + 1, last_used_at = clock_timestamp()
    WHERE id = ANY(:ids) AND status = 'active'
      AND (last_used_at IS NULL OR last_used_at <= clock_timestamp() - make_interval(secs => :spacing))
    RETURNING id
""")

_UNINDEX = text("DELETE FROM search_index WHERE type = 'memory' AND session_id = '' AND ref = :ref")
"""Rows of the index are never updated, but replaced."""
