"""Creates or updates the memory of one episode or skill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import text

from core.consolidation import pipeline
from core.consolidation.pipeline import Consolidation
from core.events.publishing import Author
from core.inference.sound_vectors import embed_sound
from core.memory import identity, versions, writer
from core.memory.changes import Add, Change, Confirm, Edit, Ignore, Merge, Owner, Replace, Use
from core.memory.versions import Citation
from core.storage.db import Tx
from core.types import Candidate, Json, Status, Trust

FOLLOWING_FIELDS: Final = ("content", "structured", "confidence", "occurred_at")
"""Fields that follow the candidate; others may have been set by people and stay."""


@dataclass(frozen=True, slots=True)
class PendingUpsert:
    """Changes that create or update a memory; not written yet."""

    tenant_id: str
    owner: Owner
    changes: Sequence[Change] = ()
    citations: Sequence[Citation] = ()

    def write(self, tx: Tx, author: Author) -> dict[str, int]:
        """Apply the changes; return how many of each kind. Conflict: the memory was changed in the meantime."""
        counts = writer.apply(tx, self.tenant_id, self.owner, self.changes, author)
        versions.cite(tx, self.tenant_id, self.citations)
        return counts


def find(tx: Tx, owner: Owner, subject: str, attribute: str) -> Any | None:
    """Return the memory of an episode or skill, preferably an active one; None: there is none."""
    values = {"user": owner.user_id, "group": owner.group_id, "subject": subject, "attribute": attribute}
    return tx.execute(_FIND, values).first()


def is_closed(row: Any) -> bool:
    """Return whether someone has superseded, rejected or quarantined the memory, so that it is not updated."""
    return row.status == Status.SUPERSEDED or row.trust in {Trust.REJECTED, Trust.QUARANTINED}


def upsert(
    consolidation: Consolidation,
    tenant_id: str,
    owner: Owner,
    candidate: Candidate,
    row: Any | None,
    reason: str,
    *,
    used: bool,
) -> PendingUpsert:
    """Return the changes that make the memory say what the candidate says; `row`: the memory as it was found.

    The consolidation removes secrets and quarantines instructions. `used`: count a use.
    """
    change = _screen(consolidation, tenant_id, owner, candidate)
    if isinstance(change, Ignore):
        return PendingUpsert(tenant_id, owner, [change])
    distinct = _with_distinct_words(change, row)
    if distinct.attribute is None:
        return PendingUpsert(tenant_id, owner, [Ignore(distinct, "Its name holds a secret.")])
    hostile = distinct.trust is Trust.QUARANTINED
    vector = (
        None if hostile else embed_sound(consolidation.embedder, [distinct.content])[0]
    )  # A quarantined memory has no vector.
    if row is None:
        return PendingUpsert(tenant_id, owner, [Add(distinct, reason, vector)])
    uses = [Use(row.id)] if used and not hostile else []
    fields = _changed_fields(row, distinct)
    if not fields:
        return PendingUpsert(tenant_id, owner, uses)
    edit = Edit(row.id, row.version, fields, reason, vector if {"content", "occurred_at"} & fields.keys() else None)
    return PendingUpsert(
        tenant_id, owner, [edit, *uses], [Citation(row.id, e, edit.change_id) for e in distinct.evidence]
    )


def _screen(
    consolidation: Consolidation, tenant_id: str, owner: Owner, candidate: Candidate
) -> Add | Confirm | Merge | Replace | Ignore:
    """Return the change that the consolidation makes of the candidate, which holds its screened form."""
    judged = pipeline.consolidate(consolidation, tenant_id, owner, [candidate])
    return next(c for c in judged if isinstance(c, Add | Confirm | Merge | Replace | Ignore))


def _with_distinct_words(change: Add | Confirm | Merge | Replace, row: Any | None) -> Candidate:
    """Return the candidate in words that no other memory has: two conversations may be alike."""
    candidate, known = change.candidate, None if isinstance(change, Add) else change.known
    if known is None or (row is not None and known.id == row.id):
        return candidate
    key, known_key = (identity.statement_key(statement.subject, statement.content) for statement in (candidate, known))
    return replace(candidate, content=f"{candidate.content} ({candidate.value})") if key == known_key else candidate


def _changed_fields(row: Any, candidate: Candidate) -> Json:
    """Return the columns that change, with their values."""
    values = {name: getattr(candidate, name) for name in FOLLOWING_FIELDS}
    if candidate.valid_from is not None:
        values["valid_from"] = candidate.valid_from
    values["importance"] = max(row.importance, candidate.importance)
    if candidate.trust is Trust.QUARANTINED:
        values |= {"trust": candidate.trust.value, "importance": candidate.importance}
    fields = {name: value for name, value in values.items() if getattr(row, name) != value}
    if fields and row.status == Status.ARCHIVED:
        fields["status"] = Status.ACTIVE.value
    return fields


_FIND = text("""
    SELECT * FROM memories
    WHERE user_id = :user AND group_id IS NOT DISTINCT FROM cast(:group AS text)
      AND subject = :subject AND attribute = :attribute AND status <> 'erased'
    ORDER BY status = 'active' DESC, id DESC LIMIT 1
""")
