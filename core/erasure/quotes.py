"""Erases quotes of what is erased from the memories of others, and the memories that rest on these quotes."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import text

from core.erasure import memory
from core.erasure.memory import Erased
from core.erasure.steps import GONE
from core.errors import Conflict
from core.events.publishing import Author
from core.memory import memories
from core.memory.rows import MemoryRow
from core.statements import comparison
from core.storage.db import Tx
from core.types import Category


@dataclass(frozen=True, slots=True)
class _QuotingMemory:
    """A memory that cites what is erased, with its quotes that are erased and those that stay."""

    row: MemoryRow
    erased: Sequence[str]
    remaining: Sequence[str]


def erase(tx: Tx, tenant_id: str, evidence: Iterable[Any], owners: frozenset[str], author: Author) -> Counter[str]:
    """Erase memories that rest on erased words alone; the others lose their quotes of them.

    `evidence`: that of the memories, by `memory_id` with `quote` and whether it is `gone`. Conflict: one belongs to a
    user whose memories are not locked.
    """
    quoting = _quoting_memories(tx, evidence)
    going: defaultdict[str, list[UUID]] = defaultdict(list)
    staying = []
    for quoted in quoting:
        drawn = quoted.row.level > 0 or quoted.row.category == Category.EPISODE
        if drawn or rests_on(quoted.row.content, quoted.row.subject, quoted.erased, quoted.remaining):
            going[quoted.row.user_id].append(quoted.row.id)
        else:
            staying.append(quoted)
    if not owners.issuperset(quoted.row.user_id for quoted in quoting):
        raise Conflict("A memory was derived from what is erased in the meantime. Erase again.")
    counts: Counter[str] = Counter()
    for owner, ids in going.items():
        counts += memory.delete_memories(tx, tenant_id, owner, ids)
        memory.publish_erased(tx, tenant_id, ids[0], Erased(owner, ids), author)
    counts["memory_versions"] += _blank_versions(tx, staying)
    return counts


def rests_on(content: str, subject: str, erased: Sequence[str], remaining: Sequence[str]) -> bool:
    """Return whether a statement has words that are only in the erased quotes, not in those that stay. Pure."""
    taken, stays = (
        frozenset(w for quote in quotes for w in comparison.read(quote).words) for quotes in (erased, remaining)
    )
    own = frozenset(comparison.read(content).words) - frozenset(comparison.read(subject).words)
    return not remaining or not own.isdisjoint(taken - stays)


def _quoting_memories(tx: Tx, evidence: Iterable[Any]) -> list[_QuotingMemory]:
    quotes: defaultdict[UUID, list[Any]] = defaultdict(list)
    for row in evidence:
        quotes[row.memory_id].append(row)
    return [
        _QuotingMemory(row, [q.quote for q in quoted if q.gone], [q.quote for q in quoted if q.quote and not q.gone])
        for row in memories.of_ids(tx, sorted(quotes)).values()
        for quoted in [quotes[row.id]]
    ]


def _blank_versions(tx: Tx, staying: Sequence[_QuotingMemory]) -> int:
    """Blank earlier versions that rested on the erased words, and what undos had removed from these memories."""
    by_id = {quoted.row.id: quoted for quoted in staying}
    blanked = []
    for row in tx.execute(_VERSIONS, {"ids": list(by_id)}):
        quoted = by_id[row.memory_id]
        if row.content is not None and rests_on(row.content, quoted.row.subject, quoted.erased, quoted.remaining):
            blanked.append({"memory_id": row.memory_id, "version": row.version})
    tx.execute(_UNGROUND, {"ids": list(by_id)})
    return tx.execute(_BLANK, {"rows": json.dumps(blanked, default=str), "gone": GONE}).rowcount


_VERSIONS = text("""
    SELECT memory_id, version, snapshot ->> 'content' AS content FROM memory_versions WHERE memory_id = ANY(:ids)
""")

_UNGROUND = text("""
    UPDATE memory_versions SET snapshot = snapshot - 'withdrawn' - 'returned'
    WHERE memory_id = ANY(:ids) AND (jsonb_exists(snapshot, 'withdrawn') OR jsonb_exists(snapshot, 'returned'))
""")

_BLANK = text("""
    UPDATE memory_versions v SET reason = :gone, snapshot = v.snapshot || '{"content": "", "structured": {}}'
    FROM json_to_recordset(cast(:rows AS json)) AS b (memory_id uuid, version int)
    WHERE v.memory_id = b.memory_id AND v.version = b.version
""")
