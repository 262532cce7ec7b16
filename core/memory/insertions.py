"""INSERT of new and derived memories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text

from core.errors import Conflict
from core.events.log import Emission
from core.events.publishing import Author
from core.index import search_index
from core.language import introductions
from core.memory import decay, identity, retention, stored_features, updates, versions
from core.memory.changes import Add, Archive, Derive, Link, Owner
from core.memory.retention import FadingPolicy
from core.memory.rows import MemoryRow
from core.memory.versions import Citation, VersionEntry
from core.sessions import known_owners
from core.storage import tables
from core.storage.db import Tx, inserting, recordset, run_together
from core.storage.multiquery import BoundStatement
from core.types import Candidate, Json, Relation, Status


def adding(tenant_id: str, owner: Owner, adds: Sequence[Add], policy: FadingPolicy) -> BoundStatement | None:
    """Return the statement that stores new memories, to be run together with others; None: there are none."""
    return _adding(tenant_id, [_add_row(owner, add, policy) for add in adds]) if adds else None


def read_ahead(adds: Sequence[Add]) -> None:
    """Compute what `adding` stores of the words of new memories, while the database is asked."""
    for add in adds:
        stored_features.encoded(add.candidate.content)


def accompanying(
    tenant_id: str, owner: Owner, changes: Sequence[Add] | Sequence[Derive]
) -> list[BoundStatement | None]:
    """Return the statements that index new memories and note their owner."""
    if not changes:
        return []
    latest = max(o.candidate.told_at for o in changes)
    entries = [
        search_index.MemoryEntry(
            str(o.id),
            o.candidate.content,
            o.candidate.occurred_at,
            o.vector,
            introductions.told_of(o.candidate.subject, o.candidate.structured),
        )
        for o in changes
    ]
    return [
        known_owners.noting(tenant_id, known_owners.of(owner.user_id, owner.group_id, latest)),
        search_index.putting_memories(tenant_id, owner.user_id, owner.group_id, entries),
    ]


def cited(adds: Sequence[Add]) -> list[Citation]:
    """Return the evidence of new memories."""
    return [Citation(a.id, e, a.change_id) for a in adds for e in a.candidate.evidence]


def first_versions(
    changes: Sequence[Add] | Sequence[Derive], stored: Sequence[MemoryRow], change: str
) -> list[VersionEntry]:
    """Return the versions of the rows that `adding` has answered."""
    by_id = {planned.id: planned for planned in changes}
    return [VersionEntry(row, change, by_id[row.id].reason, by_id[row.id].change_id) for row in stored]


def derive(tx: Tx, tenant_id: str, owner: Owner, derived: Sequence[Derive], author: Author) -> list[Emission]:
    """Store derived memories; archive the parts of those that retire them, and return the events of that.

    Conflict: one of the parts has changed since it was read.
    """
    if not derived:
        return []
    policy = retention.policy(tx, tenant_id)
    rows = [_derived_row(owner, change, policy, _last_use(tx, change)) for change in derived]
    (stored,) = run_together(tx, _adding(tenant_id, rows))
    versioned = versions.recording(first_versions(derived, stored, "derive"), author)
    run_together(tx, versioned, *accompanying(tenant_id, owner, derived))
    for change in derived:
        versions.cite_too(tx, tenant_id, change.id, [part.id for part in change.parts], change.change_id)
    links = [
        Link(change.id, Relation.DERIVED_FROM, part.id, change.change_id) for change in derived for part in change.parts
    ]
    versions.link(tx, tenant_id, links)
    retired = [
        Archive(part.id, part.version, f"Compressed into memory {change.id}.", change.change_id)
        for change in derived
        if change.retires
        for part in change.parts
    ]
    return updates.archive(tx, retired, author)


def _adding(tenant_id: str, rows: Sequence[Json]) -> BoundStatement:
    return _ADD, {"tenant": tenant_id, "rows": recordset(rows)}


def _last_use(tx: Tx, derived: Derive) -> datetime:
    rows = [{"id": part.id, "version": part.version} for part in derived.parts]
    row = tx.execute(_PARTS, {"rows": recordset(rows)}).one()
    if row.standing != len(derived.parts):
        raise Conflict("A memory from which this is derived has been changed in the meantime.")
    last: datetime = row.last
    return last


def _add_row(owner: Owner, add: Add, policy: FadingPolicy) -> Json:
    row = _row(owner, add.id, add.candidate, policy, policy.now, len(set(add.candidate.evidence)))
    if add.past is None:
        return row
    past = {"status": Status.SUPERSEDED, "valid_to": add.past, "fade_at": None}
    # A beginning after the end is a default that nobody has stated.
    return row | past | ({"valid_from": None} if row["valid_from"] and row["valid_from"] > add.past else {})


def _derived_row(owner: Owner, derived: Derive, policy: FadingPolicy, last: datetime) -> Json:
    since = last if derived.retires else policy.now
    row = _row(owner, derived.id, derived.candidate, policy, since, len(derived.parts))
    return row | {"level": derived.level, "last_used_at": since}


def _row(
    owner: Owner, memory_id: UUID, c: Candidate, policy: FadingPolicy, since: datetime, evidence: int
) -> dict[str, Any]:
    facts = decay.Facts(c.importance, c.category, evidence=evidence, pinned=c.pinned, half_life_days=c.half_life_days)
    return {
        "id": memory_id,
        "user_id": owner.user_id,
        "group_id": owner.group_id,
        "session_id": (c.evidence[0].session_id or None) if c.evidence else None,
        "subject": c.subject,
        "kind": c.kind,
        "category": c.category,
        "topic": c.topic,
        "content": c.content,
        "statement_key": identity.statement_key(c.subject, c.content),
        "features": f"\\x{stored_features.encoded(c.content).hex()}",
        "structured": c.structured,
        "attribute": c.attribute,
        "value": c.value,
        "importance": c.importance,
        "confidence": c.confidence,
        "trust": c.trust,
        "status": Status.ACTIVE,
        "occurred_at": c.occurred_at,
        "said_at": c.told_at,
        "valid_from": c.begins_at,
        "valid_to": c.valid_to,
        "expires_at": c.expires_at,
        "half_life_days": c.half_life_days,
        "pinned": c.pinned,
        "tags": c.tags,
        "audience_labels": sorted(set(c.audience_labels)),
        "level": 0,
        "recorded_at": policy.now,
        "last_used_at": None,
        **retention.columns(facts, since, policy),
    }


_ADD = inserting(
    tables.memories,
    (
        "id user_id group_id session_id subject kind category topic content statement_key features structured "
        "attribute value importance confidence trust status occurred_at said_at valid_from valid_to expires_at "
        "half_life_days pinned tags level recorded_at last_used_at fade_height fade_floor fade_half_life fade_at "
        "audience_labels"
    ).split(),
    "RETURNING *",
)

_PARTS = text("""
    SELECT count(*) AS standing, max(coalesce(m.last_used_at, m.recorded_at)) AS last FROM memories m
    JOIN json_to_recordset(cast(:rows AS json)) AS p (id uuid, version int) ON p.id = m.id AND p.version = m.version
    WHERE m.status = 'active'
""")
"""Active parts at the versions read. No row of an aggregate can be locked; archiving them checks the versions again."""
