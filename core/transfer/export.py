"""Export of all that is stored of a user, from one snapshot of the database, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import IO, Any, Final

from pydantic_core import from_json
from sqlalchemy import text

from core.errors import NotFound
from core.screening import output
from core.storage import db
from core.storage.db import Database, Tx
from core.transfer.archive import FILES, ArchiveWriter
from core.types import Json, Trust

SECONDS: Final = 600
"""Time limit of one statement of an export; it is read into a file, so that a slow client does not hold a snapshot."""

FETCHED: Final = 16
"""Rows fetched at a time: a message or a document may have a quarter of a megabyte."""


def write(database: Database, tenant_id: str, user_id: str, target: IO[bytes], *, raw: bool = False) -> None:
    """Write the archive of a user to a file. NotFound: nothing is stored of them.

    `raw`: texts as they were sent; otherwise secrets are masked and hostile messages marked.
    """
    archive = ArchiveWriter(target)
    with database.snapshot(tenant_id, SECONDS) as tx:
        tx.execute(_UTC)
        for name in FILES:
            rows = _profile(tx, user_id) if name == "profile" else _rows(tx, name, user_id)
            archive.write_lines(name, rows if raw else map(_screened, rows))
    if not any(archive.close({"user_id": user_id, "raw": raw}).values()):
        raise NotFound(f"Nothing is stored about a user {user_id!r}, so there is nothing to export. Check the name.")


def _rows(tx: Tx, name: str, user_id: str) -> Iterator[Json]:
    statement = _STATEMENTS[name].replace("%", "%%").replace(":user", "%(user)s")
    for (row,) in db.stream_rows(tx, statement, {"user": user_id}, FETCHED):
        yield from_json(row)


def _profile(tx: Tx, user_id: str) -> Iterator[Json]:
    """Yield the profile, whose entries name memories by their ordinals."""
    row = tx.execute(_PROFILE, {"owner": f"user:{user_id}"}).one_or_none()
    if row is not None:
        ids = sorted(set(_cited(row.attributes)))
        ordinals = {one.id: one.ordinal for one in tx.execute(_ORDINALS, {"user": user_id, "ids": ids})}
        yield {"attributes": _by_ordinal(row.attributes, ordinals), "version": row.version}


def _cited(value: Any) -> Iterator[str]:
    """Yield the ids of the memories that a part of a profile names."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from inner if key == "memories" and isinstance(inner, list) else _cited(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _cited(inner)


def _by_ordinal(value: Any, ordinals: Mapping[str, int]) -> Any:
    if isinstance(value, dict):
        return {
            key: [ordinals[one] for one in inner if one in ordinals]
            if key == "memories" and isinstance(inner, list)
            else _by_ordinal(inner, ordinals)
            for key, inner in value.items()
        }
    return [_by_ordinal(inner, ordinals) for inner in value] if isinstance(value, list) else value


def _screened(row: Json) -> Json:
    """Return a row without its secrets; of a message, also whether it would command its reader."""
    masked: Json = output.value(row)
    if "role" in row and output.screened_output(row["content"]).hostile:
        return masked | {"trust": Trust.QUARANTINED}
    return masked


_UTC = text("SET LOCAL timezone = 'UTC'")

_NUMBERED: Final = """
    SELECT m.*, row_number() OVER (ORDER BY recorded_at, id) AS ordinal
    FROM memories m WHERE user_id = :user AND status <> 'erased'
"""
"""The user's memories in an order that an import keeps: the ids that it gives out follow the ordinals."""

_SPOKEN: Final = """
    SELECT s.*, row_number() OVER (PARTITION BY session_id ORDER BY position) AS ordinal
    FROM messages s WHERE user_id = :user
"""
"""The user's own messages, numbered within their session without those of others."""

_NO_ID: Final = r"'\m[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\M', '…', 'gi'"

