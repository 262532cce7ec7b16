"""Undoes a change.

An undo is a change itself: it writes versions, has an id of its own, and can be undone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import text
from uuid_utils.compat import uuid7

from core.errors import Conflict, Invalid, NotFound, Problem
from core.events import publishing
from core.events.log import Emission
from core.events.publishing import Author
from core.inference.embedders import Embedder
from core.inference.sound_vectors import embed_sound
from core.memory import announcements, memories, retention, updates, verdicts, versions, writer
from core.memory.changes import Add, Owner, Vector
from core.memory.rows import MemoryRow
from core.storage.db import Database, Tx
from core.types import Candidate, Json, Status, Trust
from core.undo import dispute_trust, field_reversal, provenance
from core.undo.field_reversal import HistoryStep
from core.undo.provenance import Provenance

KEEPABLE = frozenset({"confirm", "merge"})
"""Verdicts that took a statement in, which can be kept as a memory of its own when they are undone."""

WORDED = frozenset({"content", "occurred_at"})
"""Fields stored in the search index."""


@dataclass(frozen=True, slots=True)
class Move:
    """Effect on one memory: the row that was read, and the fields to revert.

    `created`: the change had created it. `overtaken`: the change had set fields, and others have set all of them since.
    `content`: text to index again, or None. `withdrawn` and `returned`: rows that the undone undo had removed and
    restored.
    """

    row: MemoryRow
    fields: Json
    created: bool
    overtaken: bool
    content: str | None
    withdrawn: Provenance
    returned: Provenance


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """Everything an undo will write, read from the database.

    `chain`: the change and, if it is an undo itself, what it has undone, back to the first. `keeper`: the memory that
    had absorbed another statement, if that is undone. `kept`: a statement that becomes a memory of its own.
    """

    tenant_id: str
    change_id: UUID
    change_name: str
    owner: Owner
    moves: Sequence[Move]
    chain: Sequence[UUID]
    keeper: UUID | None
    kept: Candidate | None

    @property
    def texts(self) -> list[str]:
        """Texts to embed for `write`, in the order in which it expects the vectors."""
        return [*(m.content for m in self.moves if m.content is not None), *([self.kept.content] if self.kept else [])]


@dataclass(frozen=True, slots=True)
class Undone:
    """Result of an undo: its own change, and the memories it touched."""

    change_id: UUID
    undoes: UUID
    memory_ids: Sequence[UUID]


def carry_out(
    db: Database,
    embedder: Embedder,
    tenant_id: str,
    change_id: UUID,
    author: Author,
    *,
    reason: str = "",
    keep: bool = False,
) -> Undone:
    """Undo a change: plan, embed, write; no transaction is open while embedding."""
    planned = plan(db, tenant_id, change_id, keep=keep)
    vectors = embed_sound(embedder, planned.texts) if planned.texts else np.empty((0, 0), dtype=np.float32)
    with db.tenant(tenant_id) as tx:
        return write(tx, planned, vectors, author, reason)


def plan(db: Database, tenant_id: str, change_id: UUID, *, keep: bool = False) -> UndoPlan:
    """Plan the undo of a change. `keep`: what a confirmation or merge absorbed becomes a memory of its own.

    NotFound: there is no such change. Conflict: it was undone already, or changed again. Invalid: it has nothing to
    keep.
    """
    with db.tenant(tenant_id) as tx:
        verdict = verdicts.find_one(tx, change_id)
        steps = _steps(tx, change_id)
        ids = _touched_ids(tx, change_id, verdict, steps)
        _refuse_undone(tx, change_id, verdict, ids)
        rows = _rows(tx, ids)
        indexed = set(tx.execute(_INDEXED, {"refs": [str(memory_id) for memory_id in ids]}).scalars())
        stays = field_reversal.stays(steps, change_id)
        moves = [_move(row, steps.get(row.id, ()), change_id, indexed, stays=row.id in stays) for row in rows]
        moves = _with_free_slots(tx, moves)
        chain = _chain(tx, change_id, verdict)
        moves = _with_trust(tx, chain, moves)
    return UndoPlan(
        tenant_id,
        change_id,
        _change_name(verdict, steps, change_id),
        Owner(verdict.user_id, verdict.group_id) if verdict else Owner(rows[0].user_id, rows[0].group_id),
        moves,
        chain,
        verdict.memory_id if verdict and verdict.kind in KEEPABLE else None,
        _kept_candidate(verdict, keep=keep),
    )


def write(tx: Tx, plan: UndoPlan, vectors: NDArray[np.float32], author: Author, reason: str = "") -> Undone:
    """Carry out a plan with the vectors of its texts.

    Conflict: a memory was changed in the meantime, or its place is taken.
    """
    change_id, remark = uuid7(), f"Undo of {plan.change_name}: {reason}" if reason else f"Undo of {plan.change_name}."
    for user in sorted({plan.owner.user_id, *(m.row.user_id or "" for m in plan.moves)}):
        writer.lock(tx, plan.tenant_id, user)
    verdicts.mark_undone(tx, plan.chain, change_id)
    rows = [_revert_fields(tx, move) for move in plan.moves]
    taken, given = _revert_provenance(tx, plan)
    if not (taken or given or plan.kept or any(m.fields for m in plan.moves)) and any(m.overtaken for m in plan.moves):
        raise Conflict("Everything that this change wrote has been changed again since; nothing is left to undo.")
    updates.refuse_collisions(tx, [r.id for r, m in zip(rows, plan.moves, strict=True) if _claims(r, m)])
    steps = [versions.VersionEntry(row, "undo", remark, change_id, _restorable(row.id, taken, given)) for row in rows]
    versions.record(tx, steps, author)
    _index(tx, plan, rows, vectors)
    retention.plan(tx, plan.tenant_id, {*(row.id for row in rows), *taken.ends(), *given.ends()})
    publishing.publish(
        tx, plan.tenant_id, author, [_event_of_undo(r, m, remark) for r, m in zip(rows, plan.moves, strict=True)]
    )
    added = _add_kept(tx, plan, vectors, author, remark, change_id)
    undone = Undone(change_id, plan.change_id, [*(row.id for row in rows), *added])
    verdicts.record_undo(tx, plan.tenant_id, _verdict(plan, undone, remark), author)
    return undone


def last_of(tx: Tx, memory_id: UUID, version: int | None = None) -> UUID:
    """Return the latest change of a memory that has not been undone, or the one that made a version.

    Conflict: there is none. Invalid: the memory has no such version.
    """
    memories.get(tx, memory_id)
    history = memories.history(tx, memory_id)
    if version is not None:
        entry = next((entry for entry in history if entry.version == version), None)
        if entry is None:
            raise Invalid(
                [Problem("/version", f"Must be between 1 and {history[-1].version}; see the memory's /history.")]
            )
        history = [entry]
    undone = set() if version else verdicts.undone_of(tx, [v.change_id for v in history if v.change == "undo"])
    for step in reversed(history):
        if step.change_id and step.change_id not in undone and (version or step.change != "undo"):
            return step.change_id
    raise Conflict("No change of this memory is left to undo.")


def _steps(tx: Tx, change_id: UUID) -> dict[UUID, list[HistoryStep]]:
    """Return the versions of each memory that a change has touched, from the one before it on."""
    steps_by_memory: defaultdict[UUID, list[HistoryStep]] = defaultdict(list)
    for row in tx.execute(_STEPS, {"id": change_id}):
        steps_by_memory[row.memory_id].append(HistoryStep(row.version, row.change, row.change_id, row.snapshot))
    return steps_by_memory


def _touched_ids(tx: Tx, change_id: UUID, verdict: Any, steps: Mapping[UUID, Sequence[HistoryStep]]) -> list[UUID]:
    about = (verdict.memory_id, verdict.other_id if verdict.kind == "contradict" else None) if verdict else ()
    ids = {*steps, *(memory_id for memory_id in about if memory_id)}
    if not ids and verdict is None:
        ids = {end for row in tx.execute(_LINKED, {"id": change_id}) for end in row}
        if not ids:
            raise NotFound(f"There is no change {change_id} in this tenant.")
    return sorted(ids)


def _refuse_undone(tx: Tx, change_id: UUID, verdict: Any, ids: Sequence[UUID]) -> None:
    by = verdict.undone_by if verdict else verdicts.undo_of(tx, change_id, ids)
    if by is not None:
        raise Conflict(f"This was undone already, by change {by}. Undo that change to restore it.")


def _rows(tx: Tx, ids: Sequence[UUID]) -> list[MemoryRow]:
    rows_by_id = memories.of_ids(tx, ids)
    if len(rows_by_id) < len(ids) or any(row.status == Status.ERASED for row in rows_by_id.values()):
        raise Conflict("A memory that this change wrote has been erased since; erased memories cannot be restored.")
    return [rows_by_id[memory_id] for memory_id in ids]


def _with_free_slots(tx: Tx, moves: Sequence[Move]) -> list[Move]:
    """Let a memory whose ending is undone leave its slot to the active memory that fills it now."""
    ended = (move for move in moves if move.row.status == Status.SUPERSEDED)
    back = [move.row.id for move in ended if move.fields.get("status") == Status.ACTIVE]
    taken = updates.slots_taken(tx, back)
    freed = {"attribute": None, "value": None}
    return [replace(move, fields=move.fields | freed) if move.row.id in taken else move for move in moves]


def _move(
    row: MemoryRow, steps: Sequence[HistoryStep], change_id: UUID, indexed: set[str], *, stays: bool = False
) -> Move:
    fields = {} if stays else field_reversal.fields_to_revert(row, steps, change_id)
    comes_back = fields.get("status") == Status.ACTIVE
    expires = fields.get("expires_at", row.expires_at)
    if comes_back and expires is not None and expires <= memories.now():
        fields["expires_at"] = None
    anew = bool(WORDED & fields.keys()) or (comes_back and str(row.id) not in indexed)
    mine = [step.snapshot for step in steps if step.change_id == change_id]
    return Move(
        row,
        fields,
        field_reversal.is_created_by(steps, change_id),
        not fields and field_reversal.said_something(steps, change_id),
        str(fields.get("content", row.content)) if anew else None,
        Provenance.of(mine, "withdrawn"),
        Provenance.of(mine, "returned"),
    )


def _with_trust(tx: Tx, chain: Sequence[UUID], moves: Sequence[Move]) -> list[Move]:
    contradictions = dispute_trust.read_contradictions(tx, [m.row.id for m in moves], chain)
    given = provenance.merge(m.withdrawn for m in moves)
    return [replace(m, fields=dispute_trust.with_trust(m.row, m.fields, contradictions, given)) for m in moves]


def _chain(tx: Tx, change_id: UUID, verdict: Any) -> list[UUID]:
    chain = [change_id]
    while verdict is not None and verdict.kind == "undo":
        chain.append(UUID(verdict.candidate["undoes"]))
        verdict = verdicts.find_one(tx, chain[-1])
    return chain


def _change_name(verdict: Any, steps: Mapping[UUID, Sequence[HistoryStep]], change_id: UUID) -> str:
    """Name what is undone, for the reason of the undo."""
    made = (step.change for several in steps.values() for step in several if step.change_id == change_id)
    return str(verdict.kind) if verdict else next(made, "link")


def _kept_candidate(verdict: Any, *, keep: bool) -> Candidate | None:
    """Return the candidate to keep as a memory of its own, or None."""
    kind = verdict.kind if verdict else None
    if keep and kind not in KEEPABLE:
        raise Invalid([Problem("/keep", "Only a statement absorbed by a confirmation or merge can be kept.")])
    if kind != "ignore" and (not keep or verdict.other_id is not None):
        return None
    if not verdict.candidate.get("content"):
        raise Conflict("The statement was not stored, so it cannot be added.")
    candidate = verdicts.candidate_of(verdict.candidate)
    if candidate.trust is Trust.QUARANTINED:
        raise Conflict("The statement was quarantined before; review its memory.")
    return replace(candidate, trust=Trust.CONFIRMED)


def _revert_fields(tx: Tx, move: Move) -> MemoryRow:
    """Revert fields; return the new row. Conflict: the memory is no longer as it was read."""
    fields = dict(move.fields)
    if fields.get("status") == Status.ACTIVE:
        fields["last_used_at"] = memories.now()  # Otherwise it would have faded already, and go with the next sweep.
    return updates.write_fields(tx, move.row, fields)


def _revert_provenance(tx: Tx, plan: UndoPlan) -> tuple[Provenance, Provenance]:
    """Withdraw evidence and relations that the change had added, and restore what it had removed; return both."""
    ids = [m.row.id for m in plan.moves]
    resting = [m.row.id for m in plan.moves if not m.created]
    returned = provenance.merge(m.returned for m in plan.moves)
    withdrawn = provenance.merge(m.withdrawn for m in plan.moves)
    taken = provenance.withdraw(tx, plan.chain, ids, resting, returned)
    return taken, provenance.restore(tx, plan.tenant_id, withdrawn)


def _claims(row: MemoryRow, move: Move) -> bool:
    """Return whether the undo changes what an active memory says, so that it may collide with another."""
    return row.status == Status.ACTIVE and bool(updates.CLAIMING & move.fields.keys())


def _restorable(memory_id: UUID, taken: Provenance, given: Provenance) -> Json:
    """Evidence and relations of a memory that an undo of this undo will need."""
    extra = {"withdrawn": taken.of_memory(memory_id), "returned": given.of_memory(memory_id)}
    return {name: part for name, part in extra.items() if part}


def _index(tx: Tx, plan: UndoPlan, rows: Sequence[MemoryRow], vectors: NDArray[np.float32]) -> None:
    made = iter(vectors)
    for row, move in zip(rows, plan.moves, strict=True):
        if move.content is not None:
            updates.replace_index_entry(tx, plan.tenant_id, row, next(made))


def _add_kept(
    tx: Tx, plan: UndoPlan, vectors: NDArray[np.float32], author: Author, reason: str, change_id: UUID
) -> list[UUID]:
    """Add the kept candidate. Conflict: another active memory says the same, or fills its slot."""
    if plan.kept is None:
        return []
    vector: Vector = vectors[-1]
    add = Add(plan.kept, reason, vector, change_id=change_id)
    try:
        writer.apply(tx, plan.tenant_id, plan.owner, [add], author)
    except Conflict:
        raise Conflict(
            "Another active memory makes the same statement or fills the same slot; change it first."
        ) from None
    return [add.id]


def _event_of_undo(row: MemoryRow, move: Move, reason: str) -> Emission:
    now_active, was_active = row.status == Status.ACTIVE, move.row.status == Status.ACTIVE
    if now_active and not was_active:
        return announcements.of_change(row, "memory.restored", reason, new=row)
    if was_active and row.status == Status.ARCHIVED:
        return announcements.of_change(row, "memory.archived", reason, old=move.row)
    return announcements.of_update(row, "undo", reason, old=move.row)


def _verdict(plan: UndoPlan, undone: Undone, reason: str) -> Json:
    """Describe the undo as a verdict. `apart`: memories that the deduplication sweep must not merge with the first."""
    first = plan.keeper or undone.memory_ids[0]
    others = [memory_id for memory_id in undone.memory_ids if memory_id != first]
    apart = [str(memory_id) for memory_id in others] if plan.keeper else []
    return {
        "id": undone.change_id,
        "user_id": plan.owner.user_id,
        "group_id": plan.owner.group_id,
        "kind": "undo",
        "reason": reason,
        "candidate": {"undoes": str(plan.change_id), "apart": apart},
        "memory_id": first,
        "other_id": others[0] if others else None,
    }


_STEPS = text("""
    WITH mine AS (
        SELECT memory_id, min(version) AS first FROM memory_versions WHERE change_id = :id GROUP BY memory_id
    )
    SELECT v.memory_id, v.version, v.change, v.change_id, v.snapshot FROM mine
    JOIN memory_versions v ON v.memory_id = mine.memory_id AND v.version >= mine.first - 1
    ORDER BY v.memory_id, v.version
""")

_LINKED = text("SELECT from_id, to_id FROM relations WHERE change_id = :id")
"""A relation that was made by itself has no version that would lead to it."""

_INDEXED = text("SELECT ref FROM search_index WHERE type = 'memory' AND session_id = '' AND ref = ANY(:refs)")
