"""Version rows, citations, relations."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy import TextClause, text

from core.errors import Conflict
from core.events.publishing import Author
from core.memory import memories
from core.memory.changes import Link, Unlink
from core.memory.rows import MemoryRow
from core.storage.db import Tx, recordset, run_together
from core.storage.multiquery import BoundStatement
from core.types import Evidence, Json


@dataclass(frozen=True, slots=True)
class VersionEntry:
    """A memory's row after a change, the change's name, reason and id. `extra`: further fields of the snapshot."""

    row: MemoryRow
    change: str
    reason: str
    change_id: UUID
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Citation:
    """A piece of evidence for a memory, with the change that added it."""

    memory_id: UUID
    evidence: Evidence
    change_id: UUID


RowChange = tuple[Json, tuple[str, str, UUID]]
"""Values with a memory's `id`, and the change's name, its reason and its id."""


def change_one(tx: Tx, statement: TextClause, values: Json, step: tuple[str, str, UUID], author: Author) -> MemoryRow:
    """Run a statement on one memory and record its version; return the new row.

    `step`: the change's name, its reason and its id. Conflict: the memory has changed since it was judged.
    """
    row = tx.execute(statement, values).one_or_none()
    if row is None:
        raise Conflict(f"The memory to {step[0]} was changed while this was being judged.")
    record(tx, [VersionEntry(row, *step)], author)
    return row


def changing(statement: TextClause, changes: Sequence[RowChange]) -> BoundStatement | None:
    """Return the statement that changes several memories, each with values of its own; None: there are none."""
    return (statement, {"rows": recordset([values for values, _ in changes])}) if changes else None


def changed(
    answer: Sequence[MemoryRow], changes: Sequence[RowChange]
) -> tuple[dict[UUID, MemoryRow], list[VersionEntry]]:
    """Return the new rows by id, and the versions to record, by the answer to `changing`.

    Conflict: one has changed since it was judged, or was to be changed twice.
    """
    rows = {row.id: row for row in answer}
    if len(rows) < len(changes):
        raise Conflict(f"A memory to {changes[0][1][0]} was changed while this was being judged.")
    return rows, [VersionEntry(rows[values["id"]], *step) for values, step in changes]


def record(tx: Tx, steps: Sequence[VersionEntry], author: Author) -> None:
    """Store a version of each memory that a change has touched."""
    run_together(tx, recording(steps, author))


def recording(steps: Sequence[VersionEntry], author: Author) -> BoundStatement | None:
    """Return the statement by which `record` does it, to be run together with others; None: nothing was touched."""
    if not steps:
        return None
    snapshots = [memories.snapshot(step.row) | step.extra for step in steps]
    rows = [
        {
            "tenant_id": s["tenant_id"],
            "id": s["id"],
            "version": s["version"],
            "change": step.change,
            "reason": step.reason,
            "snapshot": s,
            "change_id": step.change_id,
        }
        for s, step in zip(snapshots, steps, strict=True)
    ]
    values = {
        "rows": recordset(rows),
        "author": json.dumps(author.as_json(), ensure_ascii=False),
        "dispatch": author.cause and author.cause.dispatch_id,
    }
    return _RECORD, values


def cite(tx: Tx, tenant_id: str, citations: Sequence[Citation]) -> None:
    """Store evidence; what a memory cites already stays as it is."""
    run_together(tx, citing(tenant_id, citations))


def citing(tenant_id: str, citations: Sequence[Citation]) -> BoundStatement | None:
    """Return the statement by which `cite` does it; None: there is no evidence."""
    if not citations:
        return None
    values = {
        "tenant": tenant_id,
        "memories": [c.memory_id for c in citations],
        "sessions": [c.evidence.session_id for c in citations],
        "messages": [c.evidence.message_id for c in citations],
        "events": [c.evidence.event_id for c in citations],
        "quotes": [c.evidence.quote for c in citations],
        "changes": [c.change_id for c in citations],
    }
    return _CITE, values


def cite_too(tx: Tx, tenant_id: str, keeper: UUID, others: Iterable[UUID], change_id: UUID) -> None:
    """Add the evidence of other memories to a memory's own."""
    values = {"tenant": tenant_id, "keeper": keeper, "others": list(others), "change": change_id}
    tx.execute(_CITE_TOO, values)


