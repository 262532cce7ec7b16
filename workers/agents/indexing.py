"""Index messages and refresh embeddings."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import text

from core import metrics
from core.index import search_index
from core.sessions import sessions
from core.sessions.sessions import Session
from core.storage.db import Tx
from core.types import Json
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools


def index_messages(tools: Tools, job: Job) -> Outcome:
    """Put the new messages of the named sessions into the search index, by their words; vectors follow."""
    names = list(job.params.get("sessions", []))
    with tools.db.tenant(job.tenant_id) as tx:
        waiting = sessions.unindexed(tx, names)
        read = [(session, search_index.unindexed(tx, session)) for session in waiting]
    planned = [(session, search_index.plan(session, messages)) for session, messages in read]
    more = [s.id for s, rows in planned if rows[-1].position < s.message_count]
    waited: list[float] = []

    def write(tx: Tx) -> Json:
        search_index.put_messages(tx, job.tenant_id, planned)
        waited[:] = _waited(tx, planned)
        return {"sessions": len(planned), "rows": sum(len(rows) for _, rows in planned)}

    again = [(job.target, {"sessions": more})] if more else []
    then = [*again, ("embedding_refresher", {"sessions": names})] if planned else []
    return Outcome(write, then, lambda _result: _observe_waits(waited))


def refresh_embeddings(tools: Tools, job: Job) -> Outcome:
    """Make the vectors that rows of the named sessions still lack, a batch at a time."""
    names = list(job.params.get("sessions", []))
    with tools.db.tenant(job.tenant_id) as tx:
        rows = search_index.unembedded(tx, names, salt=str(job.id))
    vectors = tools.embedder.embed([row.text for row in rows])

    def write(tx: Tx) -> Json:
        search_index.put_vectors(tx, rows, vectors)
        return {"vectors": len(rows)}

    more = len(rows) == search_index.EMBED_BATCH
    return Outcome(write, [(job.target, {"sessions": names})] if more else [])


def _waited(tx: Tx, planned: Sequence[tuple[Session, Sequence[search_index.Row]]]) -> list[float]:
    """How long ago each newly indexed message was accepted, in seconds of the database's clock."""
    values = {
        "sessions": [session.id for session, _ in planned],
        "after": [session.indexed_to for session, _ in planned],
        "upto": [rows[-1].position for _, rows in planned],
    }
    return list(tx.execute(_WAITED, values).scalars())


def _observe_waits(waited: Sequence[float]) -> None:
    for seconds in waited:
        metrics.SEARCHABLE.observe(seconds)


_WAITED = text("""
    SELECT extract(epoch FROM clock_timestamp() - e.received_at)::float8
    FROM unnest(cast(:sessions AS text[]), cast(:after AS int[]), cast(:upto AS int[])) AS s (id, after, upto)
    JOIN messages m ON m.session_id = s.id AND m.position > s.after AND m.position <= s.upto
    JOIN events e ON e.seq = m.event_seq
""")