_STATEMENTS: Final[Mapping[str, str]] = {
    "sessions": """
        SELECT jsonb_build_object(
            'id', id, 'group_id', group_id, 'started_at', started_at, 'ended_at', ended_at,
            'state', CASE WHEN user_id = :user THEN state ELSE '{}' END)::text
        FROM sessions s
        WHERE user_id = :user OR EXISTS (SELECT FROM messages m WHERE m.session_id = s.id AND m.user_id = :user)
        ORDER BY id COLLATE "C"
    """,
    "messages": f"""
        SELECT jsonb_build_object(
            'session_id', session_id, 'ordinal', ordinal, 'id', id, 'group_id', group_id, 'agent_id', agent_id,
            'role', role, 'speaker', speaker, 'content', content, 'occurred_at', occurred_at,
            'importance', importance, 'extras', extras, 'audience_labels', audience_labels,
            'hidden', EXISTS (SELECT FROM hidden_messages h WHERE h.session_id = s.session_id AND h.message_id = s.id)
            )::text
        FROM ({_SPOKEN}) AS s ORDER BY session_id COLLATE "C", ordinal
    """,
    "memories": f"""
        WITH spoken AS ({_SPOKEN})
        SELECT jsonb_build_object(
            'ordinal', ordinal, 'group_id', group_id, 'session_id', session_id, 'subject', subject, 'kind', kind,
            'category', category, 'topic', topic, 'content', content, 'structured', structured,
            'attribute', attribute, 'value', value, 'importance', importance, 'confidence', confidence,
            'trust', trust, 'status', status, 'occurred_at', occurred_at, 'said_at', said_at,
            'valid_from', valid_from, 'valid_to', valid_to, 'recorded_at', recorded_at, 'updated_at', updated_at,
            'expires_at', expires_at, 'half_life_days', half_life_days, 'last_used_at', last_used_at, 'uses', uses,
            'pinned', pinned, 'tags', tags, 'version', version, 'level', level, 'audience_labels', audience_labels,
            'versions', (
                SELECT coalesce(jsonb_agg(jsonb_build_object(
                    'version', v.version, 'change', v.change, 'at', v.at, 'author', v.author ->> 'name',
                    'rule', v.author ->> 'rule', 'reason', regexp_replace(v.reason, {_NO_ID}),
                    'snapshot', v.snapshot - ARRAY['id', 'tenant_id', 'user_id', 'statement_key', 'version',
                                                   'withdrawn', 'returned']) ORDER BY v.version), '[]')
                FROM memory_versions v WHERE v.memory_id = n.id),
            'evidence', (
                SELECT coalesce(jsonb_agg(jsonb_build_object(
                    'session_id', e.session_id, 'ordinal', m.ordinal, 'quote', e.quote, 'at', e.at)
                    ORDER BY e.session_id COLLATE "C", m.ordinal, e.at, e.quote COLLATE "C"), '[]')
                FROM evidence e LEFT JOIN spoken m ON m.session_id = e.session_id AND m.id = e.message_id
                WHERE e.memory_id = n.id AND (e.session_id = '' OR m.id IS NOT NULL)))::text
        FROM ({_NUMBERED}) AS n ORDER BY ordinal
    """,
    "relations": f"""
        WITH numbered AS ({_NUMBERED})
        SELECT jsonb_build_object(
            'from', f.ordinal, 'relation', r.relation, 'to', t.ordinal, 'strength', r.strength, 'at', r.at)::text
        FROM relations r JOIN numbered f ON f.id = r.from_id JOIN numbered t ON t.id = r.to_id
        ORDER BY f.ordinal, r.relation COLLATE "C", t.ordinal
    """,
    "documents": """
        SELECT jsonb_build_object(
            'title', title, 'uri', uri, 'group_id', group_id, 'media_type', media_type, 'content', content,
            'metadata', metadata, 'version', version, 'created_at', created_at, 'updated_at', updated_at)::text
        FROM documents WHERE user_id = :user
        ORDER BY created_at, uri COLLATE "C", title COLLATE "C", sha256 COLLATE "C", id
    """,
    "plans": """
        SELECT jsonb_build_object(
            'session_id', session_id, 'id', id, 'group_id', group_id, 'goal', goal, 'status', status,
            'steps', steps, 'current', current, 'version', version, 'updated_at', updated_at)::text
        FROM plans WHERE user_id = :user ORDER BY session_id COLLATE "C", id COLLATE "C"
    """,
}
"""One row of JSON for each line. Ids are those that callers have chosen; memories are named by their ordinals."""

_PROFILE = text("SELECT version, attributes FROM profiles WHERE owner = :owner")

_ORDINALS = text(f"SELECT id::text, ordinal FROM ({_NUMBERED}) AS n WHERE id::text = ANY(:ids)")
