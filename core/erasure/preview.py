"""Counts what erasing a user or a group would change, where carrying it out and taking it back would take too long.

The rows are those of the steps (`core.erasure.steps`), read by the same indexes and up to a ceiling. What depends on
steps before is left out, and so are memories of others that rest on what is erased: a count says that there are at
least so many rows.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import text

from core.config import Settings
from core.erasure import group, memory, names
from core.erasure.memory import Erased
from core.erasure.steps import STEPS, ErasurePart, ErasureStep
from core.mirror import export
from core.storage.db import Tx
from core.storage.tables import BESIDE_MEMORY

SMALL: Final = 2_000
"""Rows that are erased and taken back within a page's time; of more, each table is counted by itself."""

LOOKED_AT: Final = 20_000
"""Rows that a rehearsal may look at without erasing them: verdicts of those who spoke with a user, open flows,
dispatches that list several sessions.
"""

MOST: Final = 2_000
"""Rows of a table that are counted; there may be more."""

SUMMED: Final = frozenset({"messages", "sessions"})
"""Tables of which each step has other rows; of the others the step with the most rows counts."""

OF_OTHERS: Final = (ErasurePart.MEMORIES, ErasurePart.EVENTS)
"""Parts erased with memories of others that quote what goes; these memories are not counted."""

_BOUND: Final = re.compile(r"(?<!:):(\w+)")


def of_user(tx: Tx, tenant_id: str, user_id: str, settings: Settings) -> Erased | None:
    """Count what erasing a user would change; None: it is little enough to be rehearsed, which is exact."""
    tx.execute(_BY_INDEX)
    name = {"user": user_id}
    if _is_little(tx, _SIZE_OF_USER, name) and _is_seen_soon(tx, name):
        return None
    session_rows = tx.execute(_SESSIONS_OF_USER, {**name, "most": MOST + 1}).all()
    values, partial = _values(name, session_rows, [row.id for row in session_rows if row.shared])
    _add_events(tx, _EVENTS_OF_USER, values)
    values |= {"spelt": names.in_json(user_id), "near": [], "cited": [], "groups": []}
    counts, more = _counted(tx, [ErasurePart.USER], values, partial | {"near", "cited", "groups"})
    counts["mirror_files"] = int(export.count_files(settings, tenant_id, user_id)["files"])
    return Erased(user_id, counts=+counts, sessions=[row.id for row in session_rows[:MOST]], at_least=more)


def of_group(tx: Tx, group_id: str) -> Erased | None:
    """Count what erasing a group would change; None: it is little enough to be rehearsed, which is exact."""
    tx.execute(_BY_INDEX)
    name = group.naming(group_id)
    if _is_little(tx, _SIZE_OF_GROUP, name):
        return None
    session_rows = tx.execute(_SESSIONS_OF_GROUP, {**name, "most": MOST + 1}).all()
    near = _within(session_rows, MOST)
    messages = group.divide_sessions(tx, group_id, near)
    ids = list(tx.execute(_MEMORIES_OF_GROUP, {**name, "most": MOST + 1}).scalars())
    owners = list(tx.execute(_USERS_OF_GROUP, {**messages.values(), "ids": ids}).scalars())
    values: dict[str, Any] = {**name, **messages.values(), "owners": owners, "most": MOST + 1}
    values |= memory.named(ids) | {"spelt": group.spelt(group_id), "changes": [], "ignored": []}
    _add_events(tx, _EVENTS_OF_GROUP, values)
    partial = {"alone", "shared", "sessions", "messages", "seqs", "events", "owners", "ids", "refs", "changes"}
    counts, more = _counted(tx, [ErasurePart.MEMORIES, ErasurePart.GROUP], values, partial)
    sessions = [row.id for row in session_rows[:MOST]]
    return Erased("", counts=+counts, sessions=sessions, group_id=group_id, owners=owners, at_least=[*more, "users"])


def _is_little(tx: Tx, size: Any, name: Mapping[str, Any]) -> bool:
    """Return whether so little is held that a rehearsal ends within a page's time."""
    values = {**name, "most": SMALL + 1, "looked_at": LOOKED_AT + 1}
    row = tx.execute(size, values).one()
    return bool(row.held <= SMALL and row.looked_at <= LOOKED_AT)


