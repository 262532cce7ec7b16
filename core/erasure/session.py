"""Erases a session.

What was learnt from it is long-term memory and stays, without the quotes; who wants that gone, too, erases the memories
(`core.erasure.memory`) or the user (`core.erasure.user`). Only episodes go with the session, for they retell it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import text

from core.erasure import lineage, log_redaction, memory
from core.errors import Conflict, NotFound
from core.events import publishing
from core.events.log import Emission
from core.events.publishing import Author
from core.index import removal
from core.memory import memories, writer
from core.storage.db import Tx

ERASED: Final = "session.erased"


def session(tx: Tx, tenant_id: str, session_id: str, author: Author) -> Counter[str]:
    """Erase a session in this transaction; rows by table. What is said under its id from now on is a new session.

    NotFound: there is none. Conflict: someone has learnt from it meanwhile; try again.
    """
    row = tx.execute(_LOCK, {"session": session_id}).one_or_none()
    if row is None:
        raise NotFound(f"There is no session {session_id!r} in this tenant.")
    log_redaction.call_back(tx)  # Before it looks who has learnt from it: what was being written is there by then.
    owners = _lock_owners(tx, tenant_id, session_id)
    values = {"session": session_id, "owners": owners}
    counts = _episodes(tx, tenant_id, values, author)
    counts += _quotes(tx, values)
    for shadow_id in tx.execute(_SHADOWS, values).scalars():
        log_redaction.drop_shadow(tx, tenant_id, shadow_id)
        counts["rebuilds"] += 1
    told = list(tx.execute(_TOLD, values).scalars())
    counts += log_redaction.wipe(tx, [], since=datetime.now(UTC), also=told)
    counts["evidence"] += tx.execute(_UNQUOTE_TOLD, {"events": told}).rowcount
    counts += _messages(tx, values)
    payload = {"session_id": session_id, "by": author.name} | ({"user_id": row.user_id} if row.user_id else {})
    publishing.publish(tx, tenant_id, author, [Emission(ERASED, payload, subject=f"session:{session_id}")])
    return +counts


def _lock_owners(tx: Tx, tenant_id: str, session_id: str) -> list[str]:
    """All whose memories cite the session, and who spoke in it; in one order, as whoever writes for several locks."""
    owners = sorted(tx.execute(_OWNERS, {"session": session_id}).scalars())
    for owner in owners:
        writer.lock(tx, tenant_id, owner)
    return owners


def _episodes(tx: Tx, tenant_id: str, values: dict[str, Any], author: Author) -> Counter[str]:
    """Erase what retells the session, and what was drawn from that."""
    counts: Counter[str] = Counter()
    for memory_id in tx.execute(_EPISODES, values).scalars().all():
        gone = memories.of_ids(tx, lineage.of(tx, [memory_id]).gone)
        if not {row.user_id for row in gone.values()} <= set(values["owners"]):
            raise Conflict("Someone has learnt from this session meanwhile. Erase it again.")
        if memory_id in gone:  # It may have gone with one before it.
            counts += memory.memory(tx, tenant_id, memory_id, author).counts
    return counts


def _quotes(tx: Tx, values: dict[str, Any]) -> Counter[str]:
    """Take the session's words out of what rests on it."""
    counts: Counter[str] = Counter()
    for table, statement in _QUOTES:
        counts[table] += tx.execute(statement, values).rowcount
    return counts


def _messages(tx: Tx, values: dict[str, Any]) -> Counter[str]:
    """Take the messages away, and all that was made of them for the session alone."""
    counts = Counter({"flows": tx.execute(_FLOWS, values).rowcount})
    places: Sequence[Any] = tx.execute(_MESSAGES, values).all()
    counts["messages"] = len(places)
    counts["search_index"] = removal.forget(tx, [(row.session_id, row.id, row.position) for row in places])
    for table in _OWN:
        counts[table] += tx.execute(text(f"DELETE FROM {table} WHERE session_id = :session"), values).rowcount
    counts["sessions"] = tx.execute(_SESSION, values).rowcount
    return counts


_OWN: Final = ("units", "summaries", "plans", "contexts", "working", "hidden_messages", "search_changes")
"""Tables of which a session's rows go with it."""

