"""Loads index rows in PostgreSQL's binary form.

`FIELDS` holds what filters and ranking read of a row. Texts stay in the database; each answer reads them there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Final, NamedTuple

from sqlalchemy import text

from core.index.resident.columns import Columns, ColumnsBuilder, Stated
from core.index.resident.encoding import ENUMERATED, message_key
from core.storage.db import Tx, stream_chunks
from core.storage.multiquery import BoundStatement
from core.storage.pipelined import fetch_in_turn

MEMORIES: Final = ("memory",)
MESSAGES_AND_MEMORIES: Final = ("message", "memory")

Citations = Iterable[tuple[list[str], list[str]]]
"""Memories and the message that each cites, by their keys, in batches."""

Pause = Callable[[], None]
"""Called between pieces of what is read, to let others work; an exception ends the reading."""


class Rows(NamedTuple):
    """Rows of the index that an entry caches: of a user, of a group, or of either, of these types."""

    user_id: str | None
    group_id: str | None
    types: Sequence[str]


def load_all(tx: Tx, rows: Rows, dimension: int, pause: Pause | None = None) -> Columns:
    """Return all of them. A vector of another dimension is left out."""
    values = {"user": rows.user_id, "group": rows.group_id, "types": list(rows.types), "dimension": dimension}
    return _read(tx, (_ALL, values), (_ALL_MEMORIES, values), dimension, pause)


def load_few(tx: Tx, rows: Rows, dimension: int) -> tuple[Columns, Citations]:
    """Return all of them, of which there are few, with what memories cite, in one round trip."""
    values = {"user": rows.user_id, "group": rows.group_id, "types": list(rows.types), "dimension": dimension}
    cited = ((_ALL_CITED, values),) if "message" in rows.types else ()
    with closing(fetch_in_turn(tx, (_ALL_MEMORIES, values), (_ALL, values), *cited)) as read:
        return _joined(read, dimension), [_cited(few) for pieces in read for few in pieces]


def _joined(read: Iterator[Iterable[list[tuple[Any, ...]]]], dimension: int) -> Columns:
    """Return the next rows read, those of memories and those of the index, as columns."""
    reading = ColumnsBuilder(dimension, Stated(next(read)))
    for rows in next(read):
        reading.add(rows)
    return reading.columns()


def load_named(tx: Tx, rows: Rows, names: Sequence[Sequence[str]], dimension: int) -> Columns:
    """Return those named by type, session and id; names without a row are ignored."""
    types, sessions, refs = zip(*names, strict=True)
    values: dict[str, Any] = {"types": list(types), "sessions": list(sessions), "refs": list(refs)}
    values |= {"user": rows.user_id, "group": rows.group_id, "dimension": dimension}
    ids = _uuids([ref for type_, _, ref in names if type_ == "memory"])
    with closing(fetch_in_turn(tx, (_NAMED_MEMORIES, {**values, "ids": ids}), (_NAMED, values))) as read:
        return _joined(read, dimension)


def reading_memories(rows: Rows, ids: Sequence[str], dimension: int) -> list[BoundStatement | None]:
    """Return the statements that read memories of a user for `memories_of`, to be run together with others."""
    if not ids or rows.user_id is None or len(ids) > MOST_TOGETHER:
        return [None, None]
    values = {"user": rows.user_id, "ids": _uuids(ids), "refs": list(ids), "dimension": dimension}
    return [(_MEMORIES_SENT, values), (_ROWS_SENT, values)]


def memories_of(answers: Sequence[Sequence[Any]], dimension: int) -> Columns:
    """Return memories by the answers to `reading_memories`."""
    return _joined(([list(rows)] if rows else [] for rows in answers), dimension)


def citations(tx: Tx, memory_ids: Sequence[str]) -> Citations:
    """Yield pairs of a memory and a message that it cites, by their keys, in batches."""
    if not memory_ids:
        return
    with closing(stream_chunks(tx, _CITED, {"ids": _uuids(memory_ids)})) as read:
        for rows in read:
            yield _cited(rows)


def _cited(rows: Sequence[tuple[Any, ...]]) -> tuple[list[str], list[str]]:
    return [row[0] for row in rows], [message_key(row[1], row[2]) for row in rows]


def _uuids(ids: Sequence[str]) -> str:
    return f"{{{','.join(ids)}}}"


def _read(tx: Tx, index: _Statement, memories: _Statement, dimension: int, pause: Pause | None) -> Columns:
    """Read memories and rows of the index in pieces, and join them.

    A memory that is written between the two is noted as changed, and read again with the next question.
    """
    reading = ColumnsBuilder(dimension, Stated(_pieces(tx, memories, pause)))
    for rows in _pieces(tx, index, pause):
        reading.add(rows)
    return reading.columns()


def _pieces(tx: Tx, statement: _Statement, pause: Pause | None) -> Iterator[list[tuple[Any, ...]]]:
    """Yield rows in pieces; in small ones, if others are to work in between."""
    with closing(stream_chunks(tx, *statement, PIECE if pause else 0, raw=True)) as read:
        for rows in read:
            yield rows
            if pause:
                pause()


_Statement = tuple[str, Mapping[str, Any]]

MOST_TOGETHER: Final = 64
"""Memories that are read together with a question: an extraction writes fewer."""

PIECE: Final = 512
"""Rows read before a pause: some milliseconds of the interpreter."""


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

_ROWS = """
    SELECT i.type, i.session_id, i.ref, t.speaker, t.role, i.timed, i.asks, i.told, i.names, i.position, i.occurred_at,
           CASE WHEN vector_dims(i.embedding) = %(dimension)s THEN i.embedding END, i.terms
