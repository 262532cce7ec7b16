"""Erases a group: what was said to it or to a part of it, what was learnt from that, and its documents.

What its members said or have elsewhere stays.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from core.erasure import log_redaction, memory, names, quotes, runner
from core.erasure.memory import Erased
from core.erasure.steps import ErasurePart
from core.events import publishing
from core.events.log import Emission
from core.events.publishing import Author
from core.memory import tombstones
from core.storage.db import Tx, message_places
from core.storage.tables import GROUP_CHARACTERS
from core.types import Json

ERASED: Final = names.GROUP

PAGE: Final = 1_000
"""Memories that one `memory.erased` names."""


@dataclass(frozen=True, slots=True)
class GroupMessages:
    """Sessions with messages to the group alone, sessions with others too, and the group's messages in these."""

    alone: Sequence[str]
    shared: Sequence[str]
    places: Sequence[tuple[str, str, int]]

    def values(self) -> Json:
        named = message_places((session, message) for session, message, _ in self.places)
        return {"alone": self.alone, "shared": self.shared, "places": self.places, **named}


def erase(tx: Tx, tenant_id: str, group_id: str, author: Author) -> Erased:
    """Erase a group in this transaction. What is said to it afterwards is stored as new.

    If nothing is stored of the group, nothing is counted. `owners` of the result: users whose mirrors have to be
    written again. Conflict: its members kept writing in the meantime.
    """
    name = naming(group_id)
    places = divide_sessions(
        tx, group_id, runner.lock_sessions(tx, lambda: tx.execute(_SESSIONS, name).scalars(), "group")
    )
    spoken: Json = {**name, **places.values()}
    owner_ids = sorted(tx.execute(_OWNERS, spoken).scalars())
    owners = runner.lock_owners(tx, tenant_id, owner_ids)
    values = _bound_values(tx, group_id, spoken | {"owners": owner_ids})
    ids: dict[str, list[UUID]] = {row.user_id: row.ids for row in tx.execute(_MEMORIES, values)}
    counts = quotes.erase(tx, tenant_id, tx.execute(_QUOTES, values), owners, author)
    runner.restart_running(tx, but=values["seqs"])
    since = tx.execute(_SINCE, values).scalar_one()
    of_memories = memory.bound_values(tx, owner_ids, [memory_id for owned in ids.values() for memory_id in owned])
    counts += runner.run(tx, tenant_id, ErasurePart.MEMORIES, of_memories)
    counts += runner.run(tx, tenant_id, ErasurePart.GROUP, values)
    if since is not None:  # Of what has no group in its event, such as feedback on one of the memories.
        counts += log_redaction.redact(tx, tenant_id, of_memories["ids"], since=since)
    counts = +counts
    if counts:
        runner.reload_caches(tx)
    laid = tombstones.lay_group(tx, tenant_id, group_id)
    names.forget(tx, tenant_id)
    if counts:
        _publish(tx, tenant_id, group_id, ids, author)
    sessions = [*places.alone, *places.shared]
    return Erased("", counts=counts, tombstones=laid, sessions=sessions, group_id=group_id, owners=owner_ids)


def naming(group_id: str) -> Json:
    """Return the values that name the group."""
    return {"group": group_id, "prefix": group_id[:GROUP_CHARACTERS], "erased": ERASED}


def spelt(group_id: str) -> list[str]:
    """Return how JSON may name the group."""
    return [f'"group_id": {name}' for name in names.in_json(group_id)]


def divide_sessions(tx: Tx, group_id: str, session_ids: Sequence[str]) -> GroupMessages:
    """Divide sessions into those with messages to the group alone, and others."""
    rows = tx.execute(_SHARED, {"group": group_id, "ids": session_ids}).all()
    shared = [row.id for row in rows if row.shared]
    places = tx.execute(_PLACES, {"group": group_id, "ids": shared}).all()
    alone = [row.id for row in rows if not row.shared]
    return GroupMessages(alone, shared, [(row.session_id, row.id, row.position) for row in places])


def _bound_values(tx: Tx, group_id: str, spoken: Json) -> dict[str, Any]:
    runner.hold(tx, tx.execute(_EVENTS, spoken).scalars())
    # Dispatches that were running when the events were locked have been written by now.
    rows = tx.execute(_EVENTS, spoken).all()
    return {
        **spoken,
        "seqs": [row.seq for row in rows],
        "events": [row.id for row in rows],
        "pepper": secrets.token_hex(),
        "spelt": spelt(group_id),
    }


def _publish(tx: Tx, tenant_id: str, group_id: str, ids: dict[str, list[UUID]], author: Author) -> None:
    """Announce the erased memories of each member, whose profile and mirror follow, and then the group."""
    for owner, owned in ids.items():
        for at in range(0, len(owned), PAGE):
            page = owned[at : at + PAGE]
            memory.publish_erased(tx, tenant_id, page[0], Erased(owner, page), author)
    publishing.publish(tx, tenant_id, author, [Emission(ERASED, {"group_id": group_id}, subject=f"group:{group_id}")])


_NAMES_GROUP: Final = "e.group_id = :prefix AND e.payload ->> 'group_id' = :group AND e.event_type <> :erased"
"""Condition that an event names the group."""

