"""A tenant with a log, memories and all that belongs to them, as large as asked: for measuring the console.

Rows are made by the server, a thousand sessions after another, and in the shape that the service gives them: a session
of sixteen messages ends, a rule extracts three memories from it, others are held back, gathered, or send something.
What is said is drawn from a few thousand sentences, with their terms, and vectors drawn by chance. No two memories say
the same: each ends with a number of its own, which is not among its terms.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import numpy as np
import psycopg
from pgvector import HalfVector

from bench.search_said import ids, sparse
from bench.write import statement
from core.index.bm25 import document_weights
from core.index.search_index import DOCUMENTS
from core.inference.local_models.catalog import DIMENSION
from core.language.terms import terms

TEXTS: Final = 4_096

CHUNK: Final = 20_000
"""Sessions put in by one transaction."""

EVENTS: Final = 25
"""Of a session, 16 of them messages and three memories."""

MEMORIES: Final = 3

DAYS: Final = 14
"""Time that the log goes back."""

RULES: Final = 20
"""Rules beside those that every tenant has."""

LARGE: Final = "u0"
"""A user with a hundredth of everything; the others have a thousandth."""

RARE: Final = "payment.failed"
"""Type of some twenty events in the older half of the log."""

RARE_WORD: Final = "zanzibar"
"""Stands in some twenty memories of the older half."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything there is."""

    memories: int
    events: int

    @property
    def sessions(self) -> int:
        return max(self.events // EVENTS, -(-self.memories // MEMORIES))


@contextmanager
def without_indexes(admin: psycopg.Connection) -> Iterator[None]:
    """Take away indexes that no constraint needs, and what makes writes durable; make both again at the end."""
    indexes = admin.execute(_INDEXES, [list(LARGE_TABLES)]).fetchall()
    for name, _ in indexes:
        admin.execute(f"DROP INDEX {name}")
    for setting in _LOADING:
        admin.execute(f"ALTER SYSTEM SET {setting}")
    admin.execute("SELECT pg_reload_conf()")
    yield
    for _, definition in indexes:
        admin.execute(definition)
    admin.execute("ALTER SYSTEM RESET ALL")
    admin.execute("SELECT pg_reload_conf()")


def load(admin: psycopg.Connection, tenant: str, size: Size) -> None:
    """Put in a tenant's rows, as a superuser that no policy binds."""
    began = time.perf_counter()
    with admin.cursor() as cursor:
        cursor.execute(_FUNCTIONS)
        _texts(admin)
        reserved = cursor.execute(_RESERVED, {"events": size.sessions * EVENTS}).fetchone()
    values = {
        "tenant": tenant,
        "sessions": size.sessions,
        "events": size.events,
        "memories": size.memories,
        "seq": reserved[0] if reserved else 0,
        "texts": TEXTS,
        "rules": RULES,
    }
    for first in range(0, size.sessions, CHUNK):
        chunk = {"first": first, "last": min(first + CHUNK, size.sessions) - 1}
        with admin.transaction(), psycopg.ClientCursor(admin) as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica; SET LOCAL synchronous_commit = off")
            for statement_ in _CHUNK:
                cursor.execute(statement_, values | chunk)
        print(f"{tenant}: {chunk['last'] + 1:,} sessions, {time.perf_counter() - began:.0f} s", file=sys.stderr)
    with psycopg.ClientCursor(admin) as cursor:
        for statement_ in _WHOLE:
            cursor.execute(statement_, values)


def _texts(admin: psycopg.Connection) -> None:
    """Put in what is said, unless it is there."""
    admin.execute("CREATE UNLOGGED TABLE IF NOT EXISTS bench_texts (" + ", ".join(_TEXT_COLUMNS) + ")")
    if admin.execute("SELECT 1 FROM bench_texts LIMIT 1").fetchone():
        return
    chance = np.random.default_rng(16)
    drawn = chance.standard_normal((TEXTS, DIMENSION), dtype=np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    with (
        admin.cursor() as cursor,
        cursor.copy("COPY bench_texts FROM STDIN (FORMAT BINARY)") as sink,
    ):
        sink.set_types(["int4", "text", "bytea", "int4[]", "bytea"])
        for number in range(TEXTS):
            text = statement(number)
            words = terms(text)
            vector = HalfVector(drawn[number].astype(np.float16)).to_binary()
            sink.write_row((number, text, sparse(document_weights(words)), ids(words), vector))


_TEXT_COLUMNS: Final = (
    "n int PRIMARY KEY",
    "content text",
    "terms sparsevec",
    "own_terms int4[]",
    "embedding halfvec",
)

LARGE_TABLES: Final = (
    *("events", "messages", "decisions", "dispatches", "model_calls"),
    *("memories", "memory_versions", "evidence", "relations", "verdicts", "search_index"),
)

_INDEXES: Final = """
    SELECT indexname, indexdef FROM pg_indexes
    WHERE tablename = ANY(%s) AND indexname NOT IN (SELECT conname FROM pg_constraint)
"""

_LOADING: Final = ("max_wal_size = '8GB'", "fsync = off", "full_page_writes = off", "autovacuum = off")

_FUNCTIONS: Final = f"""
    CREATE OR REPLACE FUNCTION pg_temp.at(k bigint, sessions bigint) RETURNS timestamptz STABLE LANGUAGE sql AS
    $$ SELECT date_trunc('hour', now()) - interval '{DAYS} days' * (1 - k::float8 / sessions) $$;
    CREATE OR REPLACE FUNCTION pg_temp.id(kind int, at timestamptz, n bigint) RETURNS uuid IMMUTABLE LANGUAGE sql AS
    $$ SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(kind), 3, '0')
               || '8' || lpad(to_hex(n), 15, '0'))::uuid $$;
    CREATE OR REPLACE FUNCTION pg_temp.who(k bigint) RETURNS text IMMUTABLE LANGUAGE sql AS
    $$ SELECT CASE WHEN k % 100 = 0 THEN '{LARGE}' ELSE 'u' || 1 + k % 997 END $$;
"""
"""The time of session `k`, an id that grows with time, and the user of a session."""

_SESSION: Final = """
    (SELECT k, pg_temp.at(k, %(sessions)s) AS began, pg_temp.who(k) AS who, 's' || k AS session
     FROM generate_series(%(first)s::bigint, %(last)s) AS k OFFSET 0) AS s
"""
"""Computed once for each: what has an offset is not taken apart by the planner."""

_DISPATCHED: Final = "k * 4"
"""Number of a session's first dispatch: its extraction."""

_CHUNK: Final[Sequence[str]] = (
    f"""
    INSERT INTO sessions (tenant_id, id, user_id, group_id, started_at, last_at, ended_at, message_count, token_count,
                          extracted_to, indexed_to, oldest_at)
    SELECT %(tenant)s, session, who, CASE WHEN k %% 50 = 1 THEN 'team' || k %% 7 END, began, began + interval '30 s',
           began + interval '32 s', 16, 400, 16, 16, began
    FROM {_SESSION}
    """,
    f"INSERT INTO participants (tenant_id, session_id, user_id) SELECT %(tenant)s, session, who FROM {_SESSION}",
    f"""
    INSERT INTO messages (tenant_id, session_id, position, id, event_seq, event_id, user_id, role, content,
                          token_count, occurred_at)
    SELECT %(tenant)s, session, p, 'm' || p, %(seq)s + k * {EVENTS} + p, 'e' || k || '-' || p, who,
           CASE WHEN p %% 2 = 1 THEN 'user' ELSE 'assistant' END, t.content, 25 * p, began + p * interval '2 s'
    FROM {_SESSION} CROSS JOIN generate_series(1, 16) AS p
    JOIN bench_texts t ON t.n = (k * 7 + p) %% %(texts)s
    """,
    f"""
    INSERT INTO events (tenant_id, seq, id, source, event_type, subject, time, payload, session_id, user_id,
                        correlation_id, causation_id, hop, root_seq, dispatch_id, received_at, routed_at, written_in)
    OVERRIDING SYSTEM VALUE
    SELECT %(tenant)s, %(seq)s + k * {EVENTS} + p, 'e' || k || '-' || p, CASE WHEN p IN (18, 19, 20, 22)
           THEN 'imprint' ELSE 'bench' END, type, NULL, began + p * interval '2 s',
           jsonb_build_object('user_id', who, 'session_id', session)
           || CASE WHEN p <= 16 THEN jsonb_build_object('role', 'user', 'content', t.content, 'message_id', 'm' || p)
                   WHEN p <= 20 AND p > 17 THEN jsonb_build_object('memory_id',
                        pg_temp.id(1, began, k * {MEMORIES} + p - 18), 'content', t.content)
                   ELSE jsonb_build_object('amount', k %% 1000) END,
           session, who, 'e' || k || '-1', CASE WHEN p BETWEEN 18 AND 20 THEN 'e' || k || '-17' END,
           CASE WHEN p BETWEEN 18 AND 20 THEN 1 ELSE 0 END,
           CASE WHEN p BETWEEN 18 AND 20 THEN %(seq)s + k * {EVENTS} + 17 END,
           CASE WHEN p BETWEEN 18 AND 20 THEN pg_temp.id(2, began, {_DISPATCHED}) END,
           began + p * interval '2 s', began + p * interval '2 s', 0
    FROM {_SESSION} CROSS JOIN generate_series(1, {EVENTS}) AS p
    CROSS JOIN LATERAL (SELECT CASE WHEN p <= 16 THEN 'message.added' WHEN p = 17 THEN 'session.ended'
        WHEN p <= 20 THEN 'memory.created' WHEN p = 21 THEN 'memory.write.important' WHEN p = 22 THEN 'memory.recalled'
        WHEN p = 23 THEN 'custom.type' || k %% %(rules)s WHEN p = 24 THEN 'tool.called'
        WHEN k %% greatest(1, %(sessions)s / 40) = 0 AND k < %(sessions)s / 2 THEN '{RARE}'
        ELSE 'order.placed' END AS type) AS e
    JOIN bench_texts t ON t.n = (k * 7 + p) %% %(texts)s
    WHERE k * {EVENTS} + p <= %(events)s
    """,
    f"""
    INSERT INTO decisions (tenant_id, event_seq, rule, version, verdict, reason, at)
    SELECT %(tenant)s, %(seq)s + k * {EVENTS} + p, rule, 1, verdict, reason, began + p * interval '2 s'
    FROM {_SESSION} CROSS JOIN LATERAL (VALUES
        (4, 'extract_while_chatting', 'gathered', NULL), (8, 'extract_while_chatting', 'gathered', NULL),
        (12, 'extract_while_chatting', 'gathered', NULL), (16, 'extract_while_chatting', 'held', 'debounce'),
        (17, 'consolidate_on_session_end', 'fired', NULL), (21, 'notify_important', 'fired', NULL),
        (22, 'reinforce_recalled', 'fired', NULL), (23, 'bench_rule_' || k %% %(rules)s, 'fired', NULL)
    ) AS d (p, rule, verdict, reason)
    WHERE k * {EVENTS} + p <= %(events)s
    """,
    f"""
    INSERT INTO dispatches (tenant_id, id, event_seq, root_seq, correlation_id, rule, rule_version, action_type,
                            target, params, queue, hold, status, attempt, error, result, created_at, started_at,
                            ended_at)
    SELECT %(tenant)s, pg_temp.id(2, began, {_DISPATCHED} + n), %(seq)s + k * {EVENTS} + p,
           %(seq)s + k * {EVENTS} + p, 'e' || k || '-1', rule, 1, action, target,
           jsonb_build_object('session_id', session), 'io',
           CASE WHEN status = 'held' THEN 'approval' END, status, 1,
           CASE WHEN status = 'dead' THEN 'HTTP ' || 500 + k %% 5 || ' from https://hooks.example/' || k END,
           '{{}}', began + interval '40 s', began + interval '41 s',
           CASE WHEN status <> 'held' THEN began + interval '43 s' END
    FROM {_SESSION} CROSS JOIN LATERAL (VALUES
        (0, 17, 'consolidate_on_session_end', 'agent', 'memory_extractor', 'done'),
        (1, 22, 'reinforce_recalled', 'agent', 'memory_reinforcer', 'done'),
        (2, 21, 'notify_important', CASE WHEN k %% 10 = 0 THEN 'notify' ELSE 'emit' END, 'log',
         CASE WHEN k %% 200 = 1 THEN 'dead' ELSE 'done' END),
        (3, 23, 'bench_rule_' || k %% %(rules)s, 'webhook', 'https://hooks.example',
         CASE WHEN k %% 400 = 3 THEN 'held' ELSE 'done' END)
    ) AS d (n, p, rule, action, target, status)
    WHERE k * {EVENTS} + p <= %(events)s AND (n < 3 OR k %% 20 = 3)
    """,
    f"""
    INSERT INTO model_calls (tenant_id, id, dispatch_id, rule, target, model, prompt, input_tokens, output_tokens, cost,
                             latency_ms, outcome, at)
    SELECT %(tenant)s, pg_temp.id(3, began, k), pg_temp.id(2, began, {_DISPATCHED}), 'consolidate_on_session_end',
           'memory_extractor', 'gpt-bench-' || k %% 3, 'extract@1', 900, 120, 0.001, 300 + k %% 700, 'ok',
           began + interval '42 s'
    FROM {_SESSION} WHERE k %% 4 = 0
    """,
    f"""
    INSERT INTO memories (tenant_id, id, user_id, group_id, session_id, subject, kind, category, topic, content,
                          statement_key, attribute, value, importance, trust, status, occurred_at, recorded_at,
                          updated_at, last_used_at, uses, fade_half_life, fade_at)
    SELECT %(tenant)s, pg_temp.id(1, began, j), who, CASE WHEN k %% 50 = 1 THEN 'team' || k %% 7 END, session, 'Ada',
           'semantic', CASE WHEN j %% 10 = 0 THEN 'preference' WHEN j %% 10 = 1 THEN 'event'
                            WHEN j %% 5000 = 2 THEN 'skill' ELSE 'fact' END, 'personal',
           t.content || ' Visit ' || j || '.'
           || CASE WHEN j %% greatest(1, %(memories)s / 40) = 0 AND j < %(memories)s / 2
                             THEN ' {RARE_WORD}' ELSE '' END,
           md5(j::text), CASE WHEN j %% 20 = 0 THEN 'employer' END, CASE WHEN j %% 20 = 0 THEN 'Acme' END,
           0.3 + 0.7 * (j * 7919 %% 1000) / 1000.0,
           CASE WHEN j %% 1000 = 7 THEN 'disputed' WHEN j %% 1000 = 8 THEN 'quarantined' WHEN j %% 25 = 3
                THEN 'candidate' ELSE 'confirmed' END,
           CASE WHEN j %% 20 = 11 THEN 'archived' WHEN j %% 20 = 13 THEN 'superseded' ELSE 'active' END,
           began + interval '10 s', began + interval '42 s', began + interval '42 s' + j %% 1000 * interval '1 min',
           began + interval '42 s', j %% 7, 30 + j %% 60, began + (60 + j %% 300) * interval '1 day'
    FROM {_SESSION} CROSS JOIN generate_series(0, {MEMORIES - 1}) AS m
    CROSS JOIN LATERAL (SELECT k * {MEMORIES} + m AS j) AS n
    JOIN bench_texts t ON t.n = (j * 13) %% %(texts)s
    WHERE j < %(memories)s
    """,
    f"""
    INSERT INTO memory_versions (tenant_id, memory_id, version, change, reason, author, snapshot, dispatch_id, at,
                                 change_id)
    SELECT m.tenant_id, m.id, 1, 'Add', 'said by the user',
           jsonb_build_object('name', 'memory_extractor', 'rule', 'consolidate_on_session_end', 'rule_version', 1),
           to_jsonb(m) - '{{id_tail,fade_height,fade_floor,fade_half_life,fade_at}}'::text[],
           pg_temp.id(2, began, {_DISPATCHED}), m.recorded_at, pg_temp.id(4, began, k * {MEMORIES} + o)
    FROM {_SESSION} CROSS JOIN generate_series(0, {MEMORIES - 1}) AS o
    JOIN memories m ON m.tenant_id = %(tenant)s AND m.id = pg_temp.id(1, began, k * {MEMORIES} + o)
    """,
    f"""
    INSERT INTO evidence (tenant_id, memory_id, session_id, message_id, event_id, quote, at)
    SELECT %(tenant)s, pg_temp.id(1, began, j), session, 'm' || 1 + 2 * m, 'e' || k || '-' || 1 + 2 * m, t.content,
           began + interval '42 s'
    FROM {_SESSION} CROSS JOIN generate_series(0, {MEMORIES - 1}) AS m
    CROSS JOIN LATERAL (SELECT k * {MEMORIES} + m AS j) AS n
    JOIN bench_texts t ON t.n = (j * 13) %% %(texts)s
    WHERE j < %(memories)s
    """,
    f"""
    INSERT INTO relations (tenant_id, from_id, relation, to_id, at)
    SELECT %(tenant)s, pg_temp.id(1, began, k * {MEMORIES} + 1), 'related', pg_temp.id(1, began, k * {MEMORIES}),
           began + interval '42 s'
    FROM {_SESSION} WHERE k * {MEMORIES} + 1 < %(memories)s
    """,
    f"""
    INSERT INTO verdicts (tenant_id, id, user_id, kind, reason, candidate, memory_id, at)
    SELECT %(tenant)s, pg_temp.id(4, began, k * {MEMORIES}), who, CASE WHEN k %% 9 = 0 THEN 'merge' ELSE 'add' END,
           'nothing like it is known', jsonb_build_object('content', t.content, 'subject', 'Ada'),
           pg_temp.id(1, began, k * {MEMORIES}), began + interval '42 s'
    FROM {_SESSION} JOIN bench_texts t ON t.n = (k * {MEMORIES} * 13) %% %(texts)s
    WHERE k * {MEMORIES} < %(memories)s
    """,
    f"""
    INSERT INTO search_index (tenant_id, type, session_id, ref, user_id, group_id, occurred_at, terms, own_terms,
                              embedding)
    SELECT %(tenant)s, 'memory', '', pg_temp.id(1, began, j)::text, who,
           CASE WHEN k %% 50 = 1 THEN 'team' || k %% 7 END, began, t.terms, t.own_terms, t.embedding
    FROM {_SESSION} CROSS JOIN generate_series(0, {MEMORIES - 1}) AS m
    CROSS JOIN LATERAL (SELECT k * {MEMORIES} + m AS j) AS n
    JOIN bench_texts t ON t.n = (j * 13) %% %(texts)s
    WHERE j < %(memories)s AND j %% 20 NOT IN (11, 13) AND j %% 1000 <> 8
    """,
    f"""
    INSERT INTO search_index (tenant_id, type, session_id, ref, position, user_id, occurred_at, terms, own_terms,
                              embedding)
    SELECT %(tenant)s, 'message', session, 'm' || p, p, who, began + p * interval '2 s', t.terms, t.own_terms,
           t.embedding
    FROM {_SESSION} CROSS JOIN generate_series(1, 16, 2) AS p
    JOIN bench_texts t ON t.n = (k * 7 + p) %% %(texts)s
    WHERE k %% 5 = 0
    """,
)

_RESERVED: Final = """
    SELECT place, setval('events_seq_seq', place + %(events)s + 1)
    FROM (SELECT nextval('events_seq_seq') AS place) AS next
"""
"""The service goes on writing, behind what is put in."""

_WHOLE: Final[Sequence[str]] = (
    f"""
    INSERT INTO term_counts (tenant_id, owner, term, documents)
    SELECT tenant_id, 'user:' || user_id, term, count(*)
    FROM search_index CROSS JOIN LATERAL unnest(own_terms || {DOCUMENTS}) AS term
    WHERE tenant_id = %(tenant)s AND type = 'message' GROUP BY 1, 2, 3
    ON CONFLICT DO NOTHING
    """,
    """
    INSERT INTO documents (tenant_id, id, user_id, title, media_type, content, sha256)
    SELECT %(tenant)s, pg_temp.id(5, pg_temp.at(k * 100, %(sessions)s), k),
           CASE WHEN k %% 10 > 0 THEN 'u' || k %% 997 END, 'Handbook ' || k, 'text/plain',
           repeat('What it says. ', 100), md5(k::text)
    FROM generate_series(0, %(memories)s / 200) AS k
    """,
    """
    INSERT INTO passages (tenant_id, document_id, position, content, from_char, to_char)
    SELECT tenant_id, id, p, repeat('What it says. ', 30), p * 420, p * 420 + 420
    FROM documents CROSS JOIN generate_series(1, 3) AS p WHERE tenant_id = %(tenant)s ON CONFLICT DO NOTHING
    """,
    """
    INSERT INTO profiles (tenant_id, owner, version, attributes)
    SELECT DISTINCT tenant_id, 'user:' || user_id, 1, jsonb_build_object()
    FROM memories WHERE tenant_id = %(tenant)s AND user_id IS NOT NULL ON CONFLICT DO NOTHING
    """,
)
