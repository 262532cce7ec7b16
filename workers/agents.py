"""The agents: one table says who there is and on which queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from sqlalchemy import text

from core import events, fading, judge, merge, metrics, sessions, upkeep
from core.config import Settings
from core.db import Database, Tx
from core.embed import Embedder
from core.errors import Never, NotFound
from core.events import Cause, Emission
from core.extract import llm, offline
from core.extract import session as extraction
from core.llm import Call, Client
from core.search import index
from core.sessions import Session
from core.types import Candidate, Json, Message
from workers import outside
from workers.ledger import Job, Outcome


@dataclass(frozen=True, slots=True)
class Tools:
    """What agents work with."""

    db: Database
    embedder: Embedder
    model: Client | None
    settings: Settings


def extract_session(tools: Tools, job: Job) -> Outcome:
    """Extract what is new in the event's session, judge it against what is known, write it; the consolidator links."""
    session_id = job.params.get("session_id") or job.event.session_id
    if not session_id:
        raise Never(f"{job.target} needs an event with a session; {job.event.event_type} {job.event.id!r} has none.")
    try:
        found = extraction.session(
            tools.db,
            job.tenant_id,
            session_id,
            extract=_extractor(tools, job),
            embedder=tools.embedder,
            limit=tools.settings.extract_messages,
            thresholds=_thresholds(tools.settings),
            link=job.target == "memory_consolidator",
        )
    except NotFound as error:
        raise Never(f"{job.target} has nothing to read: {error}") from error

    then = [(job.target, {"session_id": session_id})] if found.more else []
    return Outcome(lambda tx: found.write(tx, job.author), then, _count_changes)


def merge_duplicates(tools: Tools, job: Job) -> Outcome:
    """Merge what is new of the event's user into what says the same already."""
    user_id = job.params.get("user_id") or job.event.user_id
    if not user_id:
        raise Never(f"{job.target} needs an event with a user; {job.event.event_type} {job.event.id!r} has none.")
    swept = merge.sweep(tools.db, job.tenant_id, user_id, _thresholds(tools.settings))
    then = [(job.target, {"user_id": user_id})] if swept.more else []
    return Outcome(lambda tx: swept.write(tx, job.author), then, _count_changes)


def archive_faded(tools: Tools, job: Job) -> Outcome:
    """Archive what has faded, a page; where formula or threshold have changed, draw all curves anew before."""
    settings, then = tools.settings, list[tuple[str, Json]]()

    def write(tx: Tx) -> Json:
        after = job.params.get("redraw_after")
        changed = fading.align(tx, job.tenant_id, settings.strength_formula, settings.fade_under)
        if changed or after is not None:
            last = fading.redraw(tx, job.tenant_id, None if changed else UUID(after), REDRAWN)
            then.append((job.target, {"redraw_after": str(last)} if last else {}))
            return {"redrawing": True}
        archived = upkeep.faded(tx, job.tenant_id, job.author, settings.sweep_page)
        then.extend([(job.target, {})] if archived == settings.sweep_page else [])
        return {"archived": archived}

    return Outcome(write, then, _count_changes)


def archive_surplus(tools: Tools, job: Job) -> Outcome:
    """Archive what has expired, and the weakest memories of users who have too many, a page of each."""
    settings, then = tools.settings, list[tuple[str, Json]]()

    def write(tx: Tx) -> Json:
        page = settings.sweep_page
        expired = upkeep.expired(tx, job.tenant_id, job.author, page)
        surplus = upkeep.overflowing(tx, job.tenant_id, job.author, settings.memories_per_user, page)
        then.extend([(job.target, {})] if expired == page or surplus > 0 else [])
        return {"archived": expired + surplus, "expired": expired, "surplus": surplus}

    return Outcome(write, then, _count_changes)


def count_uses(_tools: Tools, job: Job) -> Outcome:
    """Count that the memories of a recall were of use; each at most once in the time that `core.forget` gives."""
    named = job.params.get("memory_ids") or job.event.payload.get("memory_ids")
    try:
        ids = [UUID(one) for one in named or ()]
    except (TypeError, ValueError, AttributeError):
        raise Never(f"{job.target} needs the ids of memories in `memory_ids`, and not {named!r:.200}.") from None
    return Outcome(lambda tx: {"used": upkeep.used(tx, job.tenant_id, job.author, ids)}, (), _count_changes)


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


