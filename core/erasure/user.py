"""Erases a user."""

from __future__ import annotations

import json
import secrets
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from core.config import Settings
from core.erasure import memory, runner
from core.erasure.memory import Erased
from core.erasure.steps import GONE, ErasurePart
from core.errors import Conflict
from core.events import publishing
from core.events.log import Emission
from core.events.publishing import Author
from core.index import removal
from core.memory import memories, tombstones
from core.memory.rows import MemoryRow
from core.mirror import export
from core.statements import comparison
from core.storage.db import Tx
from core.types import Category, Json

ERASED: Final = "user.erased"

ROUNDS: Final = 5
"""Attempts to lock all sessions of the user while new ones are opened."""


@dataclass(frozen=True, slots=True)
class _QuotingMemory:
    """Another user's memory that cites the user, with its quotes that are erased and those that stay."""

    row: MemoryRow
    erased: Sequence[str]
    remaining: Sequence[str]


def erase(
    tx: Tx, tenant_id: str, user_id: str, author: Author, settings: Settings, *, rehearsal: bool = False
) -> Erased:
    """Erase a user in this transaction, and the files of their mirror. What they say afterwards is stored as new.

    If nothing is stored of the user, nothing is counted. `rehearsal`: the files are counted and stay, for a caller that
    rolls the transaction back. Conflict: they kept writing in the meantime.
    """
    alone, shared = _locked_sessions(tx, user_id)
    others = tx.execute(_OWNERS, {"user": user_id, "shared": shared}).scalars()
    owners = runner.lock_owners(tx, tenant_id, [user_id, *others])
    values = _bound_values(tx, user_id, alone, shared)
    forget = export.count_files if rehearsal else export.forget_user
    mirror = forget(settings, tenant_id, user_id)
    counts = Counter({"mirror_files": int(mirror["files"])}) + _erase_from_others(tx, tenant_id, values, owners, author)
    runner.restart_running(tx, but=values["seqs"])
    shared_messages = [(row.session_id, row.id, row.position) for row in tx.execute(_SHARED_MESSAGES, values)]
    counts += runner.run(tx, tenant_id, ErasurePart.USER, values)
    if counts:
        tx.execute(_NOTE_ALL)
    removal.weigh_anew(tx, shared_messages)
    laid = tombstones.lay_user(tx, tenant_id, user_id)
    done = Erased(user_id, counts=counts, tombstones=laid, sessions=[*alone, *shared])
    forget_names(tx, tenant_id)
    if done.counts:
        publishing.publish(tx, tenant_id, author, [Emission(ERASED, {"user_id": user_id}, subject=f"user:{user_id}")])
    return done


def forget_names(tx: Tx, tenant_id: str) -> int:
    """Remove the names of erased users from `user.erased` events whose consequences have ended; return how many."""
    rows = tx.execute(_NAMED, {"erased": ERASED}).all()
    values = {"seqs": [row.seq for row in rows], "keys": [f"user:{row.user_id}" for row in rows]}
    runner.run(tx, tenant_id, ErasurePart.NAMES, values)
    return len(rows)


def rests_on(content: str, subject: str, erased: Sequence[str], remaining: Sequence[str]) -> bool:
    """Return whether a statement has words that are only in the erased quotes, not in those that stay. Pure."""
    taken, stays = (
        frozenset(w for quote in quotes for w in comparison.read(quote).words) for quotes in (erased, remaining)
    )
    own = frozenset(comparison.read(content).words) - frozenset(comparison.read(subject).words)
    return not remaining or not own.isdisjoint(taken - stays)


def _locked_sessions(tx: Tx, user_id: str) -> tuple[list[str], list[str]]:
    """Lock the user's sessions; return those in which they spoke alone, and those with others.

    Nobody can add messages to these or move their cursors afterwards. They are locked before the owners, in the order
    in which an extraction takes the locks.
    """
    locked: set[str] = set()
    for _ in range(ROUNDS):
        rows = tx.execute(_SESSIONS, {"user": user_id}).all()
        if locked.issuperset(row.id for row in rows):
            return [row.id for row in rows if not row.shared], [row.id for row in rows if row.shared]
        locked.update(row.id for row in rows)
        tx.execute(_LOCK, {"ids": sorted(locked)})
    raise Conflict("The user keeps opening sessions. Stop the services that write for this user, then erase again.")


