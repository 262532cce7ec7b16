"""Conflicts: memories of one owner that deny each other, directly or through others, and what a person decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy import text
from uuid_utils.compat import uuid7

from core.consolidation import manual_merge
from core.consolidation.manual_merge import PreparedMerge
from core.errors import Conflict, Invalid, NotFound, Problem
from core.events import publishing
from core.events.publishing import Author
from core.memory import announcements, memories, writer
from core.memory.changes import Change, Edit, Link, Owner, Vector
from core.memory.rows import MemoryRow
from core.storage.db import Tx
from core.types import Json, Relation, Status, Trust

MOST: Final = 20
"""Memories of one conflict that are read: as many as one merge takes."""

LOOKED: Final = 500
"""Disputed memories among which one page looks for conflicts."""

CITED: Final = 5
"""Messages that are shown for each memory."""

Choice = Literal["keep", "keep_all", "merge", "reject"]


@dataclass(frozen=True, slots=True)
class MemoryConflict:
    """Disputed memories, newest first; the first one names the conflict. `pairs`: which denies which, why, since when.

    A memory without an opponent is left: what it denied or was denied by is not active any more.
    """

    ids: Sequence[UUID]
    pairs: Sequence[Any]

    @property
    def id(self) -> UUID:
        return self.ids[0]


@dataclass(frozen=True, slots=True)
class ConflictResolution:
    """The change that a decision made, and the memories of the conflict, newest first."""

    change_id: UUID
    ids: Sequence[UUID]


@dataclass(frozen=True, slots=True)
class ConflictDecision:
    """Decision of a person. `keep`: the id of the memory that holds, or into which all are merged.

    `content`: wording of a merge. `periods`: when each one held, for `keep_all`. `versions`: those the person has seen.
    """

    choice: Choice
    keep: UUID | None = None
    content: str | None = None
    reason: str = ""
    periods: Mapping[UUID, tuple[datetime | None, datetime | None]] = field(default_factory=dict)
    versions: Mapping[UUID, int] = field(default_factory=dict)


def find(tx: Tx, *, after: UUID | None = None, limit: int = 50) -> tuple[list[MemoryConflict], UUID | None]:
    """Return conflicts, newest first, and where to go on; a page may be short and yet not be the last."""
    rows = tx.execute(_PAGE, {"after": after, "looked": LOOKED, "most": MOST}).all()
    conflicts: list[MemoryConflict] = []
    for row in rows:
        if row.ids[0] == row.id:
            conflicts.append(_with_pairs(tx, row.ids))
        if len(conflicts) == limit:
            return conflicts, row.id
    return conflicts, rows[-1].id if len(rows) == LOOKED else None


def of_memory(tx: Tx, memory_id: UUID) -> MemoryConflict:
    """Return the conflict of which a memory is part. NotFound: it is in none."""
    ids = tx.execute(_ONE, {"id": memory_id, "most": MOST}).scalar_one()
    if not ids:
        raise NotFound(f"Memory {memory_id} is in no conflict: it is not disputed, or not active.")
    return _with_pairs(tx, ids)


def cited(tx: Tx, ids: Sequence[UUID]) -> Mapping[UUID, list[Any]]:
    """Return by memory the messages that it rests on, the latest first: who said what and when."""
    messages: dict[UUID, list[Any]] = {memory_id: [] for memory_id in ids}
    for row in tx.execute(_CITED, {"ids": list(ids), "most": CITED}):
        messages[row.memory_id].append(row)
    return messages


def resolve(
    tx: Tx, tenant_id: str, memory_id: UUID, decided: ConflictDecision, vector: Vector | None, author: Author
) -> ConflictResolution:
    """Carry out what a person decides about a conflict, as one change.

    `vector`: of the wording of a merge. NotFound: the memory is in no conflict. Conflict: a memory was changed since.
    Invalid: the decision does not fit the conflict.
    """
    row = memories.get(tx, memory_id)
    owner = Owner(row.user_id, row.group_id)
    writer.lock(tx, tenant_id, str(owner.user_id))
    # Only now: whoever held the lock may have decided about it.
    conflict = of_memory(tx, memory_id)
    rows = memories.of_ids(tx, conflict.ids)
    _require_seen(rows, decided)
    change_id = uuid7()
    plan = _ConflictPlan(tx, conflict, rows, decided, change_id)
    if decided.choice == "merge":
        _merge(tx, tenant_id, plan, vector, author)
    else:
        writer.apply(tx, tenant_id, owner, list(plan.changes()), author)
    _announce(tx, tenant_id, plan, author)
    return ConflictResolution(change_id, conflict.ids)


def problems(decided: ConflictDecision) -> Iterator[Problem]:
    """Yield what is wrong with a decision as such."""
    if decided.choice in {"keep", "merge"} and decided.keep is None:
        yield Problem("/keep", f"say which memory stays: `{decided.choice}` needs the id of one of them")
    if decided.choice in {"keep_all", "reject"} and decided.keep is not None:
        yield Problem("/keep", f"belongs to the choices `keep` and `merge`, not to `{decided.choice}`")
    if decided.content is not None and decided.choice != "merge":
        yield Problem("/content", "belongs to the choice `merge`")
    if decided.periods and decided.choice != "keep_all":
        yield Problem("/periods", "belongs to the choice `keep_all`")
    for memory_id, (begin, end) in decided.periods.items():
        if begin is not None and end is not None and begin >= end:
            yield Problem(f"/periods/{memory_id}/valid_to", "must come after `valid_from`")


@dataclass(frozen=True, slots=True)
class _ConflictPlan:
    """Changes that a decision means for the memories of a conflict."""

    tx: Tx
    conflict: MemoryConflict
    rows: Mapping[UUID, MemoryRow]
    decided: ConflictDecision
    change_id: UUID

    @property
    def keep(self) -> MemoryRow:
        if self.decided.keep is None or self.decided.keep not in self.rows:
            raise Invalid([Problem("/keep", f"is not in this conflict; its memories are {self._named()}")])
        return self.rows[self.decided.keep]

    @property
    def losers(self) -> list[MemoryRow]:
        """Return the memories that the kept one denies or is denied by."""
        if self.decided.choice != "keep":
            return []
        kept = self.keep.id
        denied = {
            p.to_id if p.from_id == kept else p.from_id for p in self.conflict.pairs if kept in (p.from_id, p.to_id)
        }
        return [self.rows[memory_id] for memory_id in self.conflict.ids if memory_id in denied]

    def changes(self) -> Iterator[Change]:
        if unknown := set(self.decided.periods) - self.rows.keys():
            raise Invalid([Problem(f"/periods/{min(unknown)}", "is not in this conflict")])
        if self.decided.choice == "keep":
            yield from self._keep_one()
        elif self.decided.choice == "keep_all":
            yield from self._keep_all()
        else:
            for row in self.rows.values():
                yield self._edit(row, {"trust": Trust.REJECTED.value}, "Rejected with what it denied.")

    def _keep_one(self) -> Iterator[Change]:
        kept, losers = self.keep, self.losers
        lost = {row.id for row in losers}
        for row in losers:
            until = max(kept.valid_from or kept.occurred_at, row.valid_from or row.occurred_at)
            fields = {"status": Status.SUPERSEDED.value, "valid_to": until}
            yield self._edit(row, fields, f"Gave way to memory {kept.id}.")
            yield Link(kept.id, Relation.SUPERSEDES, row.id, self.change_id)
        yield self._edit(kept, {"trust": Trust.CONFIRMED.value}, "Someone has decided to keep it.")
        for row in self.rows.values():
            if row.id not in lost | {kept.id} and not self._is_still_denied(row.id, lost):
                yield self._edit(row, {"trust": self._earlier_trust(row.id)}, "What denied it gave way.")

    def _keep_all(self) -> Iterator[Change]:
        for row in self.rows.values():
            begin, end = self.decided.periods.get(row.id, (None, None))
            times = {name: at for name, at in (("valid_from", begin), ("valid_to", end)) if at is not None}
            yield self._edit(
                row, {"trust": Trust.CONFIRMED.value, **times}, "Someone has decided that all of them hold."
            )

    def _is_still_denied(self, memory_id: UUID, lost: set[UUID]) -> bool:
        return any(memory_id in (p.from_id, p.to_id) and not lost & {p.from_id, p.to_id} for p in self.conflict.pairs)

    def _earlier_trust(self, memory_id: UUID) -> str:
        """Return the trust of a memory before it was disputed."""
        trust = self.tx.execute(_BEFORE, {"id": memory_id}).scalar()
        return str(trust) if trust else Trust.CANDIDATE.value

    def _edit(self, row: MemoryRow, fields: Json, why: str) -> Edit:
        reason = f"{why} {self.decided.reason}".strip()
        return Edit(row.id, row.version, fields, reason, change_id=self.change_id)

    def _named(self) -> str:
        return ", ".join(map(str, self.conflict.ids))


def _merge(tx: Tx, tenant_id: str, plan: _ConflictPlan, vector: Vector | None, author: Author) -> None:
    """Merge all of them into the kept one, which is confirmed: nothing denies it any more."""
    kept, content = plan.keep, plan.decided.content
    rows = [kept, *(row for row in plan.rows.values() if row.id != kept.id)]
    if len(rows) == 1:
        raise Invalid([Problem("/choice", "there is nothing to merge with; choose `keep_all` or `reject`")])
    if problems := [Problem("/choice", f"memory {rows[at].id}: {why}") for at, why in manual_merge.refusals(rows)]:
        raise Invalid(problems)
    reason = f"{manual_merge.REASON} {plan.decided.reason}".strip()
    merges = manual_merge.merges(kept, rows[1:], reason, plan.change_id, content, vector)
    manual_merge.write(tx, tenant_id, PreparedMerge(rows, merges, plan.change_id, reworded=bool(content)), author)
    merged = memories.get(tx, kept.id)
    confirmed = Edit(merged.id, merged.version, {"trust": Trust.CONFIRMED.value}, reason, change_id=plan.change_id)
    writer.apply(tx, tenant_id, Owner(kept.user_id, kept.group_id), [confirmed], author)


def _announce(tx: Tx, tenant_id: str, plan: _ConflictPlan, author: Author) -> None:
    """Announce the memories that gave way."""
    if not plan.losers:
        return
    rows = memories.of_ids(tx, plan.conflict.ids)
    events = []
    for row in plan.losers:
        reason = f"Someone has decided to keep memory {plan.keep.id}. {plan.decided.reason}".strip()
        payload = announcements.change_payload(rows[row.id], reason, old=rows[row.id], new=rows[plan.keep.id])
        announced = payload | {"by": str(plan.keep.id)}
        events.append(announcements.event_about(row.id, "memory.superseded", announced))
    publishing.publish(tx, tenant_id, author, events)


def _require_seen(rows: Mapping[UUID, MemoryRow], decided: ConflictDecision) -> None:
    """Refuse a decision about other memories, or other versions of them, than the person has seen. Conflict."""
    if decided.versions and decided.versions.keys() != rows.keys():
        raise Conflict("Other memories are in this conflict now. Look at it again.")
    for memory_id, version in decided.versions.items():
        if rows[memory_id].version != version:
            raise Conflict(
                f"Memory {memory_id} is at version {rows[memory_id].version} now, not {version}. Look again."
            )


def _with_pairs(tx: Tx, ids: Sequence[UUID]) -> MemoryConflict:
    return MemoryConflict(ids, tx.execute(_PAIRS, {"ids": list(ids)}).all())


_MEMBERS: Final = """
    WITH RECURSIVE members AS (
        SELECT m.id FROM memories m WHERE m.id = {first} AND m.status = 'active' AND m.trust = 'disputed'
        UNION
        SELECT o.id FROM members
        CROSS JOIN LATERAL (
            SELECT r.to_id AS id FROM relations r WHERE r.from_id = members.id AND r.relation = 'contradicts'
            UNION ALL
            SELECT r.from_id FROM relations r WHERE r.to_id = members.id AND r.relation = 'contradicts'
        ) AS other
        JOIN memories o ON o.id = other.id AND o.status = 'active' AND o.trust = 'disputed'
    )
    SELECT array_agg(id ORDER BY id DESC) AS ids FROM (SELECT id FROM members LIMIT :most) AS bounded
