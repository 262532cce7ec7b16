from __future__ import annotations

from sqlalchemy import text

from core.config import Settings
from core.search import unindexed
from core.storage.db import Database
from core.tenancy import tenants
from tests.databases import analyzed, carried_out, looked_at
from tests.samples import TENANT

SESSIONS = 4_000
PLAIN = dict.fromkeys(("session", "since", "until", "as_of", "known_at", "metadata", "structured"), None)


def test_a_text_is_scored_by_the_terms_that_it_shares_with_the_question() -> None:
    assert unindexed.lexical({1: 2.0, 2: 1.0}, {1: 0.5, 3: 9.0}) == 1.0
    assert unindexed.lexical({}, {1: 0.5}) == 0


def test_only_what_narrows_a_question_is_in_its_statement() -> None:
    statement, values = unindexed.unindexed_query({**PLAIN, "session": "s1", "user": "ada", "group": None})
    assert "id = :session" in str(statement)
    assert ":since" not in str(statement)
    assert values["tail"] == unindexed.TAIL


def test_what_is_unindexed_is_found_without_reading_the_messages_of_a_tenant(settings: Settings, app: Database) -> None:
    with app.tenant(TENANT) as tx:
        tenants.ensure(tx, TENANT)
        for rows in (_SESSIONS, _PARTICIPANTS, _MESSAGES):
            tx.execute(text(rows), {"tenant": TENANT, "sessions": SESSIONS})
    analyzed(settings, "sessions", "messages", "participants")
    for user, found in (("u7", 4), ("u8", 0)):
        statement, values = unindexed.unindexed_query({**PLAIN, "user": user, "group": None})
        with app.tenant(TENANT) as tx:
            read = list(tx.execute(statement, values))
            nodes = carried_out(tx, str(statement), values)
        assert [row.session_id for row in read] == ["s7"] * found
        assert sum(looked_at(nodes, "messages")) <= 10
        assert sum(looked_at(nodes, "sessions")) <= 10


def test_what_waits_of_others_is_not_read(settings: Settings, app: Database) -> None:
    with app.tenant(TENANT) as tx:
        tenants.ensure(tx, TENANT)
        for rows in (_SESSIONS, _PARTICIPANTS, _MESSAGES):
            tx.execute(text(rows), {"tenant": TENANT, "sessions": 400})
        tx.execute(text("UPDATE sessions SET indexed_to = 6"))
        tx.execute(text("UPDATE messages SET user_id = 'guest' WHERE session_id = 's9' AND position = 8"))
        tx.execute(text("INSERT INTO participants VALUES (:tenant, 's9', 'guest')"), {"tenant": TENANT})
        tx.execute(text("UPDATE messages SET group_id = 'crew' WHERE session_id = 's5' AND position > 8"))
    analyzed(settings, "sessions", "messages", "participants")
    for user, group, found in (("u7", None, [7, 8, 9, 10]), ("guest", None, [8]), ("u7", "crew", [7, 8, 9, 9, 10, 10])):
        statement, values = unindexed.unindexed_query({**PLAIN, "user": user, "group": group})
        with app.tenant(TENANT) as tx:
            assert sorted(row.position for row in tx.execute(statement, values)) == found
            nodes = carried_out(tx, str(statement), values)
        assert group is not None or sum(looked_at(nodes, "messages")) <= 10


_PARTICIPANTS = """
    INSERT INTO participants (tenant_id, session_id, user_id)
    SELECT :tenant, 's' || n, 'u' || n FROM generate_series(1, :sessions) AS n
"""

_SESSIONS = """
    INSERT INTO sessions (tenant_id, id, user_id, started_at, last_at, message_count, indexed_to)
    SELECT :tenant, 's' || n, 'u' || n, now(), now(), 10, CASE WHEN n = 7 THEN 6 ELSE 10 END
    FROM generate_series(1, :sessions) AS n
"""

_MESSAGES = """
    INSERT INTO messages (tenant_id, session_id, position, id, event_seq, event_id, user_id, role, content, occurred_at)
    SELECT :tenant, 's' || n, p, 'm' || p, n * 10 + p, 'e' || n, 'u' || n, 'user', 'I live in Bergen.', now()
    FROM generate_series(1, :sessions) AS n CROSS JOIN generate_series(1, 10) AS p
"""