"""
_MEMORIES = """
    SELECT id::text, session_id, nullif(tags, '{}'), status, trust, kind, category, topic,
           coalesce(importance, 0)::float4, coalesce(valid_from, occurred_at), coalesce(valid_to, 'infinity'),
           coalesce(expires_at, 'infinity'), updated_at, group_id, nullif(audience_labels, '{}')
    FROM memories
"""
"""The values of `core.index.resident.columns.Row` and `StatedRow`.

Memories are read by themselves: looked up one by one they took half of the server's time.
"""

_SPOKEN = """
    LEFT JOIN LATERAL (
        SELECT role, speaker FROM messages WHERE i.type = 'message' AND session_id = i.session_id AND id = i.ref
        LIMIT 1) AS t ON true
"""
"""Row by row, which the limit enforces: no plan may scan rows of other owners."""

_OWNED = "(user_id = %(user)s OR group_id = %(group)s)"
"""Of an index row and of its memory the same."""

_VISIBLE = "(i.type = 'memory' OR t.role IS NOT NULL)"
"""The policies hide messages and memories from readers without their labels, but not their index rows."""

_ALL = f"""
    {_ROWS} FROM search_index i {_SPOKEN}
    WHERE (i.user_id = %(user)s OR i.group_id = %(group)s) AND i.type = ANY(%(types)s::text[]) AND {_VISIBLE}
"""
_ALL_MEMORIES = f"{_MEMORIES} WHERE {_OWNED}"

_NAMED = f"""
    {_ROWS} FROM unnest(%(types)s::text[], %(sessions)s::text[], %(refs)s::text[]) AS n (type, session_id, ref)
    JOIN search_index i USING (type, session_id, ref) {_SPOKEN}
    WHERE (i.user_id = %(user)s OR i.group_id = %(group)s) AND {_VISIBLE}
"""
_NAMED_MEMORIES = f"{_MEMORIES} WHERE id = ANY(%(ids)s::uuid[]) AND {_OWNED}"

_MEMORIES_SENT = text("""
    SELECT cast(id AS text), session_id, nullif(tags, '{}'), status, trust, kind, category, topic,
           float4send(cast(coalesce(importance, 0) AS float4)), timestamptz_send(coalesce(valid_from, occurred_at)),
           timestamptz_send(coalesce(valid_to, 'infinity')), timestamptz_send(coalesce(expires_at, 'infinity')),
           timestamptz_send(updated_at), group_id, nullif(audience_labels, '{}')
    FROM memories WHERE id = ANY(cast(:ids AS uuid[])) AND user_id = :user
""")
_ROWS_SENT = text("""
    SELECT type, session_id, ref, cast(NULL AS text), cast(NULL AS text), boolsend(timed), boolsend(asks),
           int2send(told), int2send(names), int4send(position), timestamptz_send(occurred_at),
           CASE WHEN vector_dims(embedding) = :dimension THEN halfvec_send(embedding) END, sparsevec_send(terms)
    FROM search_index WHERE type = 'memory' AND session_id = '' AND ref = ANY(:refs) AND user_id = :user
""")
"""The same as `_MEMORIES` and `_ROWS` as text, in which what becomes an array is sent as its bytes."""

_CITES = "SELECT memory_id::text, session_id, message_id FROM evidence WHERE memory_id = ANY"
_CITED = f"{_CITES} (%(ids)s::uuid[])"
_ALL_CITED = f"{_CITES} (ARRAY(SELECT id FROM memories WHERE {_OWNED}))"
