"""Erases a user."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import text

from core.config import Settings
from core.erasure import echoes, names, quotes, runner
from core.erasure.memory import Erased
from core.erasure.steps import ErasurePart
from core.events import publishing
from core.events.log import Emission
from core.events.publishing import Author
from core.index import removal
from core.memory import tombstones
from core.mirror import export
from core.storage.db import Tx

ERASED: Final = names.USER


def erase(
    tx: Tx, tenant_id: str, user_id: str, author: Author, settings: Settings, *, rehearsal: bool = False
) -> Erased:
    """Erase a user in this transaction, and the files of their mirror. What they say afterwards is stored as new.

    If nothing is stored of the user, nothing is counted. `rehearsal`: the files are counted and stay, for a caller that
    rolls the transaction back. Conflict: they kept writing in the meantime.
    """
    ids = runner.lock_sessions(tx, lambda: tx.execute(_SESSIONS, {"user": user_id}).scalars(), "user")
    spoken = _spoken(tx, user_id, ids)
    others = tx.execute(_OWNERS, spoken).scalars()
    owners = runner.lock_owners(tx, tenant_id, [user_id, *others])
    values = _bound_values(tx, user_id, spoken)
    forget = export.count_files if rehearsal else export.forget_user
    mirror = forget(settings, tenant_id, user_id)
    counts = Counter({"mirror_files": int(mirror["files"])})
    counts += quotes.erase(tx, tenant_id, tx.execute(_QUOTES, values), owners, author)
    counts += echoes.erase(tx, tenant_id, user_id, spoken["shared"], sorted(owners))
    runner.restart_running(tx, but=values["seqs"])
    shared_messages = [(row.session_id, row.id, row.position) for row in tx.execute(_SHARED_MESSAGES, values)]
    counts += runner.run(tx, tenant_id, ErasurePart.USER, values)
    if counts:
        runner.reload_caches(tx)
    removal.weigh_anew(tx, shared_messages)
    laid = tombstones.lay_user(tx, tenant_id, user_id)
    done = Erased(user_id, counts=counts, tombstones=laid, sessions=ids)
    names.forget(tx, tenant_id)
    if done.counts:
        publishing.publish(tx, tenant_id, author, [Emission(ERASED, {"user_id": user_id}, subject=f"user:{user_id}")])
    return done


def _spoken(tx: Tx, user_id: str, session_ids: Sequence[str]) -> dict[str, Any]:
    """Return the values that name the user and the sessions in which they spoke alone, and with others."""
    rows = tx.execute(_SHARED, {"user": user_id, "ids": session_ids}).all()
    alone, shared = ([row.id for row in rows if row.shared is is_shared] for is_shared in (False, True))
    return {"user": user_id, "alone": alone, "shared": shared, "erased": ERASED, "most": None}


def _bound_values(tx: Tx, user_id: str, spoken: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values bound in the steps. The log is read last, so that its events concern locked sessions only."""
    rows = tx.execute(_EVENTS, spoken).all()
    runner.hold(tx, [row.seq for row in rows])
    # Dispatches that were running when the events were locked have been written by now.
    more = tx.execute(_EVENTS, spoken).all()
    cited = {"cited": list(tx.execute(_CITED, spoken).scalars())}
    return {
        **spoken,
        **cited,
        "near": list(tx.execute(_NEAR, {**spoken, **cited}).scalars()),
        "groups": list(tx.execute(_GROUPS, spoken).scalars()),
        "seqs": [row.seq for row in more],
        "events": [row.id for row in more],
        "pepper": secrets.token_hex(),
        "spelt": names.in_json(user_id),
    }


_SESSIONS = text("""
    SELECT session_id FROM participants WHERE user_id = :user UNION SELECT id FROM sessions WHERE user_id = :user
""")