def _is_seen_soon(tx: Tx, name: Mapping[str, Any]) -> bool:
    """Return whether few events must be read for what others have learnt from the user."""
    return int(tx.execute(_EVENTS_BESIDE, {**name, "most": LOOKED_AT + 1}).scalar_one()) <= LOOKED_AT


def _values(
    name: Mapping[str, Any], session_rows: Sequence[Any], shared: Sequence[str]
) -> tuple[dict[str, Any], set[str]]:
    """Return the values bound in the steps, and which of them are not all there are.

    Of sessions with others, all messages are looked at: only so many as have `MOST` together.
    """
    apart = set(shared)
    looked = _within([row for row in session_rows if row.id in apart], MOST)
    partial = {"alone", "shared"} if len(session_rows) > MOST else set[str]()
    partial |= {"shared"} if len(looked) < len(apart) else set()
    alone = [row.id for row in session_rows if row.id not in apart and row.message_count][:MOST]
    return {**name, "alone": alone, "shared": looked, "most": MOST + 1}, partial | {"seqs", "events"}


def _within(session_rows: Iterable[Any], most: int) -> list[str]:
    """Return the first of these sessions that have at most so many messages together."""
    ids, messages = [], 0
    for row in session_rows:
        messages += row.message_count
        if messages > most:
            break
        ids.append(row.id)
    return ids


def _add_events(tx: Tx, events: Any, values: dict[str, Any]) -> None:
    rows = tx.execute(events, values).all()
    values |= {"seqs": [row.seq for row in rows], "events": [row.id for row in rows]}


def _counted(
    tx: Tx, parts: Sequence[ErasurePart], values: Mapping[str, Any], partial: set[str]
) -> tuple[Counter[str], list[str]]:
    """Count the rows of the steps by table; return also the tables that may have more of them."""
    counts: Counter[str] = Counter()
    more, seen = set[str](), set[str]()
    bound: defaultdict[str, set[str]] = defaultdict(set)  # Which values the steps of a table read.
    for step in (step for part in parts for step in STEPS[part]):
        rows = min(_count(tx, step, values), MOST)
        table = step.counted or step.table
        if table == "memories" and rows == MOST:
            partial = partial | {"most"}
        if not step.rows or rows == MOST or (table in seen and table not in SUMMED):
            more.add(table)
        bound[table] |= set(_BOUND.findall(step.rows))
        counts[table] = counts[table] + rows if table in SUMMED else max(counts[table], rows)
        seen.add(table)
    more |= {table for table, names in bound.items() if names & partial}
    return counts, sorted(more | {step.counted or step.table for part in OF_OTHERS for step in STEPS[part]})


def _count(tx: Tx, step: ErasureStep, values: Mapping[str, Any]) -> int:
    if not step.rows:
        return 0
    return int(tx.execute(text(f"SELECT {_number(step.rows)}"), values).scalar_one())


def _number(rows: str, most: str = "most") -> str:
    """Return SQL that counts rows up to a ceiling."""
    return f"(SELECT count(*) FROM (SELECT FROM {rows} LIMIT :{most}) AS n)"


_BY_INDEX = text("SET LOCAL enable_seqscan = off")
"""A condition that many rows fulfil makes the planner scan for the first ones, which may stand at the table's end."""


def _sizes(owned: str, of_events: str, sessions: str, taking_part: str, more: str = "0") -> str:
    """Return the statement that counts what is held of a user or a group, and what a rehearsal looks at besides.

    `owned`, `of_events`: conditions on memories and index rows, and on events. `sessions`: all ids of sessions.
    `taking_part`: ids of the sessions whose participants' verdicts are looked at. `more`: what else is.
    """
    return f"""
    SELECT {_number(f"events WHERE {of_events}")} + {_number(f"memories WHERE {owned}")}
         + {_number(f"search_index WHERE {owned}")}
         + (SELECT coalesce(sum(s.message_count + 1), 0) FROM ({sessions}) AS mine
            CROSS JOIN LATERAL (SELECT message_count FROM sessions WHERE id = mine.id OFFSET 0) AS s) AS held,
           {_number("flows", "looked_at")} + {_number("dispatches WHERE lists_others", "looked_at")}
         + (SELECT count(*) FROM (
                SELECT FROM verdicts WHERE user_id = ANY(ARRAY(
                    SELECT DISTINCT p.user_id FROM ({taking_part}) AS mine
                    CROSS JOIN LATERAL (SELECT user_id FROM participants WHERE session_id = mine.id OFFSET 0) AS p
                    LIMIT :most)) LIMIT :looked_at) AS n)
         + {more} AS looked_at
    """


