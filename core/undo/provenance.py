"""Withdraws and restores evidence and relations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text

from core.storage import tables
from core.storage.db import Tx, inserting, recordset
from core.types import Json


@dataclass(frozen=True, slots=True)
class Provenance:
    """Rows of `evidence` and `relations`, as plain JSON."""

    evidence: Sequence[Json] = ()
    relations: Sequence[Json] = ()

    @classmethod
    def of(cls, snapshots: Iterable[Json], name: str) -> Provenance:
        """Collect what versions of a memory have stored under a name."""
        return merge(cls(**kept) for snapshot in snapshots if (kept := snapshot.get(name)))

    def of_memory(self, memory_id: UUID) -> Json:
        """Return the rows of one memory as JSON; a relation belongs to the memory that it starts from."""
        kept = {
            "evidence": [row for row in self.evidence if row["memory_id"] == str(memory_id)],
            "relations": [row for row in self.relations if row["from_id"] == str(memory_id)],
        }
        return {name: rows for name, rows in kept.items() if rows}

    def __bool__(self) -> bool:
        return bool(self.evidence or self.relations)

    def ends(self) -> set[UUID]:
        """Return the ids of memories at either end of these relations."""
        return {UUID(relation[end]) for relation in self.relations for end in ("from_id", "to_id")}


def merge(several: Iterable[Provenance]) -> Provenance:
    """Merge several into one."""
    kept = list(several)
    return Provenance(
        [e for provenance in kept for e in provenance.evidence],
        [r for provenance in kept for r in provenance.relations],
    )


def withdraw(
    tx: Tx, chain: Sequence[UUID], ids: Sequence[UUID], resting: Sequence[UUID], returned: Provenance
) -> Provenance:
    """Remove what the first change of the chain gave to memories, and what it `returned`; return what was removed.

    Evidence only of the `resting` memories: one that the change created keeps its evidence. Rows that another valid
    verdict cites as well stay, as that verdict's.
    """
    values = {
        "change": chain[0],
        "chain": list(chain),
        "ids": list(ids),
        "resting": list(resting),
        "evidence": recordset(returned.evidence),
        "relations": recordset(returned.relations),
    }
    evidence = [row.kept for row in tx.execute(_UNCITE, values)]
    tx.execute(_HAND_ON, values)
    return Provenance(evidence, [row.kept for row in tx.execute(_UNLINK, values)])


def restore(tx: Tx, tenant_id: str, withdrawn: Provenance) -> Provenance:
    """Re-insert withdrawn rows; return those that did not exist in the meantime."""
    evidence = {"tenant": tenant_id, "rows": recordset(withdrawn.evidence)}
    relations = {"tenant": tenant_id, "rows": recordset(withdrawn.relations)}
    return Provenance(
        [row.kept for row in tx.execute(_CITE_AGAIN, evidence)] if withdrawn.evidence else [],
        [row.kept for row in tx.execute(_LINK_AGAIN, relations)] if withdrawn.relations else [],
    )


_GIVEN = """
    e.memory_id = ANY(:resting) AND (e.change_id = :change OR (e.memory_id, e.session_id, e.message_id) IN (
        SELECT memory_id, session_id, message_id
        FROM json_to_recordset(cast(:evidence AS json)) AS r (memory_id uuid, session_id text, message_id text)))
"""

_CITES = """
    v.memory_id = e.memory_id AND v.id <> ALL(:chain) AND v.undone_by IS NULL
    AND v.kind IN ('confirm', 'merge', 'replace')
    AND (v.candidate -> 'evidence' @> jsonb_build_array(
             jsonb_build_object('session_id', e.session_id, 'message_id', e.message_id))
         OR EXISTS (
             SELECT FROM relations r
             JOIN evidence o ON o.memory_id = r.to_id AND o.session_id = e.session_id AND o.message_id = e.message_id
             WHERE r.from_id = e.memory_id AND r.relation = 'derived_from' AND r.change_id = v.id))
"""
"""Condition that another valid verdict cites a row: its candidate, or a memory merged in."""

_UNCITE = text(f"""
    DELETE FROM evidence e WHERE {_GIVEN} AND NOT EXISTS (SELECT FROM verdicts v WHERE {_CITES})
    RETURNING to_jsonb(e) - 'tenant_id' AS kept
""")

_HAND_ON = text(f"""
    UPDATE evidence e SET change_id = (SELECT v.id FROM verdicts v WHERE {_CITES} ORDER BY v.id LIMIT 1)
    WHERE {_GIVEN} AND EXISTS (SELECT FROM verdicts v WHERE {_CITES})
""")

_UNLINK = text("""
    DELETE FROM relations l WHERE (l.from_id, l.relation, l.to_id) IN (
        SELECT from_id, relation, to_id FROM relations WHERE change_id = :change AND from_id = ANY(:ids)
        UNION SELECT from_id, relation, to_id
        FROM json_to_recordset(cast(:relations AS json)) AS r (from_id uuid, relation text, to_id uuid))
    RETURNING to_jsonb(l) - 'tenant_id' AS kept
""")
"""Every relation starts from a memory that its change has touched."""

_CITE_AGAIN = inserting(
    tables.evidence,
    "memory_id session_id message_id event_id quote at change_id".split(),
    "ON CONFLICT DO NOTHING RETURNING to_jsonb(evidence) - 'tenant_id' AS kept",
)

_LINK_AGAIN = text("""
    INSERT INTO relations AS l (tenant_id, from_id, relation, to_id, at, change_id, strength)
    SELECT :tenant, from_id, relation, to_id, at, change_id, coalesce(strength, 1)
    FROM json_to_recordset(cast(:rows AS json)) AS r (
        from_id uuid, relation text, to_id uuid, at timestamptz, change_id uuid, strength float8)
    ON CONFLICT DO NOTHING RETURNING to_jsonb(l) - 'tenant_id' AS kept
""")