_SHARED = text("""
    SELECT mine.id, CASE WHEN EXISTS (SELECT FROM messages m WHERE m.session_id = mine.id)
        THEN EXISTS (SELECT FROM participants p WHERE p.session_id = mine.id AND p.user_id <> :user)
        ELSE EXISTS (SELECT FROM events e WHERE e.session_id = mine.id AND e.user_id NOT IN (:user, '')) END AS shared
    FROM unnest(cast(:ids AS text[])) AS mine (id) ORDER BY mine.id COLLATE "C"
""")
"""Users erased before take part no longer: a session with nobody else is deleted. Users of a session whose messages
have left are known from its events alone.
"""

_CITED_IDS: Final = """
    SELECT o.id FROM memories o WHERE o.user_id IS DISTINCT FROM :user AND o.id IN (
        SELECT e.memory_id FROM evidence e JOIN messages m ON m.session_id = e.session_id AND m.id = e.message_id
        WHERE (e.session_id = ANY(:alone) OR e.session_id = ANY(:shared)) AND m.user_id = :user
        UNION
        SELECT r.from_id FROM memories part JOIN relations r ON r.to_id = part.id
        WHERE r.relation = 'derived_from' AND part.user_id = :user
        UNION
        SELECT e.memory_id FROM evidence e JOIN memories told ON told.id = e.memory_id
        WHERE e.session_id = ANY(:shared) AND told.category = 'episode')
"""

_CITED = text(_CITED_IDS)
"""Memories of others that quote the user, were derived from the user's, or retell a conversation with the user."""

_OWNERS = text(f"SELECT DISTINCT m.user_id FROM memories m WHERE m.user_id IS NOT NULL AND m.id IN ({_CITED_IDS})")

_NEAR = text("""
    SELECT user_id FROM participants WHERE session_id = ANY(:shared)
    UNION SELECT user_id FROM memories WHERE id = ANY(cast(:cited AS uuid[])) AND user_id IS NOT NULL
    UNION SELECT jsonb_array_elements_text(
        CASE jsonb_typeof(extras -> 'participants') WHEN 'array' THEN extras -> 'participants' ELSE '[]' END)
    FROM messages WHERE session_id = ANY(:shared)
""")
"""Users whose verdicts may quote the user."""

_GROUPS = text("""
    SELECT group_id FROM (
        SELECT group_id FROM sessions WHERE id = ANY(:alone) OR id = ANY(:shared)
        UNION SELECT group_id FROM memories WHERE user_id = :user
        UNION SELECT group_id FROM documents WHERE user_id = :user
        UNION SELECT group_id FROM search_index WHERE user_id = :user) AS theirs
    WHERE group_id IS NOT NULL
""")

_QUOTES = text("""
    SELECT o.id AS memory_id, e.quote,
           (m.user_id IS NOT NULL OR e.session_id = '' AND e.event_id = ANY(:events)) AS gone
    FROM memories o LEFT JOIN evidence e ON e.memory_id = o.id
    LEFT JOIN messages m ON m.session_id = e.session_id AND m.id = e.message_id AND m.user_id = :user
    WHERE o.user_id <> :user AND o.id = ANY(cast(:cited AS uuid[]))
""")

_EVENTS = text("""
    WITH RECURSIVE own AS (
        SELECT e.seq, e.id FROM events e
        WHERE e.event_type <> :erased AND (e.session_id = ANY(:alone) OR e.user_id = :user)
          AND (e.session_id IS NULL OR e.session_id = ANY(:alone) OR e.session_id = ANY(:shared) OR NOT EXISTS (
                  SELECT FROM messages m WHERE m.session_id = e.session_id AND m.event_seq = e.seq))
        UNION
        SELECT e.seq, e.id FROM own CROSS JOIN LATERAL (
            SELECT e.seq, e.id FROM events e
            WHERE e.causation_id = own.id AND (e.user_id IS NULL OR e.user_id = :user) OFFSET 0) AS e
    )
    SELECT seq, id FROM own ORDER BY seq
""")
"""Along causation from the user's: events that follow from the user's and name nobody belong to the user.
The message of a session opened after the locks were taken is excluded, and so is its event.
"""

_SHARED_MESSAGES = text("""
    SELECT session_id, id, position FROM messages WHERE session_id = ANY(:shared) AND user_id = :user
""")
