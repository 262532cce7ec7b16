"""Memories of Ada, written because of an event."""

from __future__ import annotations

from typing import Any

from core.events import log
from core.events.log import Cause
from core.events.publishing import Author
from core.memory import writer
from core.memory.changes import Add, Change, Owner
from core.storage.db import Database
from core.types import Candidate, Event
from tests.factories import ADA, EMBEDDER, a_candidate
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
