"""Erases a session.

Memories derived from it are long-term and stay, without quotes; to erase them as well, erase the memories
(`core.erasure.memory`) or the user (`core.erasure.user`). Episodes retell the session and are erased with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import text

from core.erasure import lineage, log_redaction, memory, recalled, runner
from core.erasure.steps import ErasurePart
from core.errors import Conflict
from core.events import publishing
from core.events.log import Emission
from core.events.publishing import Author
from core.memory import memories
from core.storage.db import Tx, required_row

ERASED: Final = "session.erased"


def erase(tx: Tx, tenant_id: str, session_id: str, author: Author) -> Counter[str]:
    """Erase a session in this transaction; return the number of rows by table. Its id may be reused afterwards.

    NotFound: there is none. Conflict: a memory was derived from it in the meantime; try again.
    """
    row = required_row(tx, _LOCK, {"session": session_id}, f"There is no session {session_id!r} in this tenant.")
    runner.restart_running(tx)  # Before the owners are read, so that what was being written counts.
    locked = runner.lock_owners(tx, tenant_id, owners(tx, session_id))
    counts = erase_episodes(tx, tenant_id, session_id, locked, author)
    event_ids = list(tx.execute(_TOLD, {"session": session_id}).scalars())
    counts += log_redaction.redact(tx, tenant_id, [], since=datetime.now(UTC), also=event_ids)
    counts["events"] += recalled.of_session(tx, sorted(locked), session_id, row.started_at)
    messages = tx.execute(_MESSAGES, {"session": session_id}).all()
    values = {
        "session": session_id,
        "owners": sorted(locked),
        "told": event_ids,
        "places": [(session_id, message.id, message.position) for message in messages],
    }
    counts += runner.run(tx, tenant_id, ErasurePart.SESSION, values)
    payload = {"session_id": session_id, "by": author.name} | ({"user_id": row.user_id} if row.user_id else {})
    publishing.publish(tx, tenant_id, author, [Emission(ERASED, payload, subject=f"session:{session_id}")])
    return +counts


def owners(tx: Tx, session_id: str) -> list[str]:
    """Return the users whose memories cite the session, and those who spoke in it."""
    return list(tx.execute(_OWNERS, {"session": session_id}).scalars())


def erase_episodes(tx: Tx, tenant_id: str, session_id: str, locked: Collection[str], author: Author) -> Counter[str]:
    """Erase the episodes that retell the session, and what was derived from them."""
    counts: Counter[str] = Counter()
    for memory_id in tx.execute(_EPISODES, {"session": session_id}).scalars().all():
        erased = memories.of_ids(tx, lineage.of(tx, [memory_id]).ids)
        if not {row.user_id for row in erased.values()} <= set(locked):
            raise Conflict("A memory was derived from this session in the meantime. Erase it again.")
        if memory_id in erased:  # It may have been erased with an earlier one.
            counts += memory.erase(tx, tenant_id, memory_id, author).counts
    return counts


_LOCK = text("SELECT user_id, started_at FROM sessions WHERE id = :session FOR UPDATE")

_OWNERS = text("""
    SELECT DISTINCT user_id FROM messages WHERE session_id = :session AND user_id <> ''
    UNION
    SELECT m.user_id FROM evidence e JOIN memories m ON m.id = e.memory_id WHERE e.session_id = :session
    UNION
    SELECT m.user_id FROM evidence e JOIN relations r ON r.to_id = e.memory_id AND r.relation = 'derived_from'
    JOIN memories m ON m.id = r.from_id WHERE e.session_id = :session
""")
"""Users whose memories cite the session, and who spoke in it."""

_EPISODES = text("""
    SELECT DISTINCT m.id FROM evidence e JOIN memories m ON m.id = e.memory_id
    WHERE e.session_id = :session AND m.category = 'episode' ORDER BY m.id
""")

_TOLD = text(f"""
    SELECT id FROM events
    WHERE session_id = :session AND event_type NOT LIKE 'memory.%' AND event_type <> '{ERASED}'
""")
"""Events about memories are redacted with the memories."""

_MESSAGES = text("SELECT id, position FROM messages WHERE session_id = :session")