def emit_event(_tools: Tools, job: Job) -> Outcome:
    """Publish the event that a rule's `emit` action describes, in the chain of its cause."""
    emission = Emission(job.params["event_type"], job.params.get("payload") or {})

    def write(tx: Tx) -> Json:
        events.emit(tx, job.tenant_id, Cause(job.event, job.id), [emission])
        return {"event_type": emission.event_type}

    return Outcome(write)


def _outside(act: Callable[[Settings, Job], Outcome]) -> Callable[[Tools, Job], Outcome]:
    """An agent that needs nothing of what is kept here, only the settings."""
    return lambda tools, job: act(tools.settings, job)


@dataclass(frozen=True, slots=True)
class Agent:
    """A named piece of work: what it does, and where it queues. `rules.targets` says which events follow from it."""

    run: Callable[[Tools, Job], Outcome]
    queue: str


AGENTS: Mapping[str, Agent] = {
    "memory_extractor": Agent(extract_session, "cpu"),
    "memory_consolidator": Agent(extract_session, "cpu"),
    "memory_deduplicator": Agent(merge_duplicates, "cpu"),
    "memory_decay": Agent(archive_faded, "cpu"),
    "memory_cleaner": Agent(archive_surplus, "cpu"),
    "memory_reinforcer": Agent(count_uses, "cpu"),
    "knowledge_indexer": Agent(index_messages, "cpu"),
    "embedding_refresher": Agent(refresh_embeddings, "cpu"),
    "event_emitter": Agent(emit_event, "io"),
    "notifier": Agent(_outside(outside.notify), "io"),
    "webhook_sender": Agent(_outside(outside.send_webhook), "io"),
    "task_sender": Agent(_outside(outside.send_task), "io"),
}

EXTRACTORS = frozenset({"memory_extractor", "memory_consolidator"})

MODEL_USERS = EXTRACTORS
"""Agents that wait for a language model where one is configured, and then belong on the queue for waiting."""

REDRAWN = 2_000
"""Memories whose curves are drawn anew in one transaction, after a setting of forgetting has changed."""

TOKENS_PRICED = 1_000_000
"""Prices are for so many tokens."""

ALONE = EXTRACTORS
"""Agents of which one at a time works on a session: two would think about the same messages, and one in vain."""


def queues(settings: Settings) -> dict[str, str]:
    """On which queue each agent works."""
    waits = settings.llm_base_url is not None
    return {name: "io" if waits and name in MODEL_USERS else agent.queue for name, agent in AGENTS.items()}


def bound(tools: Tools) -> dict[str, Callable[[Job], Outcome]]:
    """The agents, ready to run with these tools."""
    return {name: partial(agent.run, tools) for name, agent in AGENTS.items()}


def _thresholds(settings: Settings) -> judge.Thresholds:
    return judge.Thresholds(settings.merge_similarity, settings.near_similarity, settings.novel_similarity)


def _extractor(tools: Tools, job: Job) -> extraction.Extract:
    model = tools.model
    if model is None:
        return offline.extract

    def extract(messages: Sequence[Message]) -> list[Candidate]:
        return llm.extract(model, messages, partial(_note_call, tools, job))

    return extract


def _count_changes(counts: Json) -> None:
    for name in ("added", "confirmed", "superseded", "merged", "replaced", "disputed", "ignored", "archived", "used"):
        metrics.MEMORIES.labels(name).inc(counts.get(name, 0))


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


def _note_call(tools: Tools, job: Job, call: Call) -> None:
    """Calls are paid for even when nothing comes of them, so each is written down at once."""
    prices = tools.settings.llm_input_price, tools.settings.llm_output_price
    cost = (call.input_tokens * prices[0] + call.output_tokens * prices[1]) / TOKENS_PRICED
    with tools.db.tenant(job.tenant_id) as tx:
        values = {name: getattr(call, name) for name in Call.__slots__}
        tx.execute(_CALL, values | {"tenant": job.tenant_id, "dispatch": job.id, "cost": cost})


_WAITED = text("""
    SELECT extract(epoch FROM clock_timestamp() - e.received_at)::float8
    FROM unnest(cast(:sessions AS text[]), cast(:after AS int[]), cast(:upto AS int[])) AS s (id, after, upto)
    JOIN messages m ON m.session_id = s.id AND m.position > s.after AND m.position <= s.upto
    JOIN events e ON e.seq = m.event_seq
""")

_CALL = text("""
    INSERT INTO model_calls (tenant_id, dispatch_id, model, prompt, input_tokens, output_tokens, cost, latency_ms,
                             outcome, answer)
    VALUES (:tenant, :dispatch, :model, :prompt, :input_tokens, :output_tokens, :cost, :latency_ms, :outcome, :answer)
""")