def _bound_values(tx: Tx, user_id: str, alone: Sequence[str], shared: Sequence[str]) -> dict[str, Any]:
    """Return the values bound in the steps. The log is read last, so that its events concern locked sessions only."""
    spoken = {"user": user_id, "alone": alone, "shared": shared, "erased": ERASED}
    rows = tx.execute(_EVENTS, spoken).all()
    for hold in (_HOLD_EVENTS, _HOLD_DISPATCHES):
        tx.execute(hold, {"seqs": sorted(row.seq for row in rows)})
    more = tx.execute(
        _EVENTS, spoken
    ).all()  # Dispatches that were running when the events were locked have been written by now.
    return {
        **spoken,
        "seqs": [row.seq for row in more],
        "events": [row.id for row in more],
        "pepper": secrets.token_hex(),
        "spelt": sorted({json.dumps(user_id), json.dumps(user_id, ensure_ascii=False)}),
    }


def _erase_from_others(tx: Tx, tenant_id: str, values: Json, owners: frozenset[str], author: Author) -> Counter[str]:
    """Erase other users' memories that rest on the user's words alone; the others lose their quotes of the user."""
    quoted = _quoting_memories(tx, values)
    going: defaultdict[str, list[UUID]] = defaultdict(list)
    staying = []
    for one in quoted:
        drawn = one.row.level > 0 or one.row.category == Category.EPISODE
        if drawn or rests_on(one.row.content, one.row.subject, one.erased, one.remaining):
            going[one.row.user_id].append(one.row.id)
        else:
            staying.append(one)
    if not owners.issuperset(row.row.user_id for row in quoted):
        raise Conflict("A memory was derived from the user in the meantime. Erase again.")
    counts: Counter[str] = Counter()
    for owner, ids in going.items():
        found = memory.delete_memories(tx, tenant_id, owner, ids)
        memory.publish_erased(tx, tenant_id, ids[0], Erased(owner, ids), author)
        counts += found
    counts["memory_versions"] += _blank_versions(tx, staying)
    return counts


def _quoting_memories(tx: Tx, values: Json) -> list[_QuotingMemory]:
    quotes: defaultdict[UUID, list[Any]] = defaultdict(list)
    for row in tx.execute(_QUOTES, values):
        quotes[row.memory_id].append(row)
    return [
        _QuotingMemory(row, [q.quote for q in quoted if q.gone], [q.quote for q in quoted if q.quote and not q.gone])
        for row in memories.of_ids(tx, sorted(quotes)).values()
        for quoted in [quotes[row.id]]
    ]


def _blank_versions(tx: Tx, staying: Sequence[_QuotingMemory]) -> int:
    """Blank earlier versions that rested on the user's words, and what undos had removed from these memories."""
    by_id = {one.row.id: one for one in staying}
    blanked = []
    for row in tx.execute(_VERSIONS, {"ids": list(by_id)}):
        one = by_id[row.memory_id]
        if row.content is not None and rests_on(row.content, one.row.subject, one.erased, one.remaining):
            blanked.append({"memory_id": row.memory_id, "version": row.version})
    tx.execute(_UNGROUND, {"ids": list(by_id)})
    return tx.execute(_BLANK, {"rows": json.dumps(blanked, default=str), "gone": GONE}).rowcount


_SESSIONS = text("""
    WITH mine AS (
        SELECT session_id AS id FROM messages WHERE user_id = :user
        UNION SELECT id FROM sessions WHERE user_id = :user
    )
    SELECT mine.id, CASE WHEN EXISTS (SELECT FROM messages m WHERE m.session_id = mine.id)
        THEN EXISTS (SELECT FROM messages m WHERE m.session_id = mine.id AND m.user_id NOT IN (:user, ''))
        ELSE EXISTS (SELECT FROM events e WHERE e.session_id = mine.id AND e.user_id NOT IN (:user, '')) END AS shared
    FROM mine ORDER BY mine.id COLLATE "C"
""")
"""The empty user id stands for users erased before: a session with nobody else is deleted. Whose messages have left is
known from their events alone.
"""