_LOCK = text("SELECT user_id FROM sessions WHERE id = :session FOR UPDATE")

_OWNERS = text("""
    SELECT DISTINCT user_id FROM messages WHERE session_id = :session AND user_id <> ''
    UNION
    SELECT m.user_id FROM evidence e JOIN memories m ON m.id = e.memory_id WHERE e.session_id = :session
    UNION
    SELECT m.user_id FROM evidence e JOIN relations r ON r.to_id = e.memory_id AND r.relation = 'derived_from'
    JOIN memories m ON m.id = r.from_id WHERE e.session_id = :session
""")

_EPISODES = text("""
    SELECT DISTINCT m.id FROM evidence e JOIN memories m ON m.id = e.memory_id
    WHERE e.session_id = :session AND m.category = 'episode' ORDER BY m.id
""")

_CITING = """
    EXISTS (SELECT FROM jsonb_array_elements(
        CASE jsonb_typeof(v.candidate -> 'evidence') WHEN 'array' THEN v.candidate -> 'evidence' ELSE '[]' END) e
        WHERE e ->> 'session_id' = :session)
"""

_QUOTES: Final = (
    ("evidence", text("UPDATE evidence SET quote = '' WHERE session_id = :session AND quote <> ''")),
    (
        "verdicts",
        text(f"DELETE FROM verdicts v WHERE v.user_id = ANY(:owners) AND v.memory_id IS NULL AND {_CITING}"),
    ),
    (
        "verdicts",
        text(f"""
            UPDATE verdicts v SET candidate = jsonb_set(v.candidate, '{{evidence}}', (
                SELECT jsonb_agg(CASE WHEN e ->> 'session_id' = :session THEN e || '{{"quote": ""}}' ELSE e END)
                FROM jsonb_array_elements(v.candidate -> 'evidence') e))
            WHERE v.user_id = ANY(:owners) AND {_CITING}
        """),
    ),
    (
        "memory_versions",
        text("""
            UPDATE memory_versions v SET snapshot = v.snapshot - 'withdrawn' - 'returned' FROM memories m
            WHERE m.user_id = ANY(:owners) AND v.memory_id = m.id
              AND jsonb_exists_any(v.snapshot, '{withdrawn, returned}')
        """),
    ),
    (
        "model_calls",
        text("""
            UPDATE model_calls c SET answer = NULL FROM memory_versions v JOIN evidence e ON e.memory_id = v.memory_id
            WHERE e.session_id = :session AND c.dispatch_id = v.dispatch_id AND c.answer IS NOT NULL
        """),
    ),
)
"""A verdict that kept nothing stands for words of the session alone; versions quote what undos have taken away."""

_SHADOWS = text("""
    UPDATE rebuilds SET status = CASE WHEN status IN ('running', 'ready') THEN 'dropped' ELSE status END,
                        difference = NULL, ended_at = coalesce(ended_at, clock_timestamp())
    WHERE user_id = ANY(:owners) AND (status IN ('running', 'ready') OR difference IS NOT NULL) RETURNING shadow_id
""")
"""What is being made anew rests on the session, too."""

_TOLD = text(f"""
    SELECT id FROM events
    WHERE session_id = :session AND event_type NOT LIKE 'memory.%' AND event_type <> '{ERASED}'
""")
"""What is told of memories stays with them."""

_UNQUOTE_TOLD = text("UPDATE evidence SET quote = '' WHERE session_id = '' AND event_id = ANY(:events) AND quote <> ''")

_MESSAGES = text("DELETE FROM messages WHERE session_id = :session RETURNING session_id, id, position")

_FLOWS = text("""
    DELETE FROM flows f WHERE f.key = 'session:' || :session OR EXISTS (
        SELECT FROM jsonb_array_elements_text(CASE WHEN f.key LIKE '[%' THEN cast(f.key AS jsonb) ELSE '[]' END) AS part
        WHERE part = ANY(ARRAY(SELECT content FROM messages WHERE session_id = :session AND content <> '')))
""")
"""Where a rule keeps apart what was said, the key says it."""

_SESSION = text("DELETE FROM sessions WHERE id = :session")
