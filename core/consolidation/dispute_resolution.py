"""Resolves a dispute between two memories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text
from uuid_utils.compat import uuid7

from core.consolidation import dispute_rules
from core.consolidation.dispute_rules import Ruling, Side
from core.events import publishing
from core.events.publishing import Author
from core.memory import announcements, memories, writer
from core.memory.changes import Change, Edit, Link, Owner
from core.memory.memories import MemoryVersion
from core.storage.db import Tx
from core.types import Evidence, Json, Relation, Status, Trust

PERSON_PREFIXES: Final = ("key:", "file", "mcp")
"""Prefixes of the names of authors that are people."""

CONTENT_CHANGES: Final = frozenset({"add", "edit", "replace"})
"""Changes that set the content of a memory."""


@dataclass(frozen=True, slots=True)
class ResolvedDispute:
    """A dispute with its ruling. `third`: the memory that holds is denied by another one, too."""

    tenant_id: str
    owner: Owner
    ruling: Ruling
    third: bool = False

    def write(self, tx: Tx, author: Author) -> Json:
        """Apply the ruling, and announce the superseded memory. Conflict: a side was changed in the meantime."""
        winner, loser = self.ruling.winner, self.ruling.loser
        if winner is None or loser is None:
            return self.ruling.as_json()
        change_id = uuid7()
        counts = writer.apply(tx, self.tenant_id, self.owner, self._changes(winner, loser, change_id), author)
        rows = memories.of_ids(tx, [winner.id, loser.id])
        payload = announcements.change_payload(
            rows[loser.id], self.ruling.reason, old=rows[loser.id], new=rows[winner.id]
        )
        payload["by"] = str(winner.id)
        publishing.publish(
            tx, self.tenant_id, author, [announcements.event_about(loser.id, "memory.superseded", payload)]
        )
        return {**self.ruling.as_json(), "change_id": str(change_id), **counts}

    def _changes(self, winner: Side, loser: Side, change_id: UUID) -> list[Change]:
        # The loser was true until the winner began to be or, if it was said after that, never.
        superseded = {"status": Status.SUPERSEDED.value, "valid_to": max(winner.since, loser.since)}
        lost = f"Gave way to memory {winner.id}. {self.ruling.reason}"
        won = f"Holds against memory {loser.id}. {self.ruling.reason}"
        trust = Trust.DISPUTED if self.third else Trust.CONFIRMED
        return [
            Edit(loser.id, loser.version, superseded, lost, change_id=change_id),
            Edit(winner.id, winner.version, {"trust": trust.value}, won, change_id=change_id),
            Link(winner.id, Relation.SUPERSEDES, loser.id, change_id),
        ]


def find(tx: Tx, memory_id: UUID, other: UUID, keep: UUID | None = None) -> ResolvedDispute | None:
    """Return the dispute between two memories with its ruling, for `keep` if given; None: they are in no dispute."""
    rows = memories.of_ids(tx, [memory_id, other])
    if len(rows) < len({memory_id, other}) or memory_id == other or not all(map(_is_disputed, rows.values())):
        return None
    evidence = memories.evidence(tx, [memory_id, other])
    side, other_side = (_side(rows[i], evidence.get(i, ()), memories.history(tx, i)) for i in (memory_id, other))
    ruling = dispute_rules.settle(side, other_side) if keep is None else dispute_rules.rule_for(side, other_side, keep)
    third = ruling.winner is not None and _is_denied_by_another(tx, ruling.winner.id, [memory_id, other])
    return ResolvedDispute(
        rows[memory_id].tenant_id, Owner(rows[memory_id].user_id, rows[memory_id].group_id), ruling, third
    )


def _side(row: Any, evidence: Sequence[Evidence], versions: Iterable[MemoryVersion]) -> Side:
    return Side(
        id=row.id,
        version=row.version,
        content=row.content,
        by_person=any(map(_is_persons, versions)),
        sources=len({e.session_id or e.event_id for e in evidence}),
        said_at=row.occurred_at,
        since=row.valid_from or row.occurred_at,
        confidence=row.confidence,
    )


def _is_persons(version: MemoryVersion) -> bool:
    """Return whether a person wrote this version, or asked to remember it: such a request is confirmed at once."""
    if version.change not in CONTENT_CHANGES:
        return False
    requested = version.version == 1 and version.snapshot.get("trust") == Trust.CONFIRMED
    return requested or str(version.author.get("name", "")).startswith(PERSON_PREFIXES)


def _is_disputed(row: Any) -> bool:
    return bool(row.status == Status.ACTIVE and row.trust == Trust.DISPUTED)


def _is_denied_by_another(tx: Tx, winner: UUID, sides: Sequence[UUID]) -> bool:
    return bool(tx.execute(_THIRD, {"winner": winner, "sides": list(sides)}).scalar_one())


_THIRD = text("""
    SELECT EXISTS (
        SELECT FROM relations r
        JOIN memories m ON m.id = CASE WHEN r.from_id = :winner THEN r.to_id ELSE r.from_id END
        WHERE (r.from_id = :winner OR r.to_id = :winner) AND r.relation = 'contradicts'
          AND m.id <> ALL(:sides) AND m.status = 'active' AND m.trust = 'disputed')
""")
