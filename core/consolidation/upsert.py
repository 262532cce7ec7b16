"""Create or update the memory that stands for one episode or skill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import text

from core.consolidation import pipeline
from core.consolidation.pipeline import Gateway
from core.events.publishing import Author
from core.memory import identity, versions, writer
from core.memory.changes import Add, Change, Confirm, Edit, Ignore, Merge, Owner, Replace, Use
from core.memory.versions import Citation
from core.storage.db import Tx
from core.types import Candidate, Json, Status, Trust

FOLLOWING: Final = ("content", "structured", "confidence", "occurred_at")
"""What of a memory is as the latest word on its thing has it; all else that people have set stays."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What keeping one thing changes, ready to be written."""

    tenant_id: str
    owner: Owner
    changes: Sequence[Change] = ()
    citations: Sequence[Citation] = ()

    def write(self, tx: Tx, author: Author) -> dict[str, int]:
        """Carry it out; how many changes of each kind. Conflict: the memory has been changed meanwhile."""
        counts = writer.apply(tx, self.tenant_id, self.owner, self.changes, author)
        versions.cite(tx, self.tenant_id, self.citations)
        return counts


def find(tx: Tx, owner: Owner, subject: str, attribute: str) -> Any | None:
    """The memory that stands for a thing, an active one before others; None: there is none."""
    values = {"user": owner.user_id, "group": owner.group_id, "subject": subject, "attribute": attribute}
    return tx.execute(_FIND, values).first()


def is_closed(row: Any) -> bool:
    """Whether someone has put the memory aside, so that it is not brought up to date again."""
    return row.status == Status.SUPERSEDED or row.trust in {Trust.REJECTED, Trust.QUARANTINED}


def keep(
    gate: Gateway, tenant_id: str, owner: Owner, candidate: Candidate, row: Any | None, reason: str, *, used: bool
) -> Kept:
    """What it takes to have the memory say what the candidate says; `row`: as it was found. Nothing is written yet.

    The text passes the gateway, which withholds secrets and quarantines what tries to instruct. `used`: it was of use.
    """
    change = _screened(gate, tenant_id, owner, candidate)
    if isinstance(change, Ignore):
        return Kept(tenant_id, owner, [change])
    wanted = _distinct(change, row)
    if wanted.attribute is None:
        return Kept(tenant_id, owner, [Ignore(wanted, "What it is called holds a secret.")])
    hostile = wanted.trust is Trust.QUARANTINED
    vector = None if hostile else gate.embedder.embed([wanted.content])[0]  # What is set apart is near to nothing.
    if row is None:
        return Kept(tenant_id, owner, [Add(wanted, reason, vector)])
    uses = [Use(row.id)] if used and not hostile else []
    fields = _differing(row, wanted)
    if not fields:
        return Kept(tenant_id, owner, uses)
    edit = Edit(row.id, row.version, fields, reason, vector if {"content", "occurred_at"} & fields.keys() else None)
    return Kept(tenant_id, owner, [edit, *uses], [Citation(row.id, e, edit.change_id) for e in wanted.evidence])


def _screened(
    gate: Gateway, tenant_id: str, owner: Owner, candidate: Candidate
) -> Add | Confirm | Merge | Replace | Ignore:
    """What the gateway makes of the candidate; it may be kept as the change holds it, whatever else is known."""
    judged = pipeline.judged(gate, tenant_id, owner, [candidate])
    return next(c for c in judged if isinstance(c, Add | Confirm | Merge | Replace | Ignore))


def _distinct(change: Add | Confirm | Merge | Replace, row: Any | None) -> Candidate:
    """The candidate in words that no other memory has: two conversations may have gone alike."""
    wanted, known = change.candidate, None if isinstance(change, Add) else change.known
    if known is None or (row is not None and known.id == row.id):
        return wanted
    mine, theirs = (identity.statement_key(one.subject, one.content) for one in (wanted, known))
    return replace(wanted, content=f"{wanted.content} ({wanted.value})") if mine == theirs else wanted


def _differing(row: Any, wanted: Candidate) -> Json:
    """The columns of a memory that have to change."""
    asked = {name: getattr(wanted, name) for name in FOLLOWING}
    if wanted.valid_from is not None:
        asked["valid_from"] = wanted.valid_from
    asked["importance"] = max(row.importance, wanted.importance)
    if wanted.trust is Trust.QUARANTINED:
        asked |= {"trust": wanted.trust.value, "importance": wanted.importance}
    fields = {name: value for name, value in asked.items() if getattr(row, name) != value}
    if fields and row.status == Status.ARCHIVED:
        fields["status"] = Status.ACTIVE.value
    return fields


_FIND = text("""
    SELECT * FROM memories
    WHERE user_id = :user AND group_id IS NOT DISTINCT FROM cast(:group AS text)
      AND subject = :subject AND attribute = :attribute AND status <> 'erased'
    ORDER BY status = 'active' DESC, id DESC LIMIT 1
""")
