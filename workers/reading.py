"""Agents that read: from messages to memories, and into the search index."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sqlalchemy import text

from core import gateway, metrics, opinion, remember, sessions
from core.db import Tx
from core.errors import Never, NotFound
from core.extract import llm, offline
from core.extract import session as extraction
from core.gateway import Gateway
from core.search import index
from core.sessions import Session
from core.types import Candidate, Json, Message
from workers.ledger import Job, Outcome
from workers.tools import Tools, count_changes, note_call


def extract_session(tools: Tools, job: Job) -> Outcome:
    """Extract what is new in the event's session, judge it against what is known, write it; the consolidator links.

    Of a request to remember something there is nothing to extract: what it asks for is judged and kept.
    """
    if job.event.event_type == remember.REQUESTED and "session_id" not in job.params:
        return _remember(tools, job)
    session_id = job.params.get("session_id") or job.event.session_id
    if not session_id:
        raise Never(f"{job.target} needs an event with a session; {job.event.event_type} {job.event.id!r} has none.")
    try:
        found = extraction.session(
            _gate(tools, job),
            job.tenant_id,
            session_id,
            extract=extractor(tools, job),
            limit=tools.settings.extract_messages,
            link=job.target == "memory_consolidator",
        )
    except NotFound as error:
        raise Never(f"{job.target} has nothing to read: {error}") from error

    then = [(job.target, {"session_id": session_id})] if found.more else []
    return Outcome(lambda tx: found.write(tx, job.author), then, count_changes)


def index_messages(tools: Tools, job: Job) -> Outcome:
    """Put the new messages of the named sessions into the search index, by their words; vectors follow."""
    names = list(job.params.get("sessions", []))
    with tools.db.tenant(job.tenant_id) as tx:
        waiting = sessions.unindexed(tx, names)
        read = [(session, index.unindexed(tx, session)) for session in waiting]
    planned = [(session, index.plan(session, messages)) for session, messages in read]
    more = [s.id for s, rows in planned if rows[-1].position < s.message_count]
    waited: list[float] = []

    def write(tx: Tx) -> Json:
        index.put_messages(tx, job.tenant_id, planned)
        waited[:] = _waited(tx, planned)
        return {"sessions": len(planned), "rows": sum(len(rows) for _, rows in planned)}

    again = [(job.target, {"sessions": more})] if more else []
    then = [*again, ("embedding_refresher", {"sessions": names})] if planned else []
    return Outcome(write, then, lambda _result: _observe_waits(waited))


def refresh_embeddings(tools: Tools, job: Job) -> Outcome:
    """Make the vectors that rows of the named sessions still lack, a batch at a time."""
    names = list(job.params.get("sessions", []))
    with tools.db.tenant(job.tenant_id) as tx:
        rows = index.unembedded(tx, names, salt=str(job.id))
    vectors = tools.embedder.embed([row.text for row in rows])

    def write(tx: Tx) -> Json:
        index.put_vectors(tx, rows, vectors)
        return {"vectors": len(rows)}

    more = len(rows) == index.EMBED_BATCH
    return Outcome(write, [(job.target, {"sessions": names})] if more else [])


def _remember(tools: Tools, job: Job) -> Outcome:
    """Keep what the event asks for, and what it asks for beside the words."""
    owner, candidate = remember.requested(job.event)
    link = job.target == "memory_consolidator"
    decided = gateway.judged(_gate(tools, job), job.tenant_id, owner, [candidate], explicit=True, link=link)
    return Outcome(lambda tx: remember.keep(tx, job.tenant_id, owner, decided, job.author), (), count_changes)


def _gate(tools: Tools, job: Job) -> Gateway:
    """The way from statements to changes; the model, where there is one, is asked what words leave open."""
    ask = opinion.of(tools.model, partial(note_call, tools, job)) if tools.model else None
    return gateway.usual(tools.db, tools.embedder, tools.settings, ask)


def extractor(tools: Tools, job: Job) -> extraction.Extract:
    model = tools.model
    if model is None:
        return offline.extract

    def extract(messages: Sequence[Message]) -> list[Candidate]:
        return llm.extract(model, messages, partial(note_call, tools, job))

    return extract


def _waited(tx: Tx, planned: Sequence[tuple[Session, Sequence[index.Row]]]) -> list[float]:
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
