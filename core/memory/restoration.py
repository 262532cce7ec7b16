"""Restores memories of every status from an archive, with their versions, evidence and relations.

Nothing is announced and nothing can be undone: what happened is told by the versions that come with them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import text

from core.events.publishing import Author
from core.index import search_index
from core.language import introductions
from core.memory import decay, identity, retention, updates
from core.memory.changes import Vector
from core.memory.retention import FadingPolicy
from core.sessions import known_owners
from core.storage import tables
from core.storage.db import Tx, inserting, recordset
from core.types import Json, Relation, Status

COLUMNS: Final = tuple(
    (
        "group_id session_id subject kind category topic content structured attribute value importance confidence "
        "trust status occurred_at said_at valid_from valid_to recorded_at updated_at expires_at half_life_days "
        "last_used_at uses pinned tags version level audience_labels"
    ).split()
)
"""Columns of a memory that an archive holds; the others follow from these."""


@dataclass(frozen=True, slots=True)
class RestoredVersion:
    """A version of a restored memory; `snapshot`: its row then, without the columns that an archive leaves out."""

    version: int
    change: str
    at: datetime
    author: str | None
    rule: str | None
    reason: str
    snapshot: Json


@dataclass(frozen=True, slots=True)
class RestoredEvidence:
    """Evidence of a restored memory; without a message it is of a request."""

    quote: str
    at: datetime
    session_id: str = ""
    message_id: str = ""
    event_id: str = ""


@dataclass(frozen=True, slots=True)
class RestoredMemory:
    """A memory of an archive, with the id that it gets. `fields`: its columns, by the names of COLUMNS."""

    id: UUID
    fields: Json
    versions: Sequence[RestoredVersion]
    evidence: Sequence[RestoredEvidence] = ()
    vector: Vector | None = None

    @property
    def key(self) -> str:
        return identity.statement_key(self.fields["subject"], self.fields["content"])

    @property
    def first_key(self) -> str | None:
        """The key of the statement that it began as: a later edit does not make it another memory."""
        first = self.versions[0].snapshot if self.versions else {}
        return (
            identity.statement_key(first["subject"], first["content"])
            if {"subject", "content"} <= first.keys()
            else None
        )

    @property
    def counts(self) -> bool:
        """Whether it is a statement in force, of which there is one at a time."""
        return self.fields["status"] == Status.ACTIVE and self.fields["trust"] not in updates.UNBELIEVED


@dataclass(frozen=True, slots=True)
class KnownMemories:
    """Memories that are stored already, by the id of the restored memory.

    `same`: the memory itself. `stated`: an active one with the same statement. `slot`: an active one in its slot.
    """

    same: Mapping[UUID, Sequence[UUID]]
    stated: Mapping[UUID, Sequence[UUID]]
    slot: Mapping[UUID, Sequence[UUID]]


def find(tx: Tx, user_id: str, memories: Sequence[RestoredMemory]) -> KnownMemories:
    """Return what is stored of these memories, and what stands in their way; the oldest first."""
    rows = [
        {
            "place": position,
            "key": memory.key,
            "first": memory.first_key,
            "at": memory.fields["recorded_at"],
            "group_id": memory.fields["group_id"],
            "labels": memory.fields["audience_labels"],
            "subject": memory.fields["subject"],
            "attribute": memory.fields["attribute"],
            "counts": memory.counts,
        }
        for position, memory in enumerate(memories)
    ]
    values = {"user": user_id, "rows": recordset(rows)}
    results: list[Mapping[UUID, Sequence[UUID]]] = []
    for statement in (_SAME, _SAID, _SLOT):
        by_place: defaultdict[UUID, list[UUID]] = defaultdict(list)
        for row in tx.execute(statement, values):
            by_place[memories[row.place].id].append(row.id)
        results.append(by_place)
    return KnownMemories(*results)


def restore(
    tx: Tx, tenant_id: str, user_id: str, memories: Sequence[RestoredMemory], origin: Json, author: Author
) -> None:
    """Store memories as they are, found by searches from the commit on. `origin`: goes into the author of each version.

    To be called under the owner's lock (`core.memory.writer.lock`), with memories that `find` does not find.
    """
    if not memories:
        return
    policy = retention.policy(tx, tenant_id)
    rows = [_row(user_id, memory, policy) for memory in memories]
    tx.execute(_ADD, {"tenant": tenant_id, "rows": recordset(rows)})
    owners = (
        owner
        for memory in memories
        for owner in known_owners.of(user_id, memory.fields["group_id"], memory.fields["recorded_at"])
    )
    known_owners.note(tx, tenant_id, owners)
    dispatch = {"dispatch_id": author.cause and author.cause.dispatch_id}
    versions = [
        _version(tenant_id, user_id, memory, version, origin) | dispatch
        for memory in memories
        for version in memory.versions
    ]
    tx.execute(_VERSIONS, {"tenant": tenant_id, "rows": recordset(versions)})
    cite(tx, tenant_id, {memory.id: memory.evidence for memory in memories})
    by_group: defaultdict[str | None, list[search_index.MemoryEntry]] = defaultdict(list)
    for memory in memories:
        naming = introductions.told_of(memory.fields["subject"], memory.fields["structured"])
        entry = search_index.MemoryEntry(
            str(memory.id), memory.fields["content"], memory.fields["occurred_at"], memory.vector, naming
        )
        by_group[memory.fields["group_id"]].append(entry)
    for group_id, entries in by_group.items():
        search_index.put_memories(tx, tenant_id, user_id, group_id, entries)


def cite(tx: Tx, tenant_id: str, evidence: Mapping[UUID, Sequence[RestoredEvidence]]) -> int:
    """Store evidence that memories do not have yet; return how much."""
    rows = [
        {"memory_id": memory, "session_id": e.session_id, "message_id": e.message_id, "event_id": e.event_id,
         "quote": e.quote, "at": e.at}
        for memory, several in evidence.items() for e in several
    ]  # fmt: skip
    return tx.execute(_CITE, {"tenant": tenant_id, "rows": recordset(rows)}).rowcount if rows else 0


def relate(tx: Tx, tenant_id: str, relations: Sequence[tuple[UUID, Relation, UUID, float, datetime]]) -> int:
    """Store relations that are not there yet, and draw the curves of both ends anew; return how many."""
    rows = [dict(zip(_RELATION, relation, strict=True)) for relation in relations]
    stored = tx.execute(_RELATE, {"tenant": tenant_id, "rows": recordset(rows)}).rowcount if rows else 0
    retention.plan(tx, tenant_id, [end for relation in relations for end in (relation[0], relation[2])])
    return stored


def _row(user_id: str, memory: RestoredMemory, policy: FadingPolicy) -> Json:
    fields = memory.fields
    cited = len({(e.session_id, e.message_id) for e in memory.evidence})
    facts = decay.Facts(
        fields["importance"], fields["category"], fields["uses"], cited, 0, fields["pinned"], fields["half_life_days"]
    )
    curve = retention.columns(facts, fields["last_used_at"] or fields["recorded_at"], policy)
    fading = curve if fields["status"] == Status.ACTIVE else curve | {"fade_at": None}
    return {**fields, "id": memory.id, "user_id": user_id, "statement_key": memory.key, **fading}


def _version(tenant_id: str, user_id: str, memory: RestoredMemory, version: RestoredVersion, origin: Json) -> Json:
    snapshot = version.snapshot
    key = identity.statement_key(snapshot.get("subject") or "", snapshot.get("content") or "")
    own = {"id": str(memory.id), "tenant_id": tenant_id, "user_id": user_id, "version": version.version}
    return {
        "memory_id": memory.id,
        "version": version.version,
        "change": version.change,
        "reason": version.reason,
        "at": version.at,
        "snapshot": {**snapshot, **own, "statement_key": key},
        "author": {"name": version.author, "rule": version.rule, "rule_version": None, **origin},
    }


_ASKED: Final = """
    json_to_recordset(cast(:rows AS json)) AS a (place int, key text, first text, at timestamptz, group_id text,
                                                 labels text[], subject text, attribute text, counts bool)
