"""Statements look rows up by their keys in tables that were never analysed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import TextClause

from core.config import Settings
from core.index import search_index
from core.language.terms import TERM_IDS
from core.search import texts
from core.storage.db import Database
from core.types import Json
from tests.databases import carried_out, filled, looked_at
from tests.samples import TENANT

MESSAGES = 3_000


@pytest.fixture
def young(upgraded: Settings) -> Iterator[Database]:
    """A new database with messages and memories, all of them without vectors."""
    values = {"messages": MESSAGES, "terms": str(TERM_IDS)}
    with filled(upgraded, (_SAID, _REMEMBERED, _INDEXED), values) as (_, app):
        yield app


@pytest.mark.parametrize(
    ("statement", "values", "found"),
    [
        (texts._MESSAGES, {"sessions": ["s1", "s2"], "messages": ["m1", "m2"]}, 2),
        (search_index._UNEMBEDDED, {"sessions": ["s7"], "limit": 64, "salt": "x"}, 30),
    ],
    ids=["texts of results", "messages without a vector"],
)
def test_texts_are_looked_up_by_what_names_them(
    young: Database, statement: TextClause, values: Json, found: int
) -> None:
    with young.tenant(TENANT) as tx:
        assert len(tx.execute(statement, values).all()) == found
        nodes = carried_out(tx, str(statement), values)
    for table in ("messages", "memories"):
        assert sum(looked_at(nodes, table)) <= 200, table


_SAID = """
    INSERT INTO messages (tenant_id, session_id, position, id, event_seq, event_id, user_id, role, content, occurred_at)
    SELECT :tenant, 's' || n % 100, n, 'm' || n, n, 'e' || n, 'u' || n % 9, 'user', 'I live in Bergen.', now()
    FROM generate_series(1, :messages) AS n
"""

_REMEMBERED = """
    INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, trust, status,
                          occurred_at)
    SELECT :tenant, gen_random_uuid(), 'u' || n % 9, 'u', 'semantic', 'fact', 'other', 'Knows ' || n, md5(n::text),
           'candidate', 'active', now()
    FROM generate_series(1, :messages) AS n
"""

_INDEXED = """
    INSERT INTO search_index (tenant_id, type, session_id, ref, position, user_id, occurred_at, terms, own_terms)
    SELECT :tenant, 'message', session_id, id, position, user_id, occurred_at, sparsevec('{}/' || :terms), '{}'::int[]
    FROM messages
    UNION ALL
    SELECT :tenant, 'memory', '', id::text, 0, user_id, now(), sparsevec('{}/' || :terms), '{}'::int[] FROM memories
"""
