"""What was searched for leaves the log with the memory that answered, the session, the words, and the user."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.config import Settings
from core.erasure import memory, payloads, session, user
from core.memory.changes import Owner
from core.storage.db import Database
from core.types import Json
from tests.factories import PERSON, a_memory, carry_out
from tests.samples import TENANT, accept, event, said

CODE = "Is 4711 still my door code?"


def queries(app: Database) -> list[str]:
    statement = "SELECT payload FROM events WHERE event_type = 'memory.recalled' ORDER BY seq"
    with app.tenant(TENANT) as tx:
        payloads_: list[Any] = list(tx.execute(text(statement)).scalars())
    return [one["query"] for payload in payloads_ for one in payload.get("queries", ())]


def asked(app: Database, *told: Json, **fields: str) -> None:
    ids = sorted({one for each in told for one in each["memory_ids"]})
    payload = {"user_id": "ada", "memory_ids": ids, "searches": len(told), "queries": list(told), **fields}
    accept(app, event("memory.recalled", payload, time=datetime.now(UTC)))


@pytest.fixture
def code(app: Database) -> UUID:
    """A memory that answered one of two queries."""
    accept(app, said("My door code is 4711."))
    add, other = a_memory("Ada's door code is 4711."), a_memory("Ada likes tea.")
    carry_out(app, add, other)
    asked(
        app,
        {"query": CODE, "memory_ids": [str(add.id), str(other.id)], "session_id": "s1"},
        {"query": "What does Ada drink?", "memory_ids": [str(other.id)]},
    )
    return add.id


def test_the_queries_that_a_memory_answered_are_erased_with_it(app: Database, code: UUID) -> None:
    with app.tenant(TENANT) as tx:
        memory.erase(tx, TENANT, code, PERSON)
    assert queries(app) == ["What does Ada drink?"]


def test_the_queries_of_a_session_are_erased_with_it(app: Database, code: UUID) -> None:
    with app.tenant(TENANT) as tx:
        session.erase(tx, TENANT, "s1", PERSON)
    assert queries(app) == ["What does Ada drink?"]


def test_words_that_are_blanked_in_a_session_are_blanked_in_queries(app: Database, code: UUID) -> None:
    with app.tenant(TENANT) as tx:
        payloads.redact_events(tx, TENANT, {"sessions": ["s1"], "seqs": [], "pieces": ["4711"]})
    assert not any("4711" in query for query in queries(app))


def test_no_query_of_an_erased_user_is_left(settings: Settings, app: Database, code: UUID) -> None:
    with app.tenant(TENANT) as tx:
        user.erase(tx, TENANT, "ada", PERSON, settings)
    assert queries(app) == []


def test_queries_of_others_stay(settings: Settings, app: Database, code: UUID) -> None:
    asked(app, {"query": "Who is Bob?", "memory_ids": [str(UUID(int=7))]}, user_id="bob")
    with app.tenant(TENANT) as tx:
        memory.erase(tx, TENANT, code, PERSON)
        user.erase(tx, TENANT, "ada", PERSON, settings)
    assert queries(app) == ["Who is Bob?"]


def test_what_members_of_a_group_asked_of_its_memory_is_erased_with_it(app: Database) -> None:
    add = a_memory("The code of the club is 4711.")
    carry_out(app, add, owner=Owner("ada", "club"))
    asked(app, {"query": CODE, "memory_ids": [str(add.id)]}, user_id="bob", group_id="club")
    with app.tenant(TENANT) as tx:
        memory.erase(tx, TENANT, add.id, PERSON)
    assert queries(app) == []
