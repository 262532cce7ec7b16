"""Many users, one of whom is to be erased, and a group: rows as the service writes them, made by the server."""

from __future__ import annotations

from typing import Final

import psycopg

from core.language.terms import TERM_IDS
from tests.samples import TENANT

USER: Final = "ada"
GROUP: Final = "crew"

MESSAGES: Final = 8
"""Of each session."""


def load(admin_url: str, sessions: int, *, of_user: int = 100, of_group: int = 100) -> None:
    """Fill the tenant. Every so many sessions one is the user's, one has them as a guest, and one is the group's."""
    values = {"t": TENANT, "sessions": sessions, "user": USER, "group": GROUP, "every": of_user, "grouped": of_group}
    with psycopg.connect(admin_url) as connection, psycopg.ClientCursor(connection) as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        for statement in STATEMENTS:
            cursor.execute(statement, values)


_SESSION: Final = """
    (SELECT k, 's' || k AS s, CASE WHEN k %% %(every)s = 0 THEN %(user)s ELSE 'u' || k %% 997 END AS u,
            CASE WHEN k %% %(grouped)s = 5 THEN %(group)s WHEN k %% 50 = 6 THEN 'team' || k %% 7 END AS g
     FROM generate_series(0, %(sessions)s - 1) AS k OFFSET 0) AS o
"""

_SAID: Final = f"""
    (SELECT o.*, p, CASE WHEN k %% %(every)s = 7 AND p = 1 THEN %(user)s ELSE u END AS who,
            md5('m' || k || '-' || p) AS m, 'e' || k || '-' || p AS e
     FROM {_SESSION}, generate_series(1, {MESSAGES}) AS p OFFSET 0) AS o
"""
"""Each message: session `s` of `u`, position `p`, speaker `who`, group `g`, id `m`, event `e`."""

_MEMORY: Final = "md5('memory' || k)::uuid"
_DISPATCH: Final = "md5('dispatch' || k || '-' || p)::uuid"

