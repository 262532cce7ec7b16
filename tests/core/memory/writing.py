"""Memories of Ada, written because of an event."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from sqlalchemy import text

from core.events import log
from core.events.log import Cause
from core.events.publishing import Author
from core.memory import memories, writer
from core.memory.changes import Add, Change, Owner
from core.memory.identity import KnownMemory
from core.storage.db import Database, Tx
from core.types import Candidate, Event
from tests.factories import ADA, EMBEDDER, a_candidate, events_since
from tests.samples import TENANT, accept, event


def lives_in(city: str, day: int, **fields: Any) -> Candidate:
    return a_candidate(f"Ada lives in {city}.", day, attribute="home.city", value=city, **fields)


def an_add(candidate: Candidate, **fields: Any) -> Add:
    return Add(candidate, "because", EMBEDDER.embed([candidate.content])[0], **fields)


def the_cause(app: Database) -> Event:
    accept(app, event(id="cause"))
    with app.tenant(TENANT) as tx:
        return log.get(tx, "cause")


def carry_out(app: Database, wanted: list[Change], owner: Owner = ADA) -> dict[str, int]:
    author = Author("tester", Cause(the_cause(app)), "a_rule", 3)
    with app.tenant(TENANT) as tx:
        return writer.apply(tx, TENANT, owner, wanted, author)


def known(tx: Tx, memory_id: UUID) -> KnownMemory:
    row = memories.get(tx, memory_id)
    return KnownMemory(row.id, row.version, row.content, row.subject, row.attribute, row.value, row.occurred_at)


def emitted(app: Database) -> list[tuple[str, str | None]]:
    with app.tenant(TENANT) as tx:
        return [(e.event_type, e.subject) for e in events_since(tx, 0, 100) if e.source == log.SOURCE]


def superseded(app: Database) -> tuple[Add, Add]:
    lisbon = an_add(lives_in("Lisbon", 0))
    carry_out(app, [lisbon])
    with app.tenant(TENANT) as tx:
        before = known(tx, lisbon.id)
    porto = an_add(lives_in("Porto", 3), supersedes=before)
    assert carry_out(app, [porto]) == {"added": 1, "superseded": 1}
    return lisbon, porto


WRITTEN = "memories memory_versions evidence relations search_index events".split()


def rows(app: Database) -> dict[str, int]:
    with app.tenant(TENANT) as tx:
        return {name: tx.execute(text(f"SELECT count(*) FROM {name}")).scalar_one() for name in WRITTEN}
