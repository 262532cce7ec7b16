"""Shadow tenant for rebuilt memories, and the diff with the live set.

The database separates the two like any two tenants. Active memories of both are compared.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from core.memory import identity, memories
from core.storage import tables
from core.storage.db import Database, Tx, inserting, recordset
from core.tenancy import tenants
from core.types import Candidate, Json

COMPARED: Final = ("content", "value", "category", "topic", "structured")
"""Fields by which two memories of the same thing differ."""


@dataclass(frozen=True, slots=True)
class ComparedMemory:
    """A memory of the live or the rebuilt set.

    A rebuild does not touch it if a person made or changed it (`by_hand`), if reading sessions does not make such
    memories (not `replayed`), or if messages that it rests on have left (`expired`), for they cannot be read again.
    """

    id: UUID
    version: int
    candidate: Candidate
    group_id: str | None = None
    level: int = 0
    by_hand: bool = False
    replayed: bool = True
    expired: bool = False

    @property
    def is_fixed(self) -> bool:
        """Whether a rebuild leaves it as it is, whatever it reads."""
        return self.by_hand or not self.replayed or self.expired


@dataclass(frozen=True, slots=True)
class Contrast:
    """Memories only in the new set, only in the old one, in both with other words (old, new), and how many stay.

    `expired`: how many of these stay because messages that they rest on have left.
    """

    added: Sequence[ComparedMemory]
    gone: Sequence[ComparedMemory]
    changed: Sequence[tuple[ComparedMemory, ComparedMemory]]
    same: int
    kept: int
    expired: int = 0

    def as_json(self) -> Json:
        """Describe the difference for people: statements with their ids."""
        return {
            "added": [{"content": s.candidate.content} for s in self.added],
            "gone": [{"memory_id": str(s.id), "content": s.candidate.content} for s in self.gone],
            "changed": [
                {"memory_id": str(old.id), "from": old.candidate.content, "to": new.candidate.content}
                for old, new in self.changed
            ],
            "same": self.same,
            "kept": self.kept,
            "expired": self.expired,
        }


def create(db: Database, tenant_id: str, shadow_id: str) -> None:
    """Create a shadow tenant: empty, but with the tenant's tombstones and its fading."""
    with db.tenant(tenant_id) as tx:
        own = tx.execute(_OWN, {"tenant": tenant_id}).one()
        graves = [{"hash": row.hash, "at": row.at} for row in tx.execute(text("SELECT hash, at FROM tombstones"))]
    with db.tenant(shadow_id) as tx:
        tx.execute(_OPEN, {**own._mapping, "shadow": shadow_id})
        tx.execute(_BURY, {"tenant": shadow_id, "rows": recordset(graves)})


def drop(db: Database, shadow_id: str) -> None:
    """Delete a shadow tenant with all of its rows; do nothing if there is none."""
    with db.tenant(shadow_id) as tx:
        delete_rows(tx, shadow_id)


def delete_rows(tx: Tx, shadow_id: str) -> None:
    """Delete all rows of a shadow tenant in a transaction bound to it."""
    if not shadow_id.startswith(tenants.RESERVED):
        raise ValueError(shadow_id)
    for table in tables.TENANT_TABLES:
        tx.execute(table.delete().where(table.c.tenant_id == shadow_id))
    tx.execute(text("DELETE FROM tenants WHERE id = :shadow"), {"shadow": shadow_id})


def active_memories(tx: Tx, user_id: str, readers: Collection[str] = ()) -> list[ComparedMemory]:
    """Return the active memories of a user, oldest first. `readers`: the agents whose work a rebuild repeats."""
    rows = tx.execute(_STANDING, {"user": user_id, "readers": list(readers)}).all()
    cited = memories.evidence(tx, [row.id for row in rows])
    return [
        ComparedMemory(
            row.id,
            row.version,
            memories.candidate_of(row, cited.get(row.id, [])),
            row.group_id,
            row.level,
            row.by_hand,
            row.replayed,
            row.expired,
        )
        for row in rows
    ]


def rejected_statements(tx: Tx, user_id: str) -> set[str]:
    """Return the statements (`identity.statement_key`) that a person has archived or rejected."""
    return set(tx.execute(_PUT_AWAY, {"user": user_id}).scalars())


