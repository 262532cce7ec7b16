"""Merge requested by a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal
from uuid import UUID

from uuid_utils.compat import uuid7

from core.consolidation import judge
from core.errors import Invalid, NotFound, Problem
from core.events.publishing import Author
from core.inference.embedders import Embedder
from core.inference.sound_vectors import embed_sound
from core.memory import by_hand, memories, updates, writer
from core.memory.changes import Merge, Owner, Vector
from core.screening import screen
from core.statements import succession
from core.storage.db import Database, Tx
from core.types import Status, Trust

MOST_MERGED = 20
"""Memories merged by one request, at most."""

REASON: Final = "Merged by hand."
"""Reason in the history where the person gives none."""


@dataclass(frozen=True, slots=True)
class ManualMerge:
    """The memory that remains, the change, and the judge's objections."""

    memory_id: UUID
    absorbed: Sequence[UUID]
    change_id: UUID
    warnings: Sequence[str]


def merge(
    db: Database,
    embedder: Embedder,
    tenant_id: str,
    ids: Sequence[UUID],
    author: Author,
    *,
    content: str | None = None,
    reason: str | None = None,
    secrets: Literal["redact", "refuse"] = "redact",
    versions: Mapping[UUID, int] | None = None,
) -> ManualMerge:
    """Merge memories into the first, which keeps its id and its content (or gets `content`), with the evidence of all.

    They form one change, which one undo reverts. `secrets`: treatment of secrets in `content`. `versions`: those that
    the author has seen. Invalid: the memories belong to several users, one cannot be merged, or `content` cannot be
    stored. Conflict: one is at another version.
    """
    prepared = prepare(db, embedder, tenant_id, ids, content=content, reason=reason, secrets=secrets, versions=versions)
    with db.tenant(tenant_id) as tx:
        write(tx, tenant_id, prepared, author)
    keeper, *others = prepared.rows
    return ManualMerge(keeper.id, [row.id for row in others], prepared.change_id, warnings(keeper, others))


@dataclass(frozen=True, slots=True)
class PreparedMerge:
    """A merge that is decided, and not written yet: the memories as they were read, and the changes."""

    rows: Sequence[Any]
    merges: Sequence[Merge]
    change_id: UUID
    reworded: bool


def prepare(
    db: Database,
    embedder: Embedder,
    tenant_id: str,
    ids: Sequence[UUID],
    *,
    content: str | None = None,
    reason: str | None = None,
    secrets: Literal["redact", "refuse"] = "redact",
    versions: Mapping[UUID, int] | None = None,
) -> PreparedMerge:
    """Return the changes of a merge (`merge`), with the vector of its wording. Refuses what that refuses."""
    content = screened(content, secrets) if content else None
    with db.tenant(tenant_id) as tx:
        rows = _rows(tx, ids, versions)
    change_id = uuid7()
    vector = embed_sound(embedder, [content])[0] if content else None
    changes = merges(rows[0], rows[1:], reason or REASON, change_id, content, vector)
    return PreparedMerge(rows, changes, change_id, reworded=bool(content))


def write(tx: Tx, tenant_id: str, prepared: PreparedMerge, author: Author) -> dict[str, int]:
    """Write a merge; return how many changes there were of each kind. Conflict: a memory was changed concurrently."""
    keeper = prepared.rows[0]
    counts = writer.apply(tx, tenant_id, Owner(keeper.user_id, keeper.group_id), prepared.merges, author)
    updates.refuse_collisions(tx, [keeper.id] if prepared.reworded else [])
    return counts


def merges(
    keeper: Any, others: Sequence[Any], reason: str, change_id: UUID, content: str | None, vector: Vector | None
) -> list[Merge]:
    """Return the changes that merge memories into the first; `content` with its `vector` becomes its wording."""
    changes = [_merge_one(keeper, row, reason, change_id) for row in others]
    if content:
        reworded = replace(changes[-1].candidate, content=content)
        changes[-1] = replace(changes[-1], candidate=reworded, vector=vector)
    return changes


def objections(tx: Tx, ids: Sequence[UUID], versions: Mapping[UUID, int] | None = None) -> list[str]:
    """Return why the judge would not merge these memories. Invalid, NotFound, Conflict: they cannot be merged."""
    rows = _rows(tx, ids, versions)
    return warnings(rows[0], rows[1:])


def warnings(keeper: Any, others: Sequence[Any]) -> list[str]:
    """Return why the judge would not have merged these memories into the first, one sentence each."""
    reasons = []
    for row in others:
        why = judge.conflict_between(row.content, keeper.content)
        if why:
            reasons.append(f"Memory {row.id} says something else than the one that stays: {why}.")
        if row.attribute and _slot(row) != _slot(keeper):
            reasons.append(f"Memory {row.id} held {row.attribute} = {row.value}, which no active memory holds now.")
        elif row.subject != keeper.subject:
            reasons.append(f"Memory {row.id} is about {row.subject}, the one that stays is about {keeper.subject}.")
    return reasons


def refusals(rows: Sequence[Any]) -> Iterator[tuple[int, str]]:
    """Yield the position of each memory that cannot be merged into the first of them, and why."""
    for position, row in enumerate(rows):
        if row.user_id != rows[0].user_id:
            yield position, "Belongs to another user than the first; merge within one user."
        elif row.group_id != rows[0].group_id:
            yield position, "Was said in another group than the first; merge within one group."
        elif row.audience_labels != rows[0].audience_labels:
            yield position, "Has other audience labels than the first; edit those."
        elif row.status != Status.ACTIVE or row.trust in {Trust.REJECTED, Trust.QUARANTINED}:
            yield position, f"Is {row.status} and {row.trust}; restore or confirm it first."


def detail_at(position: int) -> str:
    """Return what a merge does with the memory at a position of its list, as the rows of requests and jobs say it."""
    return "Absorbed by the first." if position else "Kept, with the evidence of all."


def screened(content: str, secrets: str) -> str:
    """Return the words without secrets. Invalid: secrets are refused, or the words instruct the reader."""
    result = screen.screen(content)
    if result.hostile or (result.secret and secrets == "refuse"):
        why = "; ".join(finding.detail for finding in result.findings)
        raise Invalid([Problem("/content", f"may not be kept ({why}); put it into other words")])
    return result.text


def _slot(row: Any) -> tuple[str, str | None, str]:
    return row.subject, row.attribute, succession.normal_value(row.value)


def _rows(tx: Tx, ids: Sequence[UUID], versions: Mapping[UUID, int] | None) -> list[Any]:
    """Return the memories in the order given, after checking each."""
    problems = [
        Problem(f"/ids/{index}", "Occurs earlier in the list.")
        for index, memory_id in enumerate(ids)
        if memory_id in ids[:index]
    ]
    if problems:
        raise Invalid(problems)
    rows_by_id = memories.of_ids(tx, ids)
    missing = [str(memory_id) for memory_id in ids if memory_id not in rows_by_id]
    if missing:
        raise NotFound(f"There is no memory {missing[0]} in this tenant.")
    seen = versions or {}
    rows = [by_hand.require_version(rows_by_id[memory_id], seen.get(memory_id)) for memory_id in ids]
    if problems := [Problem(f"/ids/{index}", why) for index, why in refusals(rows)]:
        raise Invalid(problems)
    return rows


def _merge_one(keeper: Any, row: Any, reason: str, change_id: UUID) -> Merge:
    """Merge one memory into the keeper, which keeps its wording."""
    candidate = replace(memories.candidate_of(row), subject=keeper.subject)
    return Merge(memories.known_of(keeper), candidate, reason, absorbs=memories.known_of(row), change_id=change_id)
