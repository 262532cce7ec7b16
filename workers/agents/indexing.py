"""Index messages and refresh embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import text

from core import metrics
from core.errors import Never
from core.events.pending import Effect, Pending
from core.events.publishing import Author
from core.index import embedding_change, search_index
from core.index.search_index import PlannedSession
from core.inference.embedders import BrokenVectors
from core.sessions import sessions
from core.storage.db import Tx
from core.types import Json
from workers.dispatch.model import FollowUps, Job, Outcome
from workers.tools import Tools

NAMED: Final = 5
"""Rows that an error names."""

ABREAST: Final = 4
"""Dispatches that embed the rows of one: each goes on batch by batch, and one alone would keep one worker busy."""


def index_messages(tools: Tools, job: Job) -> Outcome:
    """Add the new messages of the named sessions to the keyword index; their vectors follow."""
    names = list(job.params.get("sessions", []))
    with tools.db.tenant(job.tenant_id) as tx:
        waiting = sessions.find_unindexed(tx, names)
        read = [(session, search_index.unindexed_messages(tx, session)) for session in waiting]
    planned = [(session, search_index.plan(session, messages)) for session, messages in read if messages]
    indexed = _Indexed(job.tenant_id, planned)

    def go_on(_result: Json) -> FollowUps:
        return [(job.target, {"sessions": indexed.unfinished})] if indexed.unfinished else []

    return Outcome(indexed, _refreshes(planned), indexed.observe, then_by_result=go_on)


def _refreshes(planned: Sequence[PlannedSession]) -> FollowUps:
    """Return what embeds the rows of these sessions: side by side, each with about as many rows as the others."""
    batches = -(-sum(len(rows) for _, rows in planned) // search_index.EMBED_BATCH)
    parts = [_Part() for _ in range(min(ABREAST, batches))]
    for session, rows in sorted(planned, key=lambda pair: -len(pair[1])):
        least = min(parts, key=attrgetter("rows"))
        least.rows += len(rows)
        least.sessions.append(session.id)
    return [("embedding_refresher", {"sessions": sorted(part.sessions)}) for part in parts if part.sessions]


def refresh_embeddings(tools: Tools, job: Job) -> Outcome:
    """Compute missing vectors of the named sessions, a batch at a time."""
    names = list(job.params.get("sessions", []))
    with tools.db.tenant(job.tenant_id) as tx:
        rows = search_index.rows_to_embed(tx, names, salt=str(job.id))
    try:
        vectors = tools.embedder.embed([row.text for row in rows])
    except BrokenVectors as broken:
        return _without_broken(rows, broken, (job.target, {"sessions": names}))
    more = len(rows) == search_index.EMBED_BATCH
    return Outcome(_vectors(rows, vectors), [(job.target, {"sessions": names})] if more else [])


def _vectors(rows: Sequence[search_index.Unembedded], vectors: NDArray[np.float32]) -> Pending:
    """Return the change that stores the vectors of rows that had none."""

    def write(tx: Tx, _author: Author) -> Json:
        search_index.put_vectors(tx, rows, vectors)
        return {"vectors": len(rows)}

    return Effect(write)


def _without_broken(rows: Sequence[search_index.Unembedded], broken: BrokenVectors, again: tuple[str, Json]) -> Outcome:
    """Store the good vectors, and go on with the rest. Never: all that is left is broken; names some of it."""
    good = [row for row in rows if row.text in broken.good]
    if not good:
        named = ", ".join(f"{row.type} {row.ref} of {row.session_id!r}" for row in rows[:NAMED])
        raise Never(f"{broken.detail}. Without a vector, and found by words alone: {named}.") from broken
    return Outcome(_vectors(good, np.array([broken.good[row.text] for row in good], dtype=np.float32)), [again])


def change_model(tools: Tools, job: Job) -> Outcome:
    """Do the next piece of the change of the tenant's embedding model, until nothing of it is left."""
    if tools.embedders is None:
        return Outcome()
    step = embedding_change.advance(tools.db, job.tenant_id, tools.embedders, tools.settings)
    return Outcome() if step is None else Outcome(step, [(job.target, {})], at=step.at)


@dataclass(slots=True)
class _Part:
    """Sessions that are embedded together, and the number of their rows."""

    rows: int = 0
    sessions: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Indexed:
    """Rows of the search index for new messages.

    Known after the write: `waited`, how long each message has waited, in seconds; `unfinished`, the sessions that have
    more messages, and those that another worker has indexed in the meantime, maybe not to their end.
    """

    tenant_id: str
    planned: Sequence[PlannedSession]
    waited: Sequence[float] = ()
    unfinished: Sequence[str] = ()

    def write(self, tx: Tx, _author: Author) -> Json:
        written = search_index.put_messages(tx, self.tenant_id, self.planned)
        finished = {session.id for session, rows in written if rows[-1].position >= session.message_count}
        self.unfinished = [session.id for session, _ in self.planned if session.id not in finished]
        self.waited = _waiting_seconds(tx, written)
        return {"sessions": len(written), "rows": sum(len(rows) for _, rows in written)}

    def observe(self, _result: Json) -> None:
        for seconds in self.waited:
            metrics.SEARCHABLE.observe(seconds)


def _waiting_seconds(tx: Tx, planned: Sequence[PlannedSession]) -> list[float]:
    """Return how long ago each newly indexed message was accepted, in seconds of the database's clock."""
    values = {
        "sessions": [session.id for session, _ in planned],
        "after": [session.indexed_to for session, _ in planned],
        "upto": [rows[-1].position for _, rows in planned],
    }
    return list(tx.execute(_WAITING_SECONDS, values).scalars())


_WAITING_SECONDS = text("""
    SELECT extract(epoch FROM clock_timestamp() - e.received_at)::float8
    FROM unnest(cast(:sessions AS text[]), cast(:after AS int[]), cast(:upto AS int[])) AS s (id, after, upto)
    JOIN messages m ON m.session_id = s.id AND m.position > s.after AND m.position <= s.upto
    JOIN events e ON e.seq = m.event_seq
""")