def difference(old: Sequence[ComparedMemory], new: Sequence[ComparedMemory], away: Collection[str] = ()) -> Contrast:
    """Match the two sets by statement, then by slot, then by evidence. Pure.

    A derived memory stays: it is derived again when its sources change. A memory that a person made or changed stays as
    it is, as does one that rests on messages that have left, and new statements about the same thing are not added to
    it. `away`: statements that a person has rejected; they are not restored.
    """
    pairs = _match(old, new)
    changed = [(o, n) for o, n in pairs if not o.is_fixed and _differs(o.candidate, n.candidate)]
    left, right = {o.id for o, _ in pairs}, {n.id for _, n in pairs}
    unmatched = [o for o in old if o.id not in left]
    gone = [o for o in unmatched if not o.is_fixed and o.level == 0]
    return Contrast(
        added=[n for n in new if n.id not in right and _statement(n)[0] not in away],
        gone=gone,
        changed=changed,
        same=len(pairs) - len(changed),
        kept=len(unmatched) - len(gone),
        expired=sum(o.expired for o in old),
    )


def _match(old: Sequence[ComparedMemory], new: Sequence[ComparedMemory]) -> list[tuple[ComparedMemory, ComparedMemory]]:
    pairs: list[tuple[ComparedMemory, ComparedMemory]] = []
    for keys in (_statement, _slot, _evidence_keys):
        taken = {s.id for pair in pairs for s in pair}
        free: Mapping[Any, list[ComparedMemory]] = _by_key([o for o in old if o.id not in taken], keys)
        for memory in (n for n in new if n.id not in taken):
            match = next(
                (o for key in _to_audience(memory, keys(memory)) for o in free.get(key, ()) if o.id not in taken), None
            )
            if match is not None:
                pairs.append((match, memory))
                taken |= {match.id, memory.id}
    return pairs


def _by_key(stands: Sequence[ComparedMemory], keys: Any) -> dict[Any, list[ComparedMemory]]:
    groups: dict[Any, list[ComparedMemory]] = {}
    for stand in stands:
        for key in _to_audience(stand, keys(stand)):
            groups.setdefault(key, []).append(stand)
    return groups


def _to_audience(stand: ComparedMemory, keys: Sequence[Any]) -> list[Any]:
    """Return match keys that hold for one audience: a rebuilt memory never takes the place of one with other labels."""
    return [(stand.candidate.audience_labels, key) for key in keys]


def _statement(stand: ComparedMemory) -> list[Any]:
    return [identity.statement_key(stand.candidate.subject, stand.candidate.content)]


def _slot(stand: ComparedMemory) -> list[Any]:
    c = stand.candidate
    return [(c.subject, c.attribute)] if c.attribute else []


def _evidence_keys(stand: ComparedMemory) -> list[Any]:
    """Return the evidence as match keys; of one message, memories with one category and subject match."""
    c = stand.candidate
    return [(e.session_id, e.message_id, c.subject, c.category) for e in c.evidence if c.attribute is None]


def _differs(candidate: Candidate, other: Candidate) -> bool:
    return any(getattr(candidate, name) != getattr(other, name) for name in COMPARED)


_OWN = text("SELECT salt, fade_formula, fade_under FROM tenants WHERE id = :tenant")

_OPEN = text("""
    INSERT INTO tenants (id, salt, fade_formula, fade_under) VALUES (:shadow, :salt, :fade_formula, :fade_under)
    ON CONFLICT DO NOTHING
""")

_BURY = inserting(tables.tombstones, ("hash", "at"), "ON CONFLICT DO NOTHING")

_BY_A_PERSON = """
    ((v.author->>'name' LIKE 'key:%' OR v.author->>'name' = 'file')
     AND NOT EXISTS (SELECT FROM rebuilds r WHERE r.id = v.change_id))
"""
"""A person who accepts a rebuild has not looked at each of its memories, so these can be rebuilt again."""

_STANDING = text(f"""
    SELECT m.*,
        m.pinned OR EXISTS (SELECT FROM memory_versions v WHERE v.memory_id = m.id AND {_BY_A_PERSON}) AS by_hand,
        EXISTS (
            SELECT FROM memory_versions v WHERE v.memory_id = m.id AND v.version = 1
            AND NOT jsonb_exists(v.author, 'import')
            AND (v.author->>'name' = ANY(:readers) OR v.change_id IN (SELECT id FROM rebuilds))) AS replayed,
        EXISTS (SELECT FROM evidence e WHERE e.memory_id = m.id AND e.expired) AS expired
    FROM memories m WHERE m.user_id = :user AND m.status = 'active' AND m.trust NOT IN ('rejected', 'quarantined')
    ORDER BY m.recorded_at, m.id
""")
"""Excludes what was restored from an archive: the log has no end of session for it."""

_PUT_AWAY = text(f"""
    SELECT m.statement_key FROM memories m JOIN memory_versions v ON v.memory_id = m.id AND v.version = m.version
    WHERE m.user_id = :user AND (m.status = 'archived' OR m.trust = 'rejected') AND v.change <> 'undo'
      AND {_BY_A_PERSON}
""")