STATEMENTS: Final = (
    f"""
    INSERT INTO sessions (tenant_id, id, user_id, group_id, started_at, last_at, message_count, extracted_to,
        indexed_to)
    SELECT %(t)s, s, u, g, now(), now(), {MESSAGES}, {MESSAGES}, {MESSAGES} FROM {_SESSION}
    """,
    "CREATE TEMP TABLE told ON COMMIT DROP AS SELECT *, row_number() OVER (ORDER BY k, p) AS n FROM " + _SAID,
    """
    INSERT INTO events (tenant_id, seq, id, source, event_type, subject, time, payload, session_id, user_id,
                        correlation_id, routed_at)
    OVERRIDING SYSTEM VALUE
    SELECT %(t)s, n, e, 'chat', 'message.added', 'session:' || s, now(),
           jsonb_strip_nulls(jsonb_build_object('session_id', s, 'user_id', who, 'group_id', g, 'role', 'user',
                                                'content', 'What was said as ' || n)),
           s, who, e, now()
    FROM told
    """,
    "SELECT setval('events_seq_seq', (SELECT max(seq) FROM events))",
    f"""
    INSERT INTO events (tenant_id, id, source, event_type, subject, time, payload, user_id, correlation_id,
                        causation_id, routed_at)
    SELECT %(t)s, 'c' || k, 'imprint', 'memory.created', 'memory:' || {_MEMORY}, now(),
           jsonb_strip_nulls(jsonb_build_object('user_id', who, 'memory_id', {_MEMORY}, 'group_id', g)), who, e, e,
               now()
    FROM told WHERE p = 1
    """,
    """
    INSERT INTO messages (tenant_id, session_id, position, id, event_seq, event_id, user_id, group_id, role, content,
                          occurred_at)
    SELECT %(t)s, s, p, m, n, e, who, g, 'user', 'What was said as ' || n, now() FROM told
    """,
    "INSERT INTO participants SELECT DISTINCT %(t)s, s, who FROM told",
    "INSERT INTO decisions (tenant_id, event_seq, rule, version, verdict) SELECT %(t)s, n, 'r', 1, 'fired' FROM told",
    f"""
    INSERT INTO dispatches (tenant_id, id, event_seq, root_seq, correlation_id, action_type, target, params, queue,
                            status, ended_at, lists_others)
    SELECT %(t)s, {_DISPATCH}, n, n, e, 'run_agent', 'knowledge_indexer', jsonb_build_object('sessions', ARRAY[s]),
        'cpu',
           'done', now(), false FROM told
    """,
    f"""
    INSERT INTO model_calls (tenant_id, dispatch_id, model, prompt, outcome, answer)
    SELECT %(t)s, {_DISPATCH}, 'm', 'p', 'ok', 'words' FROM told WHERE p %% 2 = 0
    """,
    f"""
    INSERT INTO memories (tenant_id, id, user_id, group_id, subject, kind, category, topic, content, statement_key,
        trust,
                          status, occurred_at)
    SELECT %(t)s, {_MEMORY}, u, g, u, 'semantic', 'fact', 'other', 'Knows ' || k, md5(k::text), 'candidate',
        'active', now()
    FROM {_SESSION}
    """,
    f"""
    INSERT INTO memory_versions (tenant_id, memory_id, version, change, reason, snapshot, dispatch_id, change_id)
    SELECT %(t)s, {_MEMORY}, v, 'add', 'New.', jsonb_build_object('content', 'Knows ' || k),
           md5('dispatch' || k || '-2')::uuid, md5('change' || k || v)::uuid
    FROM {_SESSION}, generate_series(1, 2) AS v
    """,
    f"""
    INSERT INTO evidence (tenant_id, memory_id, session_id, message_id, event_id, quote)
    SELECT %(t)s, {_MEMORY}, s, m, e, 'What was said as ' || n FROM told WHERE p IN (1, 2)
    """,
    f"""
    INSERT INTO evidence (tenant_id, memory_id, session_id, message_id, event_id, quote)
    SELECT %(t)s, {_MEMORY}, '', 'e' || k || '-4', 'e' || k || '-4', 'Asked for.' FROM {_SESSION} WHERE k %% 2 = 0
    """,
    f"""
    INSERT INTO relations (tenant_id, from_id, relation, to_id)
    SELECT %(t)s, md5('memory' || k + 1)::uuid, 'related', {_MEMORY} FROM {_SESSION}
    """,
    f"""
    INSERT INTO verdicts (tenant_id, id, user_id, group_id, kind, reason, candidate, memory_id)
    SELECT %(t)s, md5('change' || k || '1')::uuid, u, g, 'add', 'New.',
           jsonb_build_object('evidence', jsonb_build_array(jsonb_build_object('session_id', s, 'message_id', m))),
           {_MEMORY} FROM told WHERE p = 1
    """,
    f"""
    INSERT INTO search_index (tenant_id, type, session_id, ref, position, user_id, group_id, occurred_at, terms,
        own_terms)
    SELECT %(t)s, 'message', s, m, p, who, g, now(), '{{1:1}}/{TERM_IDS}', ARRAY[1] FROM told
    """,
    """
    INSERT INTO term_counts (tenant_id, owner, term, documents)
    SELECT %(t)s, owner, term, 1000

    FROM (SELECT DISTINCT 'user:' || who AS owner FROM told
          UNION SELECT 'group:' || g FROM told WHERE g IS NOT NULL) AS o,
         generate_series(1, 20) AS term
    """,
    """
    INSERT INTO units (tenant_id, id, session_id, group_id, from_position, to_position, boundary, subject, summary,
                       narrative, started_at, ended_at)
    SELECT %(t)s, md5('unit' || k || '-' || p)::uuid, s, g, p, p + 3, 'start', 's', 's', 'n', now(), now()
    FROM told WHERE p IN (1, 5)
    """,
    f"INSERT INTO summaries (tenant_id, session_id, to_position, content) SELECT %(t)s, s, 8, 'c' FROM {_SESSION}",
    f"""
    INSERT INTO plans (tenant_id, session_id, id, user_id, group_id, goal, status, event_id, event_seq)
    SELECT %(t)s, s, 'p', u, g, 'g', 'open', 'e', 1 FROM {_SESSION}
    """,
    f"""
    INSERT INTO contexts (tenant_id, session_id, reader, from_position, memory_ids)
    SELECT %(t)s, s, u, 1, '{{}}' FROM {_SESSION}
    """,
    f"INSERT INTO working (tenant_id, session_id, key, value) SELECT %(t)s, s, 'k', '1' FROM {_SESSION}",
    f"""
    INSERT INTO hidden_messages (tenant_id, session_id, message_id, reason)
    SELECT %(t)s, s, md5('m' || k || '-1'), 'r' FROM {_SESSION}
    """,
    f"""
    INSERT INTO documents (tenant_id, id, user_id, group_id, title, media_type, content, sha256)
    SELECT %(t)s, md5('document' || k)::uuid, u, g, 't', 'text/plain', 'c', 'h' FROM {_SESSION}
    """,
    f"""
    INSERT INTO passages (tenant_id, document_id, position, content, from_char, to_char)
    SELECT %(t)s, md5('document' || k)::uuid, p, 'c', 0, 1 FROM {_SESSION}, generate_series(1, 2) AS p
    """,
    """
    INSERT INTO owners (tenant_id, kind, id, last_at)
    SELECT DISTINCT %(t)s, 'user', who, now() FROM told
    UNION ALL SELECT DISTINCT %(t)s, 'group', g, now() FROM told WHERE g IS NOT NULL
    UNION ALL SELECT %(t)s, 'user', 'guest' || k, now() FROM generate_series(1, %(sessions)s) AS k
    """,
    """
    INSERT INTO notices (tenant_id, id, channel, digest, text, user_id, event_id, due_at)
    SELECT %(t)s, md5('notice' || k)::uuid, 'log', 'd', 't', who, e, now() FROM told WHERE p = 1
    """,
    f"""
    INSERT INTO servings (tenant_id, user_id, hash) SELECT %(t)s, u, 'h' || k FROM {_SESSION}
    """,
    f"""
    INSERT INTO imports (tenant_id, id, user_id, group_id, status, size)
    SELECT %(t)s, md5('import' || k)::uuid, u, g, 'done', 1 FROM {_SESSION}
    """,
    f"""
    INSERT INTO import_places (tenant_id, import_id, file, session_id, ordinal, ref)
    SELECT %(t)s, md5('import' || k)::uuid, 'memories', '', 1, 'r' FROM {_SESSION}
    """,
    f"""
    INSERT INTO bulk_rows (tenant_id, job_id, place, memory_id, detail)
    SELECT %(t)s, md5('job' || k %% 20)::uuid, k, {_MEMORY}, 'd' FROM {_SESSION}
    """,
    f"""
    INSERT INTO rebuilds (tenant_id, id, user_id, shadow_id, status)
    SELECT %(t)s, md5('rebuild' || k)::uuid, 'u' || k %% 997, 'rebuild-' || k, 'dropped' FROM {_SESSION}
    """,
    """
    INSERT INTO search_changes (tenant_id, owner, at, type, session_id, ref)
    SELECT %(t)s, CASE WHEN p = 1 AND g IS NOT NULL THEN 'group:' || g ELSE 'user:' || who END, 1, 'message', s,
        m FROM told
    """,
)
