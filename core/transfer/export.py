"""Export of all that is stored of a user or a group, from one snapshot of the database, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Final

from pydantic_core import from_json
from sqlalchemy import text

from core.baton import REQUESTS
from core.errors import NotFound
from core.memory.receipts import Signer
from core.screening import output
from core.sessions.known_owners import KINDS, Kind
from core.storage import db
from core.storage.db import Database, Tx
from core.transfer import profile_places
from core.transfer.archive import FILES, GROUP_FORMAT, ArchiveWriter
from core.transfer.seals import Seals
from core.types import Json, Trust

SECONDS: Final = 600
"""Time limit of one statement of an export; it is read into a file, so that a slow client does not hold a snapshot."""

FETCHED: Final = 16
"""Rows fetched at a time: a message or a document may have a quarter of a megabyte."""


def write(
    database: Database,
    tenant_id: str,
    name: str,
    target: IO[bytes],
    *,
    kind: Kind = "user",
    raw: bool = False,
    signer: Signer | None = None,
) -> None:
    """Write the archive of a user or a group to a file. NotFound: nothing is stored of it.

    `raw`: texts as they were sent; otherwise secrets are masked and hostile messages marked. Of a group each line
    names its user, and what was said to a part of the group is left out. `signer` seals what is pinned or confirmed of
    a user, so that it is again when the archive is restored here; without it everything comes back unconfirmed.
    """
    archive = ArchiveWriter(target)
    with database.snapshot(tenant_id, SECONDS) as tx:
        tx.execute(_UTC)
        for file in FILES:
            rows = _profile(tx, kind, name) if file == "profile" else _rows(tx, _STATEMENTS[kind][file], name)
            prepared = rows if raw else map(_screened, rows)
            if file == "memories" and kind == "user" and signer is not None:
                prepared = map(Seals(signer, tenant_id, name).sealed, prepared)
            archive.write_lines(file, _in_turn(prepared))
    about: Json = {f"{kind}_id": name, "raw": raw} | ({"format": GROUP_FORMAT} if kind == "group" else {})
    if not any(archive.close(about).values()):
        raise NotFound(f"Nothing is stored about a {kind} {name!r}, so there is nothing to export. Check the name.")


def _in_turn(rows: Iterable[Json]) -> Iterator[Json]:
    """Yield rows; between two of them another request may compute."""
    for row in rows:
        yield row
        REQUESTS.give_way()


def _rows(tx: Tx, query: str, name: str) -> Iterator[Json]:
    statement = query.replace("%", "%%").replace(":owner", "%(owner)s")
    for (row,) in db.stream_rows(tx, statement, {"owner": name}, FETCHED):
        yield from_json(row)


def _profile(tx: Tx, kind: Kind, name: str) -> Iterator[Json]:
    """Yield the profile, whose entries name memories by their ordinals."""
    row = tx.execute(_PROFILE, {"owner": f"{kind}:{name}"}).one_or_none()
    if row is not None:
        ids = sorted(set(profile_places.named(row.attributes, str)))
        ordinals = {memory.id: memory.ordinal for memory in tx.execute(_ORDINALS[kind], {"owner": name, "ids": ids})}
        yield {"attributes": profile_places.renamed(row.attributes, ordinals, str), "version": row.version}


def _screened(row: Json) -> Json:
    """Return a row without its secrets; of a message, also whether it would command its reader."""
    masked: Json = output.value(row)
    if "role" in row and output.screened_output(row["content"]).hostile:
        return masked | {"trust": Trust.QUARANTINED}
    return masked


_UTC = text("SET LOCAL timezone = 'UTC'")

_NUMBERED: Final = """
    SELECT m.*, row_number() OVER (ORDER BY recorded_at, id) AS ordinal
    FROM memories m WHERE {owner} = :owner AND status <> 'erased'
"""
"""Memories of the user or group in an order that an import keeps: the ids that it gives out follow the ordinals."""

_SPOKEN: Final = """
    SELECT s.*, row_number() OVER (PARTITION BY session_id ORDER BY position) AS ordinal
    FROM messages s WHERE {owner} = :owner
"""
"""Messages of the user, or to the whole group, numbered within their session without others."""

_NO_ID: Final = r"'\m[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\M', '…', 'gi'"

_LOCAL: Final = """
    CASE WHEN utc_offset IS NULL THEN to_jsonb(occurred_at) ELSE to_jsonb(
        to_char(occurred_at AT TIME ZONE make_interval(mins => utc_offset), 'YYYY-MM-DD"T"HH24:MI:SS.US')
        || CASE WHEN utc_offset < 0 THEN '-' ELSE '+' END || to_char(make_interval(mins => abs(utc_offset)), 'HH24:MI'))
    END
"""
"""Time of a message on its speaker's clock, if that is known: an import takes the offset from it."""

