"""Removes rows and corrects document frequencies."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import text

from core.index import search_index
from core.index.search_index import REACH
from core.sessions import sessions
from core.storage.db import Tx, recordset
from core.types import Json

Place = tuple[str, str, int]
"""A message: session, id in it, position."""


def forget(tx: Tx, erased: Sequence[Place]) -> int:
    """Remove messages whose text was erased, as their rows in `messages` show already; return how many were indexed."""
    if not erased:
        return 0
    message_rows = recordset([{"session": session, "id": message_id} for session, message_id, _ in erased])
    rows = tx.execute(_TAKE, {"rows": message_rows}).all()
    count_down(tx, search_index.count_terms(rows))
    weigh_anew(tx, erased)
    return len(rows)


def put_again(tx: Tx, tenant_id: str, changed: Sequence[Place]) -> None:
    """Index messages whose text has changed again, after `forget`; those that were not indexed yet are left."""
    by_session: defaultdict[str, set[int]] = defaultdict(set)
    for session_id, _, position in changed:
        by_session[session_id].add(position)
    rows = []
    for session_id, positions in sorted(by_session.items()):
        session = sessions.get(tx, session_id)
        first = max(0, min(positions) - REACH - 1)
        messages = sessions.transcript(tx, session_id, after=first, limit=max(positions) + REACH - first)
        planned = search_index.plan(replace(session, indexed_to=0), messages)
        again = (row for row in planned if row.position in positions and not row.is_blank)
        rows += [row for row in again if row.position <= session.indexed_to]
    search_index.put(tx, tenant_id, rows)
    search_index.count_up(tx, tenant_id, search_index.count_terms(rows))


def forget_user(tx: Tx, user_id: str) -> int:
    """Remove everything of a user; return the number of rows. `weigh_anew` reweights their neighbours."""
    groups = tx.execute(_GROUPS_WITH_DOCUMENTS, {"user": user_id}).scalars()
    lock(tx, {shelf for group in [None, *groups] for shelf in search_index.passage_owners(user_id, group)})
    tx.execute(_UNCOUNT, {"owners": [*search_index.owners(user_id, None), *search_index.passage_owners(user_id, None)]})
    count_down(tx, search_index.count_terms(tx.execute(_OF_GROUPS, {"user": user_id})))
    return tx.execute(text("DELETE FROM search_index WHERE user_id = :user"), {"user": user_id}).rowcount


def forget_group(tx: Tx, group_id: str, session_ids: Sequence[str]) -> int:
    """Remove the messages and documents of a group, and all messages of these sessions; return how many rows."""
    users = tx.execute(_USERS_WITH_DOCUMENTS, {"group": group_id}).scalars()
    lock(tx, {shelf for user in [None, *users] for shelf in search_index.passage_owners(user, group_id)})
    rows = tx.execute(_TAKE_OF_GROUP, {"group": group_id, "sessions": list(session_ids)}).all()
    count_down(tx, search_index.count_terms(rows))
    owners = [*search_index.owners(None, group_id), *search_index.passage_owners(None, group_id)]
    tx.execute(_UNCOUNT, {"owners": owners})
    return len(rows)


def forget_passages(tx: Tx, document_id: str) -> Counter[tuple[str, int]]:
    """Remove a document's passages; return what is yet to be counted down. Under `lock`."""
    return search_index.count_terms(tx.execute(_TAKE_PASSAGES, {"document": document_id}).all())


def lock(tx: Tx, shelves: Iterable[str]) -> None:
    """Serialise counting of passages under these names until the transaction ends: one document counts up and down."""
    for name in sorted(shelves):
        tx.execute(_LOCK_OWNER, {"shelf": name})


def count_down(tx: Tx, counts: Mapping[tuple[str, int], int]) -> None:
    """Decrease document frequencies; locked in the order in which they are counted up."""
    pairs = sorted(counts)
    values = {"owners": [o for o, _ in pairs], "terms": [t for _, t in pairs], "counts": [counts[p] for p in pairs]}
    for statement in (_LOCK, _LESS, _NONE) if counts else ():
        tx.execute(statement, values)