_OWN_OF_USER: Final = "SELECT id FROM sessions WHERE user_id = :user LIMIT :most"

_AS_PARTICIPANT: Final = "SELECT session_id AS id FROM participants WHERE user_id = :user LIMIT :most"

_ALL_OF_USER: Final = f"SELECT id FROM ({_OWN_OF_USER}) AS own UNION SELECT id FROM ({_AS_PARTICIPANT}) AS guest"

_OWN_OF_GROUP: Final = "SELECT id FROM sessions WHERE group_id = :group LIMIT :most"

_ALL_OF_GROUP: Final = f"""
    SELECT id FROM ({_OWN_OF_GROUP}) AS own
    UNION SELECT session_id FROM (SELECT session_id FROM events WHERE group_id = :prefix LIMIT :most) AS named
"""

_SIZE_OF_USER = text(_sizes("user_id = :user", "user_id = :user", _ALL_OF_USER, _AS_PARTICIPANT))

_BESIDE_GROUP: Final = f"""events WHERE {BESIDE_MEMORY} AND time >= (
    SELECT min(recorded_at) - interval '1 hour'
    FROM (SELECT recorded_at FROM memories WHERE group_id = :group LIMIT :most) AS learnt)"""

_SIZE_OF_GROUP = text(
    _sizes("group_id = :group", "group_id = :prefix", _ALL_OF_GROUP, _OWN_OF_GROUP, _number(_BESIDE_GROUP, "looked_at"))
)

_EVENTS_BESIDE = text(f"""
    SELECT count(*) FROM (
        SELECT FROM events WHERE {BESIDE_MEMORY} AND time >= (
            SELECT min(o.recorded_at) - interval '1 hour'
            FROM (SELECT session_id FROM participants WHERE user_id = :user LIMIT :most) AS mine
            CROSS JOIN LATERAL (
                SELECT memory_id FROM evidence WHERE session_id = mine.session_id OFFSET 0) AS e
            CROSS JOIN LATERAL (
                SELECT recorded_at FROM memories WHERE id = e.memory_id AND user_id <> :user OFFSET 0) AS o)
        LIMIT :most) AS n
""")
"""Events that are read to redact what was said of memories of others that go with the user."""

_SESSIONS_OF_USER = text(f"""
    SELECT mine.id, s.message_count, EXISTS (
        SELECT FROM participants p WHERE p.session_id = mine.id AND p.user_id <> :user OFFSET 0) AS shared
    FROM ({_ALL_OF_USER} LIMIT :most) AS mine
    CROSS JOIN LATERAL (SELECT message_count FROM sessions WHERE id = mine.id OFFSET 0) AS s
    ORDER BY mine.id COLLATE "C"
""")

_EVENTS_OF_USER = text("SELECT seq, id FROM events WHERE user_id = :user LIMIT :most")

_SESSIONS_OF_GROUP = text(f"""
    SELECT theirs.id, s.message_count
    FROM ({_ALL_OF_GROUP} LIMIT :most) AS theirs
    CROSS JOIN LATERAL (SELECT message_count FROM sessions WHERE id = theirs.id OFFSET 0) AS s
    ORDER BY theirs.id COLLATE "C"
""")

_EVENTS_OF_GROUP = text("""
    SELECT seq, id FROM events WHERE group_id = :prefix AND payload ->> 'group_id' = :group AND event_type <> :erased
    LIMIT :most
""")

_MEMORIES_OF_GROUP = text("SELECT id FROM memories WHERE group_id = :group LIMIT :most")

_USERS_OF_GROUP = text("""
    SELECT user_id FROM participants WHERE session_id = ANY(:alone)
    UNION SELECT m.user_id
    FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])) AS place (session_id, id)
    CROSS JOIN LATERAL (
        SELECT user_id FROM messages WHERE session_id = place.session_id AND id = place.id OFFSET 0) AS m
    UNION SELECT user_id FROM memories WHERE id = ANY(:ids) AND user_id IS NOT NULL
""")
