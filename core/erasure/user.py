"""Erases a user."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import text

from core.config import Settings
from core.erasure import names, quotes, runner
from core.erasure.memory import Erased
from core.erasure.steps import ErasurePart
from core.errors import Conflict
from core.events import publishing
from core.events.log import Emission
from core.events.publishing import Author
from core.index import removal
from core.memory import tombstones
from core.mirror import export
from core.storage.db import Tx

ERASED: Final = names.USER

ROUNDS: Final = 5
"""Attempts to lock all sessions of the user while new ones are opened."""


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
    counts = Counter({"mirror_files": int(mirror["files"])})
    counts += quotes.erase(tx, tenant_id, tx.execute(_QUOTES, values), owners, author)
    runner.restart_running(tx, but=values["seqs"])
    shared_messages = [(row.session_id, row.id, row.position) for row in tx.execute(_SHARED_MESSAGES, values)]
    counts += runner.run(tx, tenant_id, ErasurePart.USER, values)
    if counts:
        runner.reload_caches(tx)
    removal.weigh_anew(tx, shared_messages)
    laid = tombstones.lay_user(tx, tenant_id, user_id)
    done = Erased(user_id, counts=counts, tombstones=laid, sessions=[*alone, *shared])
    names.forget(tx, tenant_id)
    if done.counts:
        publishing.publish(tx, tenant_id, author, [Emission(ERASED, {"user_id": user_id}, subject=f"user:{user_id}")])
    return done


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
    runner.hold(tx, [row.seq for row in rows])
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

_SHARED_MESSAGES = text("""
    SELECT session_id, id, position FROM messages WHERE session_id = ANY(:shared) AND user_id = :user
""")
