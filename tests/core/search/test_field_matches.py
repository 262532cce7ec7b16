"""Searches narrowed to what has certain fields."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from core.config import Settings
from core.memory import field_filters
from core.memory.as_of import Moment
from core.memory.changes import Edit
from core.search import field_matches
from core.search.filters import Filters
from core.storage.db import Database
from core.tenancy import tenants
from core.types import Json
from tests.core.search.searching import contents, remember, search
from tests.databases import analyzed, carried_out, looked_at
from tests.factories import carry_out
from tests.samples import TENANT, accept_all, said
from tests.works import Works

GREEN, BLACK, BARE = "I drink green tea.", "I drink black tea.", "I drink tea."


def asking(**fields: Json) -> dict[str, str]:
    return {name: field_filters.demands(wanted) for name, wanted in fields.items()}


@pytest.fixture
def talks(app: Database) -> None:
    accept_all(
        app,
        [
            said(GREEN, message_id="m1", metadata={"shop": "north", "order": {"tier": "gold"}}),
            said(BLACK, message_id="m2", metadata={"shop": "south"}),
            said(BARE, message_id="m3"),
        ],
    )


def test_messages_are_narrowed_by_their_metadata_before_and_after_they_are_indexed(
    app: Database, works: Works, talks: None
) -> None:
    for _ in range(2):
        assert contents(search(app, "tea", **asking(metadata={"shop": "north"}))) == [GREEN]
        assert contents(search(app, "tea", **asking(metadata={"order.tier": ["gold", "silver"]}))) == [GREEN]
        assert set(contents(search(app, "tea", **asking(metadata={"shop": ["north", "south"]})))) == {GREEN, BLACK}
        assert contents(search(app, "tea", **asking(metadata={"shop": "east"}))) == []
        assert contents(search(app, "tea", user="bob", **asking(metadata={"shop": "north"}))) == []
        works.settle(flush=False)


def test_a_memory_has_the_metadata_of_the_messages_that_it_cites(app: Database, talks: None) -> None:
    remember(app, "Ada drinks green tea.")
    assert set(contents(search(app, "tea", **asking(metadata={"shop": "north"})))) == {GREEN, "Ada drinks green tea."}
    assert "Ada drinks green tea." not in contents(search(app, "tea", **asking(metadata={"shop": "south"})))


def test_structured_fields_narrow_a_search_to_memories(app: Database, talks: None) -> None:
    remember(app, "Ada drinks mint tea.", structured={"origin": {"country": "Morocco"}, "cups": 3})
    remember(app, "Ada drinks white tea.", structured={"origin": {"country": "China"}})
    assert contents(search(app, "tea", **asking(structured={"origin.country": "Morocco", "cups": 3}))) == [
        "Ada drinks mint tea."
    ]
    assert contents(search(app, "tea", **asking(structured={"cups": 4}))) == []


def test_fields_are_those_recorded_at_the_time_asked_about(app: Database) -> None:
    add = remember(app, "Ada drinks mint tea.", structured={"cups": 3})
    before = datetime.now(UTC)
    carry_out(app, Edit(add.id, 1, {"structured": {"cups": 5}}, "because"))
    then = Moment(known_at=before)
    assert contents(search(app, "tea", moment=then, **asking(structured={"cups": 3}))) == ["Ada drinks mint tea."]
    assert contents(search(app, "tea", moment=then, **asking(structured={"cups": 5}))) == []
    assert contents(search(app, "tea", **asking(structured={"cups": 5}))) == ["Ada drinks mint tea."]


def test_rows_of_others_are_not_read(settings: Settings, app: Database) -> None:
    with app.tenant(TENANT) as tx:
        tenants.ensure(tx, TENANT)
        for rows in (_SESSIONS, _MESSAGES, _INDEX, _MEMORIES, _EVIDENCE):
            tx.execute(text(rows), {"tenant": TENANT, "users": 500})
    analyzed(settings, "sessions", "messages", "search_index", "memories", "evidence")
    wanted = Filters(**asking(metadata={"shop": "north"}, structured={"cups": 7}))
    values = {**wanted.parameters("u7", None), "most": 100}
    for name, rows in (("metadata", 20), ("structured", 10)):
        statement = field_matches._CURRENT[name]
        with app.tenant(TENANT) as tx:
            assert len(tx.execute(statement, values).all()) == rows
            nodes = carried_out(tx, str(statement), values)
        for table in ("messages", "search_index", "memories", "evidence"):
            assert sum(looked_at(nodes, table)) <= 40, (name, table)


_SESSIONS = """
    INSERT INTO sessions (tenant_id, id, user_id, started_at, last_at, message_count, indexed_to)
    SELECT :tenant, 's' || n, 'u' || n, now(), now(), 10, 10 FROM generate_series(1, :users) AS n
"""

_MESSAGES = """
    INSERT INTO messages (tenant_id, session_id, position, id, event_seq, event_id, user_id, role, content, occurred_at,
                          extras)
    SELECT :tenant, 's' || n, p, 'm' || p, n * 10 + p, 'e' || n, 'u' || n, 'user', 'I live in Bergen.', now(),
           '{"metadata": {"shop": "north"}}'
    FROM generate_series(1, :users) AS n CROSS JOIN generate_series(1, 10) AS p
"""

_INDEX = """
    INSERT INTO search_index (tenant_id, type, session_id, ref, user_id, position, terms, own_terms, occurred_at)
    SELECT tenant_id, 'message', session_id, id, user_id, position, '{}/999999937', '{}', occurred_at FROM messages
"""

_MEMORIES = """
    INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, trust, status,
                          occurred_at, fade_at, structured)
    SELECT :tenant, gen_random_uuid(), 'u' || n, 'x', 'semantic', 'fact', 'other', 'Fact ' || p, md5(n || ' ' || p),
           'candidate', 'active', now(), now(), jsonb_build_object('cups', n)
    FROM generate_series(1, :users) AS n CROSS JOIN generate_series(1, 10) AS p
"""

_EVIDENCE = """
    INSERT INTO evidence (tenant_id, memory_id, session_id, message_id, event_id, quote)
    SELECT tenant_id, id, 's' || substr(user_id, 2), 'm1', 'e', '' FROM memories
"""
