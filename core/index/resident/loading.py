"""Loads index rows in PostgreSQL's binary form.

`FIELDS` holds what filters and ranking read of a row. Texts stay in the database; each answer reads them there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Final, NamedTuple

from core.index.resident.columns import Columns, ColumnsBuilder
from core.index.resident.encoding import ENUMERATED, message_key
from core.storage.db import Tx, stream_chunks

MEMORIES: Final = ("memory",)
MESSAGES_AND_MEMORIES: Final = ("message", "memory")


class Rows(NamedTuple):
    """Rows of the index that an entry caches: of a user, of a group, or of either, of these types."""

    user_id: str | None
    group_id: str | None
    types: Sequence[str]


def load_all(tx: Tx, rows: Rows, dimension: int) -> Columns:
    """Return all of them. A vector of another dimension is left out."""
    return _read(tx, _ALL, {"user": rows.user_id, "group": rows.group_id, "types": list(rows.types)}, dimension)


def load_named(tx: Tx, rows: Rows, names: Sequence[Sequence[str]], dimension: int) -> Columns:
    """Return those named by type, session and id; names without a row are ignored."""
    types, sessions, refs = zip(*names, strict=True)
    values: dict[str, Any] = {"types": list(types), "sessions": list(sessions), "refs": list(refs)}
    values |= {"user": rows.user_id, "group": rows.group_id}
    return _read(tx, _NAMED, values, dimension)


def citations(tx: Tx, memory_ids: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield pairs of a memory and a message that it cites, by their keys, in batches."""
    if not memory_ids:
        return
    with closing(stream_chunks(tx, _CITED, {"ids": f"{{{','.join(memory_ids)}}}"})) as read:
        for rows in read:
            yield [row[0] for row in rows], [message_key(row[1], row[2]) for row in rows]


def _read(tx: Tx, statement: str, values: Mapping[str, Any], dimension: int) -> Columns:
    reading = ColumnsBuilder(dimension)
    with closing(stream_chunks(tx, statement, {**values, "dimension": dimension, **enumerations()})) as read:
        for rows in read:
            reading.add(rows)
    return reading.columns()


def enumerations() -> dict[str, list[str]]:
    """Return the parameters of `field_bytes`."""
    return {f"{name}_values": list(values) for name, values in ENUMERATED.items()}


_SECONDS = "float8send(coalesce(extract(epoch FROM {0})::float8, '{1}'::float8))"


def field_bytes(
    memory: str, embedded: str, timed: str, asks: str, role: str, told: str, names: str, position: str, at: str
) -> str:
    """Return the SQL that encodes a row in the order of `FIELDS`; `m` is the row's memory, null for a message."""
    return _FIELDS.format(
        memory=memory,
        embedded=embedded,
        timed=timed,
        asks=asks,
        role=role,
        told=told,
        names=names,
        position=position,
        at=_SECONDS.format(at, "0"),
        since=_SECONDS.format("coalesce(m.valid_from, m.occurred_at)", "-infinity"),
        until=_SECONDS.format("m.valid_to", "infinity"),
        expires=_SECONDS.format("m.expires_at", "infinity"),
    )


_FIELDS = """
    boolsend({memory}) || boolsend({embedded}) || boolsend({timed}) || boolsend({asks})
    || int2send(coalesce(array_position(%(role_values)s::text[], {role}), 1)::int2)
    || int2send({told}) || int2send({names}) || int4send({position})
    || {at}
    || int2send(coalesce(array_position(%(status_values)s::text[], m.status), 0)::int2)
    || int2send(coalesce(array_position(%(trust_values)s::text[], m.trust), 0)::int2)
    || int2send(coalesce(array_position(%(kind_values)s::text[], m.kind), 0)::int2)
    || int2send(coalesce(array_position(%(category_values)s::text[], m.category), 0)::int2)
    || int2send(coalesce(array_position(%(topic_values)s::text[], m.topic), 0)::int2)
    || float4send(coalesce(m.importance, 0)::float4)
    || {since} || {until} || {expires}
"""
"""Enumerated columns of a message are 0."""

_OF_INDEX = field_bytes(
    memory="i.type = 'memory'",
    embedded="coalesce(vector_dims(i.embedding) = %(dimension)s, false)",
    timed="i.timed",
    asks="i.asks",
    role="t.role",
    told="i.told",
    names="i.names",
    position="i.position",
    at="i.occurred_at",
)

_ROWS = f"""
    SELECT CASE WHEN i.type = 'message' THEN i.session_id || chr(31) || i.ref ELSE i.ref END,
           coalesce(m.session_id, i.session_id), coalesce(t.speaker, ''), coalesce(m.tags, '{{}}'), {_OF_INDEX},
           CASE WHEN vector_dims(i.embedding) = %(dimension)s THEN substr(halfvec_send(i.embedding), 5) END,
           sparsevec_send(i.terms)
"""

_OTHERS = """
    LEFT JOIN LATERAL (
        SELECT * FROM memories WHERE i.type = 'memory' AND id = cast(nullif(i.ref, '') AS uuid) LIMIT 1) AS m ON true
    LEFT JOIN LATERAL (
        SELECT role, speaker FROM messages WHERE i.type = 'message' AND session_id = i.session_id AND id = i.ref
        LIMIT 1) AS t ON true
"""
"""Row by row, which the limits enforce: no plan may scan rows of other owners."""

_VISIBLE = "(t.role IS NOT NULL OR m.id IS NOT NULL)"
"""The policies hide messages and memories from readers without their labels, but not their index rows."""

_ALL = f"""
    {_ROWS} FROM search_index i {_OTHERS}
    WHERE (i.user_id = %(user)s OR i.group_id = %(group)s) AND i.type = ANY(%(types)s::text[]) AND {_VISIBLE}
"""

_NAMED = f"""
    {_ROWS} FROM unnest(%(types)s::text[], %(sessions)s::text[], %(refs)s::text[]) AS n (type, session_id, ref)
    JOIN search_index i USING (type, session_id, ref) {_OTHERS}
    WHERE (i.user_id = %(user)s OR i.group_id = %(group)s) AND {_VISIBLE}
"""

_CITED = "SELECT memory_id::text, session_id, message_id FROM evidence WHERE memory_id = ANY(%(ids)s::uuid[])"