"""

_SAME = text(f"""
    SELECT a.place, m.id FROM {_ASKED}
    JOIN memories m ON m.user_id = :user AND m.recorded_at = a.at AND m.group_id IS NOT DISTINCT FROM a.group_id
    WHERE m.statement_key = a.key OR EXISTS (
        SELECT FROM memory_versions v
        WHERE v.memory_id = m.id AND v.version = 1 AND v.snapshot ->> 'statement_key' = a.first)
    ORDER BY a.place, m.id
""")
"""By the moment at which it was recorded, and what it says now or said first."""

_IN_FORCE: Final = """
    m.group_id IS NOT DISTINCT FROM a.group_id AND m.audience_labels = a.labels AND m.status = 'active'
    AND m.trust NOT IN ('rejected', 'quarantined')
"""

_SAID = text(f"""
    SELECT a.place, m.id FROM {_ASKED} JOIN memories m ON m.user_id = :user AND m.statement_key = a.key AND {_IN_FORCE}
    WHERE a.counts ORDER BY a.place, m.id
""")

_SLOT = text(f"""
    SELECT a.place, m.id FROM {_ASKED}
    JOIN memories m ON m.user_id = :user AND m.subject = a.subject AND m.attribute = a.attribute AND {_IN_FORCE}
    WHERE a.counts ORDER BY a.place, m.id
""")

_ADD = inserting(
    tables.memories,
    (*COLUMNS, *"id user_id statement_key fade_height fade_floor fade_half_life fade_at".split()),
)

_VERSIONS = inserting(tables.memory_versions, "memory_id version change reason author snapshot dispatch_id at".split())

_CITE = text("""
    INSERT INTO evidence (tenant_id, memory_id, session_id, message_id, event_id, quote, at)
    SELECT :tenant, memory_id, session_id, message_id, event_id, quote, at
    FROM json_to_recordset(cast(:rows AS json)) AS r (
        memory_id uuid, session_id text, message_id text, event_id text, quote text, at timestamptz)
    WHERE session_id <> '' OR NOT EXISTS (
        SELECT FROM evidence e
        WHERE e.memory_id = r.memory_id AND e.session_id = '' AND e.at = r.at)
    ON CONFLICT DO NOTHING
""")
"""Evidence of a request has another id in each database: it is known by its time."""

_RELATION: Final = ("from_id", "relation", "to_id", "strength", "at")

_RELATE = inserting(tables.relations, _RELATION, "ON CONFLICT DO NOTHING")