_SESSIONS = text(f"""
    SELECT id FROM sessions WHERE group_id = :group
    UNION SELECT e.session_id FROM events e JOIN sessions s ON s.id = e.session_id WHERE {_NAMES_GROUP}
    UNION SELECT session_id FROM search_index WHERE group_id = :group AND type = 'message'
    UNION SELECT m.session_id FROM sessions s JOIN messages m ON m.session_id = s.id AND m.position > s.indexed_to
    WHERE s.indexed_to < s.message_count AND m.group_id = :group
""")
"""A session has the group of its first event, and single messages may be to another: these are in the index, or new."""

_OF_GROUP: Final = """
    (m.group_id IS NOT DISTINCT FROM :group OR (m.group_id IS NULL AND
        CASE WHEN e.seq IS NULL THEN s.group_id ELSE e.payload ->> 'group_id' END IS NOT DISTINCT FROM :group))
"""
"""Condition that a message was said to the group, or to a part of it, which its event tells, or else its session."""

_WITH_EVENT: Final = """
    JOIN messages m ON m.session_id = s.id AND m.user_id <> ''
    LEFT JOIN events e ON m.group_id IS NULL AND e.seq = m.event_seq
"""
"""Messages of a session, other than those of erased users, which have nothing left; with their event if needed."""

_SHARED = text(f"""
    SELECT s.id, coalesce(bool_or(NOT {_OF_GROUP}) FILTER (WHERE m.id IS NOT NULL),
                          s.group_id IS DISTINCT FROM :group) AS shared
    FROM sessions s LEFT {_WITH_EVENT} WHERE s.id = ANY(:ids) GROUP BY s.id, s.group_id ORDER BY s.id COLLATE "C"
""")
"""One in which nothing was said is of its own group."""

_PLACES = text(f"""
    SELECT m.session_id, m.id, m.position FROM sessions s {_WITH_EVENT} WHERE s.id = ANY(:ids) AND {_OF_GROUP}
    ORDER BY m.session_id COLLATE "C", m.position
""")

_CITES: Final = """
    (e.session_id = ANY(:alone) OR (e.session_id, e.message_id) IN (
        SELECT * FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[]))))
"""

_CITED: Final = f"""
    SELECT o.id FROM memories o WHERE o.group_id IS DISTINCT FROM :group AND o.id IN (
        SELECT e.memory_id FROM evidence e WHERE e.session_id = ANY(:alone)
        UNION SELECT e.memory_id FROM evidence e WHERE e.session_id = ANY(:shared) AND {_CITES}
        UNION SELECT r.from_id FROM relations r JOIN memories part ON part.id = r.to_id
        WHERE r.relation = 'derived_from' AND part.group_id = :group)
"""
"""Memories outside of the group that quote it, or were derived from its memories."""

_OWNERS = text(f"""
    SELECT user_id FROM messages m WHERE m.session_id = ANY(:alone) AND m.user_id <> ''
    UNION SELECT user_id FROM messages m WHERE m.user_id <> '' AND (m.session_id, m.id) IN (
        SELECT * FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])))
    UNION SELECT user_id FROM memories WHERE group_id = :group AND user_id IS NOT NULL
    UNION SELECT user_id FROM memories WHERE user_id IS NOT NULL AND id IN ({_CITED})
""")
"""Members, and whose memories are erased or change."""

_EVENTS = text(f"""
    WITH RECURSIVE own AS (
        SELECT e.seq, e.id FROM events e WHERE {_NAMES_GROUP}
        UNION
        SELECT e.seq, e.id FROM events e WHERE e.session_id = ANY(:alone)
        UNION
        SELECT e.seq, e.id FROM events e JOIN messages m ON m.event_seq = e.seq
        WHERE (m.session_id, m.id) IN (
            SELECT * FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])))
        UNION
        SELECT e.seq, e.id FROM own CROSS JOIN LATERAL (
            SELECT e.seq, e.id FROM events e
            WHERE e.causation_id = own.id AND e.event_type <> :erased
              AND coalesce(e.payload ->> 'group_id', :group) = :group
              AND (e.subject IS NULL OR e.subject NOT LIKE 'memory:%')
              AND (e.session_id IS NULL OR e.session_id <> ALL(:shared) OR e.payload ->> 'group_id' = :group)
            OFFSET 0) AS e
    )
    SELECT seq, id FROM own ORDER BY seq
""")
"""Events that name the group or belong to its sessions, and along causation what followed from them, unless it is about
another group, a session with others or a memory: those of the group name it, and others are redacted with the memory.
"""

_MEMORIES = text("""
    SELECT user_id, array_agg(id ORDER BY id) AS ids FROM memories
    WHERE group_id = :group AND user_id = ANY(:owners) GROUP BY user_id ORDER BY user_id COLLATE "C"
""")
"""Memories of locked owners: one that another owner adds meanwhile counts as new."""

_SINCE = text("SELECT min(recorded_at) FROM memories WHERE group_id = :group AND user_id = ANY(:owners)")

_QUOTES = text(f"""
    SELECT o.id AS memory_id, e.quote,
           coalesce({_CITES} OR e.session_id = '' AND e.event_id = ANY(:events), false) AS gone
    FROM memories o LEFT JOIN evidence e ON e.memory_id = o.id WHERE o.id IN ({_CITED})
""")