_TEMPLATES: Final[Mapping[str, str]] = {
    "sessions": """
        SELECT jsonb_build_object(
            'id', id, 'group_id', group_id, 'started_at', started_at, 'ended_at', ended_at,
            'state', CASE WHEN {owner} = :owner THEN state ELSE '{{}}' END{user})::text
        FROM sessions s
        WHERE {owner} = :owner OR EXISTS (SELECT FROM messages m WHERE m.session_id = s.id AND m.{owner} = :owner)
        ORDER BY id COLLATE "C"
    """,
    "messages": """
        SELECT jsonb_build_object(
            'session_id', session_id, 'ordinal', ordinal, 'id', id, 'group_id', group_id, 'agent_id', agent_id,
            'role', role, 'speaker', speaker, 'content', content, 'occurred_at', {local},
            'importance', importance, 'extras', extras, 'audience_labels', audience_labels,
            'hidden', EXISTS (
                SELECT FROM hidden_messages h
                WHERE h.session_id = s.session_id AND h.message_id = s.id){user})::text
        FROM ({spoken}) AS s ORDER BY session_id COLLATE "C", ordinal
    """,
    "memories": """
        WITH spoken AS ({spoken})
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
                    'rule', v.author ->> 'rule', 'reason', regexp_replace(v.reason, {no_id}),
                    'snapshot', v.snapshot - ARRAY['id', 'tenant_id', 'user_id', 'statement_key', 'version',
                                                   'withdrawn', 'returned']) ORDER BY v.version), '[]')
                FROM memory_versions v WHERE v.memory_id = n.id),
            'evidence', (
                SELECT coalesce(jsonb_agg(jsonb_build_object(
                    'session_id', e.session_id, 'ordinal', m.ordinal, 'quote', e.quote, 'at', e.at)
                    ORDER BY e.session_id COLLATE "C", m.ordinal, e.at, e.quote COLLATE "C"), '[]')
                FROM evidence e LEFT JOIN spoken m ON m.session_id = e.session_id AND m.id = e.message_id
                WHERE e.memory_id = n.id AND (e.session_id = '' OR m.id IS NOT NULL)){user})::text
        FROM ({numbered}) AS n ORDER BY ordinal
    """,
    "relations": """
        WITH numbered AS ({numbered})
        SELECT jsonb_build_object(
            'from', f.ordinal, 'relation', r.relation, 'to', t.ordinal, 'strength', r.strength, 'at', r.at)::text
        FROM relations r JOIN numbered f ON f.id = r.from_id JOIN numbered t ON t.id = r.to_id
        ORDER BY f.ordinal, r.relation COLLATE "C", t.ordinal
    """,
    "documents": """
        SELECT jsonb_build_object(
            'title', title, 'uri', uri, 'group_id', group_id, 'media_type', media_type, 'content', content,
            'metadata', metadata, 'version', version, 'created_at', created_at,
            'updated_at', updated_at{user})::text
        FROM documents WHERE {owner} = :owner
        ORDER BY created_at, uri COLLATE "C", title COLLATE "C", sha256 COLLATE "C", id
    """,
    "plans": """
        SELECT jsonb_build_object(
            'session_id', session_id, 'id', id, 'group_id', group_id, 'goal', goal, 'status', status,
            'steps', steps, 'current', current, 'version', version, 'updated_at', updated_at{user})::text
        FROM plans WHERE {owner} = :owner ORDER BY session_id COLLATE "C", id COLLATE "C"
    """,
    "names": """
        SELECT jsonb_build_object('form', form, 'other', other, 'same', same, 'at', at)::text
        FROM naming_decisions WHERE {decided} ORDER BY form COLLATE "C", other COLLATE "C"
    """,
}
"""One row of JSON for each line, of a user or a group (`owner`). Ids are those that callers have chosen; memories are
named by their ordinals.
"""


def _statements(kind: Kind) -> dict[str, str]:
    """Return the statements for an archive of a user or a group; of a group each line names its user."""
    owner = f"{kind}_id"
    parts = {
        "owner": owner,
        "numbered": _NUMBERED.format(owner=owner),
        "spoken": _SPOKEN.format(owner=owner),
        "user": ", 'user_id', user_id" if kind == "group" else "",
        "no_id": _NO_ID,
        "local": _LOCAL,
        "decided": "user_id = :owner" if kind == "user" else "user_id = :owner AND false",
    }
    return {name: template.format_map(parts) for name, template in _TEMPLATES.items()}


_STATEMENTS: Final = {kind: _statements(kind) for kind in KINDS}

_PROFILE = text("SELECT version, attributes FROM profiles WHERE owner = :owner")

_ORDINALS: Final = {
    kind: text(
        f"SELECT id::text, ordinal FROM ({_NUMBERED.format(owner=f'{kind}_id')}) AS n WHERE id::text = ANY(:ids)"
    )
    for kind in KINDS
}