_LOCK = text('SELECT FROM sessions WHERE id = ANY(:ids) ORDER BY id COLLATE "C" FOR UPDATE')

_CITED = """
    SELECT e.memory_id FROM messages m
    JOIN evidence e ON e.session_id = m.session_id AND e.message_id = m.id WHERE m.user_id = :user
    UNION
    SELECT r.from_id FROM relations r JOIN memories part ON part.id = r.to_id
    WHERE r.relation = 'derived_from' AND part.user_id = :user
    UNION
    SELECT e.memory_id FROM evidence e JOIN memories told ON told.id = e.memory_id
    WHERE e.session_id = ANY(:shared) AND told.category = 'episode'
"""
"""Memories that quote the user, were derived from the user's, or retell a conversation with the user."""

_OWNERS = text(f"""
    SELECT DISTINCT m.user_id FROM memories m WHERE m.user_id <> :user AND m.id IN ({_CITED})
""")

_QUOTES = text(f"""
    SELECT o.id AS memory_id, e.quote,
           (m.user_id IS NOT NULL OR e.session_id = '' AND e.event_id = ANY(:events)) AS gone
    FROM memories o LEFT JOIN evidence e ON e.memory_id = o.id
    LEFT JOIN messages m ON m.session_id = e.session_id AND m.id = e.message_id AND m.user_id = :user
    WHERE o.user_id <> :user AND o.id IN ({_CITED})
""")

_EVENTS = text("""
    WITH RECURSIVE own AS (
        SELECT e.seq, e.id FROM events e
        WHERE e.event_type <> :erased AND (e.session_id = ANY(:alone) OR e.user_id = :user)
          AND (e.session_id IS NULL OR e.session_id = ANY(:alone) OR e.session_id = ANY(:shared) OR NOT EXISTS (
                  SELECT FROM messages m WHERE m.session_id = e.session_id AND m.event_seq = e.seq))
        UNION
        SELECT e.seq, e.id FROM own JOIN events e ON e.causation_id = own.id
        WHERE e.user_id IS NULL OR e.user_id = :user
    )
    SELECT seq, id FROM own ORDER BY seq
""")
"""One pass over the log, then along causation: events that follow from the user's and name nobody belong to the user.
The message of a session opened after the locks were taken is excluded, and so is its event.
"""

_HOLD_EVENTS = text("""
    SELECT count(*) FROM (SELECT FROM events WHERE seq = ANY(cast(:seqs AS bigint[])) ORDER BY seq FOR UPDATE) AS held
""")
"""Waits for routers that are deciding on these events."""

_HOLD_DISPATCHES = text("""
    SELECT count(*) FROM (
        SELECT FROM dispatches WHERE event_seq = ANY(cast(:seqs AS bigint[])) ORDER BY id FOR UPDATE) AS held
""")
"""Waits for workers that are finishing dispatches of these events."""

_SHARED_MESSAGES = text("""
    SELECT session_id, id, position FROM messages WHERE session_id = ANY(:shared) AND user_id = :user
""")

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

_NAMED = text("""
    SELECT e.seq, e.user_id FROM events e
    WHERE e.event_type = :erased AND e.user_id IS NOT NULL AND e.routed_at IS NOT NULL AND NOT EXISTS (
        SELECT FROM dispatches d WHERE d.event_seq = e.seq AND d.ended_at IS NULL)
""")

_NOTE_ALL = text("""
    INSERT INTO search_changes (tenant_id, owner, at, type, session_id, ref)
    SELECT current_setting('imprint.tenant'), '', pg_current_xact_id()::text::bigint, 'message', '', ''
    ON CONFLICT DO NOTHING
""")
"""Names no owner: every process reloads all cached rows, including those of the user, who may come back."""