"""

_PAGE = text(f"""
    SELECT d.id, found.ids
    FROM (SELECT id FROM memories WHERE status = 'active' AND trust = 'disputed'
            AND (cast(:after AS uuid) IS NULL OR id < :after)
          ORDER BY id DESC LIMIT :looked) AS d
    CROSS JOIN LATERAL ({_MEMBERS.format(first="d.id")}) AS found
    ORDER BY d.id DESC
""")

_ONE = text(_MEMBERS.format(first=":id"))

_PAIRS = text("""
    SELECT r.from_id, r.to_id, r.at, r.change_id, v.reason
    FROM relations r LEFT JOIN verdicts v ON v.tenant_id = r.tenant_id AND v.id = r.change_id
    WHERE r.relation = 'contradicts' AND r.from_id = ANY(:ids) AND r.to_id = ANY(:ids)
    ORDER BY r.at, r.from_id, r.to_id
""")

_CITED = text("""
    SELECT ids.id AS memory_id, cited.* FROM unnest(cast(:ids AS uuid[])) AS ids (id)
    CROSS JOIN LATERAL (
        SELECT e.session_id, e.message_id, e.event_id, e.quote, coalesce(m.occurred_at, e.at) AS at,
               m.role, m.speaker, m.user_id
        FROM evidence e
        LEFT JOIN messages m ON m.tenant_id = e.tenant_id AND m.session_id = e.session_id AND m.id = e.message_id
        WHERE e.memory_id = ids.id ORDER BY coalesce(m.occurred_at, e.at) DESC LIMIT :most
    ) AS cited
""")

_BEFORE = text("""
    SELECT snapshot ->> 'trust' FROM memory_versions
    WHERE memory_id = :id AND snapshot ->> 'trust' IN ('candidate', 'confirmed') ORDER BY version DESC LIMIT 1
""")
