"""Erasing a user of 100,000 messages, and one memory, in a log of 600,000 events; and their previews.

    python -m bench.erase [messages of the user]

To reach: the user below 10 s, in one transaction. The user spoke in sessions of 100 messages, each of which is an
event, a row of the index with its vector and half a dispatch; every tenth message taught a memory with a version, a
quote and two events. Four times as much belongs to others. The floor is what PostgreSQL takes to delete as many rows
of messages, index, events and memories by their keys alone.

A preview is a page of the console: p95 below 400 ms, of this user, whose rows are counted, and of one with 300
messages, whose erasure is carried out and taken back.
"""

from __future__ import annotations

from uuid import UUID

import psycopg

from api.http import retrying
from bench import arguments
from bench.stand import database, percentiles, show, timed
from core.config import Settings
from core.erasure import memory as erasure_memory
from core.erasure import preview as erasure_preview
from core.erasure import user as erasure_user
from core.events.publishing import Author
from core.language.terms import TERM_IDS
from core.storage import db
from core.storage.db import Database
from core.tenancy import tenants

MESSAGES = 100_000
OTHERS = 4
FEW = 300
"""Messages of the user whose erasure is rehearsed."""
PREVIEWS = 20
TENANT = "bench"
AUTHOR = Author("key:bench")

FILL = f"""
    INSERT INTO events (tenant_id, id, source, event_type, time, payload, session_id, user_id, correlation_id,
                        routed_at)
    SELECT '{TENANT}', 'e' || n, 'bench', 'message.added', now(),
           jsonb_build_object('user_id', u, 'session_id', u || n / 100, 'role', 'user', 'content', said),
           u || n / 100, u, 'e' || n, now()
    FROM spoken ORDER BY n;
    INSERT INTO messages (tenant_id, session_id, position, id, event_seq, event_id, user_id, role, content, occurred_at)
    SELECT '{TENANT}', u || n / 100, n % 100 + 1, 'm' || n, n + 1, 'e' || n, u, 'user', said, now() FROM spoken;
    INSERT INTO participants (tenant_id, session_id, user_id) SELECT DISTINCT '{TENANT}', u || n / 100, u FROM spoken;
    INSERT INTO sessions (tenant_id, id, user_id, started_at, last_at, message_count, extracted_to, indexed_to)
    SELECT '{TENANT}', u || n / 100, u, now(), now(), 100, 100, 100 FROM spoken WHERE n % 100 = 0;
    INSERT INTO search_index (tenant_id, type, session_id, ref, position, user_id, occurred_at, terms, own_terms,
                              embedding)
    SELECT '{TENANT}', 'message', u || n / 100, 'm' || n, n % 100 + 1, u, now(),
           ('{{' || n % 9000 + 1 || ':1.1,' || n % 9000 + 2 || ':0.7}}/{TERM_IDS}')::sparsevec,
           ARRAY(SELECT generate_series(n % 9000, n % 9000 + 12)),
           ('[' || repeat('0.05,', 383) || '0.05]')::halfvec FROM spoken;
    INSERT INTO term_counts (tenant_id, owner, term, documents)
    SELECT '{TENANT}', 'user:' || u, t, 10 FROM (SELECT DISTINCT u FROM spoken) AS s, generate_series(0, 9100) AS t;
    INSERT INTO dispatches (tenant_id, event_seq, action_type, target, params, queue, status, ended_at)
    SELECT '{TENANT}', n + 1, 'run_agent', 'knowledge_indexer', jsonb_build_object('sessions', ARRAY[u || n / 100]),
           'cpu', 'done', now() FROM spoken WHERE n % 2 = 0;
    INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, trust, status,
                          occurred_at)
    SELECT '{TENANT}', md5('memory' || n)::uuid, u, u, 'semantic', 'fact', 'other', said, md5(said), 'candidate',
           'active', now() FROM spoken WHERE n % 10 = 0;
    INSERT INTO memory_versions (tenant_id, memory_id, version, change, reason, snapshot, change_id)
    SELECT '{TENANT}', id, 1, 'add', 'New.', to_jsonb(memories), md5('change' || id)::uuid
    FROM memories;
    INSERT INTO evidence (tenant_id, memory_id, session_id, message_id, event_id, quote)
    SELECT '{TENANT}', md5('memory' || n)::uuid, u || n / 100, 'm' || n, 'e' || n, said FROM spoken WHERE n % 10 = 0;
    INSERT INTO events (tenant_id, id, source, event_type, subject, time, payload, user_id, correlation_id,
                        causation_id, routed_at)
    SELECT '{TENANT}', kind || n, 'imprint', kind, 'memory:' || md5('memory' || n)::uuid, now(),
           jsonb_build_object('user_id', u, 'memory_id', md5('memory' || n)::uuid, 'content', said), u, 'e' || n,
           'e' || n, now()
    FROM spoken, unnest(ARRAY['memory.created', 'memory.write.important']) AS kind WHERE n % 10 = 0
"""

