"""Builders that several rooms' tests share: memories, candidates, jobs, and short ways of reading what was written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import NullPool, create_engine, text

from core.config import Settings
from core.events import log
from core.events.log import Cause
from core.events.publishing import Author
from core.inference.embedders import HashEmbedder
from core.maintenance import sweeps
from core.memory import decay, memories, writer
from core.memory.changes import (
    Add,
    Change,
    Owner,
)
from core.storage import db
from core.storage.db import Database, Tx
from core.types import Candidate, Category, Event, Evidence, Json, Topic
from tests.samples import TENANT
from workers.dispatch.model import Job
from workers.tools import Tools

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
NOW = datetime.now(UTC)
ADA = Owner("ada")
PERSON = Author("key:1")
EMBEDDER = HashEmbedder()
MET = Event(
    seq=1,
    tenant_id=TENANT,
    id="e1",
    source="shop",
    event_type="order.placed",
    subject="order:7",
    time=NOON,
    payload={"total": 12.5, "note": "Größe 42"},
    correlation_id="c1",
)
"""The event that `a_job` reacts to."""


def a_candidate(content: str, day: int = 0, **fields: Any) -> Candidate:
    """A candidate about Ada, with evidence from message `m<day>` of session s1."""
    quote = Evidence("s1", f"m{day}", "e1", content)
    plain = Candidate(content, Category.FACT, Topic.PERSONAL, "ada", (quote,), NOON + timedelta(days=day))
    return replace(plain, **fields)


def a_memory(content: str, **fields: Any) -> Add:
    """The addition of a memory of Ada; its vector is hashed."""
    quote = Evidence("s1", content, "e1", content)
    plain = Candidate(content, Category.FACT, Topic.PERSONAL, "ada", (quote,), NOW)
    return Add(replace(plain, **fields), "because", EMBEDDER.embed([content])[0])


def carry_out(app: Database, *wanted: Change, owner: Owner = ADA) -> Json:
    """Write changes of one owner's memories, as a person with an API key would."""
    with app.tenant(TENANT) as tx:
        return writer.apply(tx, TENANT, owner, wanted, PERSON)


def memory_row(app: Database, memory_id: UUID) -> Any:
    with app.tenant(TENANT) as tx:
        return memories.get(tx, memory_id)


def set_back(app: Database, ids: Sequence[UUID], days: float) -> None:
    """Shift the times of these memories into the past by a number of days."""
    shift = """
        UPDATE memories SET recorded_at = recorded_at - d, last_used_at = last_used_at - d, fade_at = fade_at - d
        FROM (SELECT make_interval(secs => :days * 86400) AS d) AS passed WHERE id = ANY(:ids)
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(shift), {"ids": list(ids), "days": days})


def events_since(tx: Tx, seq: int, limit: int) -> list[Event]:
    """Return events after a position in the log, oldest first."""
    select = text(f"SELECT {log.COLUMNS} FROM events e WHERE seq > :seq ORDER BY seq LIMIT :limit")
    return [log.event_of(row) for row in tx.execute(select, {"seq": seq, "limit": limit})]


def event_types(app: Database) -> list[str]:
    with app.tenant(TENANT) as tx:
        return [e.event_type for e in events_since(tx, 0, 1000)]


def changes_of(app: Database, memory_id: UUID) -> list[str]:
    with app.tenant(TENANT) as tx:
        return [v.change for v in memories.history(tx, memory_id)]


def expire(app: Database, memory_id: UUID, when: datetime) -> None:
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET expires_at = :at WHERE id = :id"), {"at": when, "id": memory_id})


def many_memories(app: Database, count: int, due: int) -> None:
    """Insert memories of 97 users; the first `due` of them have expired."""
    fill = """
        INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, trust,
                              status, occurred_at, fade_at, expires_at)
        SELECT :tenant, gen_random_uuid(), 'u' || n % 97, 'x', 'semantic', 'fact', 'other', 'Fact ' || n, md5(n::text),
               'candidate', 'active', now(), now() + make_interval(days => CASE WHEN n <= :due THEN -1 ELSE n END),
               CASE WHEN n <= :due THEN now() - interval '1 day' END
        FROM generate_series(1, :count) AS n
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(fill), {"tenant": TENANT, "count": count, "due": due})


def a_job(**params: Any) -> Job:
    """A job of the webhook sender with these parameters."""
    return Job(TENANT, uuid4(), "webhook_sender", "webhook", params, MET, Author("x", Cause(MET), "r", 1), 1, uuid4())


def tools(settings: Settings) -> Tools:
    """The dependencies of agents; without a pool, as nobody would close it: a transaction opens its own connection."""
    database = Database(create_engine(db.app_url(settings), poolclass=NullPool))
    return Tools(database, HashEmbedder(), settings)


def close(one: datetime | None, other: datetime | None) -> bool:
    """True if both are moments less than a millisecond apart."""
    return one is not None and other is not None and abs(one - other) < timedelta(milliseconds=1)


def sweep(app: Database, page: int = 100) -> int:
    with app.tenant(TENANT) as tx:
        return sweeps.archive_faded(tx, TENANT, PERSON, page)


def expected(app: Database, memory_id: UUID, **facts: Any) -> datetime | None:
    stands = memory_row(app, memory_id)
    known = decay.Facts(stands.importance, stands.category, **facts)
    return decay.fading(known).fade_at(stands.last_used_at or stands.recorded_at, decay.UNDER)