def weigh_anew(tx: Tx, erased: Sequence[Place]) -> None:
    """Recompute the weights of the neighbours of removed messages, which included words of them."""
    places: defaultdict[str, set[int]] = defaultdict(set)
    for session_id, _, position in erased:
        places[session_id].add(position)
    rows = [row for session_id, positions in places.items() for row in _around(tx, session_id, positions)]
    if rows:
        tx.execute(_REWEIGH, {"rows": recordset(rows)})


def _around(tx: Tx, session_id: str, erased: set[int]) -> Iterator[Json]:
    first = max(0, min(erased) - 2 * REACH - 1)
    span = max(erased) + 2 * REACH - first
    messages = sessions.transcript(tx, session_id, after=first, limit=span)
    whole = replace(sessions.get(tx, session_id), indexed_to=0)
    near = {position + step for position in erased for step in range(-REACH, REACH + 1)} - erased
    for row in search_index.plan(whole, messages):
        if row.position in near:
            yield {"session": session_id, "ref": row.ref, "terms": search_index.sparse_literal(row.weights)}


_TAKE = text("""
    DELETE FROM search_index i USING json_to_recordset(cast(:rows AS json)) AS g (session text, id text)
    WHERE i.type = 'message' AND i.session_id = g.session AND i.ref = g.id
    RETURNING i.type, i.user_id, i.group_id, i.own_terms
""")

_TAKE_PASSAGES = text("""
    DELETE FROM search_index WHERE type = 'document' AND session_id = :document
    RETURNING type, user_id, group_id, own_terms
""")

_GROUPS_WITH_DOCUMENTS = text("SELECT DISTINCT group_id FROM documents WHERE user_id = :user AND group_id IS NOT NULL")

_USERS_WITH_DOCUMENTS = text("SELECT DISTINCT user_id FROM documents WHERE group_id = :group AND user_id IS NOT NULL")

_TAKE_OF_GROUP = text("""
    DELETE FROM search_index
    WHERE (type = 'message' AND session_id = ANY(:sessions))
       OR (type IN ('message', 'document') AND group_id = :group)
    RETURNING type, user_id, group_id, own_terms
""")

_LOCK_OWNER = text("""
    SELECT pg_advisory_xact_lock(hashtextextended(current_setting('imprint.tenant') || chr(10) || :shelf, 0))
""")

_UNCOUNT = text("DELETE FROM term_counts WHERE owner = ANY(:owners)")

_OF_GROUPS = text("""
    SELECT type, NULL AS user_id, group_id, own_terms FROM search_index
    WHERE user_id = :user AND type IN ('message', 'document') AND group_id IS NOT NULL
""")
"""Rows that also count for groups; the user's own counts are removed as a whole."""

_FEWER = "unnest(cast(:owners AS text[]), cast(:terms AS int[]), cast(:counts AS int[])) AS f (owner, term, documents)"

_LOCK = text(f"""
    SELECT FROM {_FEWER} JOIN term_counts c ON c.owner = f.owner AND c.term = f.term
    ORDER BY c.owner COLLATE "C", c.term FOR UPDATE OF c
""")

_LESS = text(f"""
    UPDATE term_counts c SET documents = c.documents - f.documents FROM {_FEWER}
    WHERE c.owner = f.owner AND c.term = f.term
""")

_NONE = text(f"""
    DELETE FROM term_counts c USING {_FEWER} WHERE c.owner = f.owner AND c.term = f.term AND c.documents <= 0
""")

_REWEIGH = text("""
    UPDATE search_index i SET terms = r.terms::sparsevec
    FROM json_to_recordset(cast(:rows AS json)) AS r (session text, ref text, terms text)
    WHERE i.type = 'message' AND i.session_id = r.session AND i.ref = r.ref
""")