SPOKEN = """
    CREATE TEMP TABLE spoken AS
    SELECT n, CASE WHEN n < %s THEN 'ada' WHEN n >= %s THEN 'bob' ELSE 'user' || n / 2000 END AS u,
           'What was said as number ' || n || ', at some length, as people do when they have time.' AS said
    FROM generate_series(0, %s - 1) AS n
"""

DELETES = (
    "DELETE FROM messages m USING gone WHERE m.session_id = u || n / 100 AND m.position = n % 100 + 1",
    "DELETE FROM search_index i USING gone WHERE i.session_id = u || n / 100 AND i.ref = 'm' || n",
    "DELETE FROM events e USING gone WHERE e.seq = n + 1",
    "DELETE FROM memories m USING gone WHERE m.id = md5('memory' || n)::uuid",
)


def run(messages: int = MESSAGES) -> dict[str, float]:
    """Seconds, and rows."""
    with database() as (settings, postgres):
        app = db.connect(db.app_url(settings), 2)
        with app.tenant(TENANT) as tx:
            tenants.ensure(tx, TENANT)
        with psycopg.connect(postgres.admin_url, autocommit=True) as connection:
            whole = messages * (OTHERS + 1)
            connection.execute(SPOKEN, (messages, whole - FEW, whole))
            for statement in FILL.split(";\n"):
                connection.execute(statement)
            connection.execute("VACUUM ANALYZE")
            floor = _floor(connection, messages)
        figures = _measure(app, settings)
        app.close()
    return {"messages of the user": float(messages), "floor: bare DELETE of as many rows, s": floor} | figures


def _floor(connection: psycopg.Connection, messages: int) -> float:
    """As many rows of messages, events, index and memories of others, in one transaction that is taken back."""

    def delete() -> None:
        first, last = messages, 2 * messages - 1
        with connection.transaction(force_rollback=True):
            connection.execute(
                "CREATE TEMP TABLE gone ON COMMIT DROP AS SELECT * FROM spoken WHERE n BETWEEN %s AND %s", (first, last)
            )
            for statement in DELETES:
                connection.execute(statement)

    return timed(delete)


def _measure(app: Database, settings: Settings) -> dict[str, float]:
    with app.tenant(TENANT) as tx:
        memory_id = _first_memory(tx)
    previews = {
        f"preview of {what}, p95 in ms (to reach: below 400)": 1_000 * _preview_p95(app, settings, name)
        for what, name in (("the user", "ada"), (f"one of {FEW} messages", "bob"))
    }
    memory = timed(lambda: _erase_memory(app, memory_id))
    rows: dict[str, int] = {}
    user = timed(lambda: rows.update(_erase_user(app, settings)))
    return previews | {
        "one memory, s": memory,
        "the user, s (to reach: below 10)": user,
        "rows": float(sum(rows.values())),
    }


def _preview_p95(app: Database, settings: Settings, user_id: str) -> float:
    """As the API does it: counted, or else carried out and taken back."""

    def carry_out(tx: db.Tx) -> object:
        return erasure_user.erase(tx, TENANT, user_id, AUTHOR, settings, rehearsal=True)

    def preview() -> None:
        with app.tenant(TENANT) as tx:
            counted = erasure_preview.of_user(tx, TENANT, user_id, settings)
        if counted is None:
            retrying.rehearse(app, TENANT, carry_out)

    return percentiles([timed(preview) for _ in range(PREVIEWS)])["p95"]


def _first_memory(tx: db.Tx) -> UUID:
    return UUID(str(tx.exec_driver_sql("SELECT id FROM memories WHERE user_id = 'ada' LIMIT 1").scalar_one()))


def _erase_memory(app: Database, memory_id: UUID) -> None:
    with app.tenant(TENANT) as tx:
        erasure_memory.erase(tx, TENANT, memory_id, AUTHOR)


def _erase_user(app: Database, settings: Settings) -> dict[str, int]:
    with app.tenant(TENANT) as tx:
        return dict(erasure_user.erase(tx, TENANT, "ada", AUTHOR, settings).counts)


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("messages", nargs="?", type=int, default=MESSAGES)
    show(__doc__, run(parser.parse_args().messages))


if __name__ == "__main__":
    main()