def link(tx: Tx, tenant_id: str, links: Sequence[Link]) -> None:
    """Store relations; existing ones get the strength that is given, and else stay as they are."""
    run_together(tx, *linking(tenant_id, links))


def linking(tenant_id: str, links: Sequence[Link]) -> list[BoundStatement]:
    """Return the statements by which `link` does it."""
    if not links:
        return []
    strengths = [1.0 if link.strength is None else link.strength for link in links]
    stored = (_LINK, _ends(links) | {"tenant": tenant_id, "strengths": strengths})
    weighed = [link for link in links if link.strength is not None]
    if not weighed:
        return [stored]
    return [stored, (_WEIGH, _ends(weighed) | {"strengths": [link.strength for link in weighed]})]


def unlink(tx: Tx, links: Sequence[Unlink]) -> None:
    """Remove relations; what is not there is left alone."""
    if links:
        tx.execute(_UNLINK, _ends(links))


def _ends(links: Sequence[Link | Unlink]) -> Json:
    return {
        "from": [link.from_id for link in links],
        "relations": [link.relation for link in links],
        "to": [link.to_id for link in links],
        "changes": [link.change_id for link in links],
    }


_RECORD = text("""
    INSERT INTO memory_versions (tenant_id, memory_id, version, change, reason, author, snapshot, dispatch_id,
                                 change_id)
    SELECT tenant_id, id, version, change, reason, cast(:author AS jsonb), snapshot, cast(:dispatch AS uuid),
           change_id
    FROM json_to_recordset(cast(:rows AS json)) AS v (
        tenant_id text, id uuid, version int, change text, reason text, snapshot jsonb, change_id uuid)
""")

_CITE = text("""
    INSERT INTO evidence (tenant_id, memory_id, session_id, message_id, event_id, quote, change_id)
    SELECT :tenant, * FROM unnest(cast(:memories AS uuid[]), cast(:sessions AS text[]), cast(:messages AS text[]),
                                  cast(:events AS text[]), cast(:quotes AS text[]), cast(:changes AS uuid[]))
    ON CONFLICT DO NOTHING
""")

_CITE_TOO = text("""
    INSERT INTO evidence (tenant_id, memory_id, session_id, message_id, event_id, quote, change_id)
    SELECT :tenant, :keeper, session_id, message_id, event_id, quote, cast(:change AS uuid)
    FROM evidence WHERE memory_id = ANY(:others)
    ON CONFLICT DO NOTHING
""")
"""The others keep their evidence, because an archived one may be restored."""

_LINK = text("""
    INSERT INTO relations (tenant_id, from_id, relation, to_id, change_id, strength)
    SELECT :tenant, * FROM unnest(cast(:from AS uuid[]), cast(:relations AS text[]), cast(:to AS uuid[]),
                                  cast(:changes AS uuid[]), cast(:strengths AS float8[]))
    ON CONFLICT DO NOTHING
""")

_NAMED = """
    FROM unnest(cast(:from AS uuid[]), cast(:relations AS text[]), cast(:to AS uuid[]), cast(:changes AS uuid[]){more})
         AS n (from_id, relation, to_id, change_id{named})
    WHERE r.from_id = n.from_id AND r.relation = n.relation AND r.to_id = n.to_id
"""

_WEIGH = text(f"""
    UPDATE relations r SET strength = n.strength, change_id = n.change_id
    {_NAMED.format(more=", cast(:strengths AS float8[])", named=", strength")} AND r.strength <> n.strength
""")
"""The latest change owns the relation, so that undoing it takes the relation back."""

_UNLINK = text(f"DELETE FROM relations r {_NAMED.format(more='', named='').replace('FROM', 'USING', 1)}")
