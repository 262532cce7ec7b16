"""Loads rows in binary form.

What a filter or a ranking asks of a row is in `FIELDS`; texts stay in the database, where each answer reads them anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any, Final

import numpy as np

from core.memory import as_of
from core.search.resident.candidates import ROLES, SEPARATOR
from core.search.resident.columns import FIELDS, Columns, Reading
from core.storage.db import Tx, pieces
from core.types import Category, Kind, Status, Topic, Trust

ENUMERATED: Final[Mapping[str, Sequence[str]]] = {
    "role": ROLES[1:],
    "status": list(Status),
    "trust": list(Trust),
    "kind": list(Kind),
    "category": list(Category),
    "topic": list(Topic),
}

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def message_key(session_id: str, message_id: str) -> str:
    """What tells a message from all others of a tenant: ids are unique within their session."""
    return f"{session_id}{SEPARATOR}{message_id}"


def seconds(time: datetime) -> float:
    """A moment as the columns have it: rounded once from whole microseconds, as the database rounds it."""
    return (time - _EPOCH) // timedelta(microseconds=1) / 1e6


def owned(tx: Tx, user_id: str | None, group_id: str | None, dimension: int) -> Columns:
    """All messages and memories of a user, or of a group, or of either."""
    return _read(tx, _OWNED, {"user": user_id, "group": group_id}, dimension)


def named(tx: Tx, user_id: str | None, group_id: str | None, rows: Sequence[Sequence[str]], dimension: int) -> Columns:
    """Those of them that are named by type, session and id, as far as they are there."""
    types, sessions, refs = zip(*rows, strict=True)
    values = {"user": user_id, "group": group_id, "types": list(types), "sessions": list(sessions), "refs": list(refs)}
    return _read(tx, _NAMED, values, dimension)


@dataclass(frozen=True, slots=True)
class Was:
    """A memory's row as it was recorded at a time. `worded`: its words of then, where they are others now."""

    fields: Any
    worded: str | None
    tags: Sequence[str]
    session_id: str


def then(tx: Tx, keys: Sequence[str], known_at: datetime) -> dict[str, Was]:
    """Memories as they were recorded at a time, by key; one that was not recorded yet is left out."""
    with closing(pieces(tx, _THEN, {"ids": list(keys), "known_at": known_at, **_places()})) as read:
        rows = chain.from_iterable(read)
        return {key: Was(np.frombuffer(fields, FIELDS)[0], *more) for key, fields, *more in rows}


def cited(tx: Tx, memory_ids: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Pairs of a memory and a message that it rests on, by their keys, piece by piece."""
    if not memory_ids:
        return
    with closing(pieces(tx, _CITED, {"ids": f"{{{','.join(memory_ids)}}}"})) as read:
        for rows in read:
            yield [row[0] for row in rows], [message_key(row[1], row[2]) for row in rows]


def _read(tx: Tx, statement: str, values: Mapping[str, Any], dimension: int) -> Columns:
    reading = Reading(dimension)
    with closing(pieces(tx, statement, {**values, "dimension": dimension, **_places()})) as read:
        for rows in read:
            reading.add(rows)
    return reading.columns()


def _places() -> dict[str, list[str]]:
    return {f"{name}_values": list(values) for name, values in ENUMERATED.items()}


_SECONDS = "float8send(coalesce(extract(epoch FROM {0})::float8, '{1}'::float8))"

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
"""In the order of `FIELDS`. What is of no value in `ENUMERATED`, a message, has 0 there."""

_TIMES = {
    "since": _SECONDS.format("coalesce(m.valid_from, m.occurred_at)", "-infinity"),
    "until": _SECONDS.format("m.valid_to", "infinity"),
    "expires": _SECONDS.format("m.expires_at", "infinity"),
}

_OF_INDEX = _FIELDS.format(
    memory="i.type = 'memory'",
    embedded="coalesce(vector_dims(i.embedding) = %(dimension)s, false)",
    timed="i.timed",
    asks="i.asks",
    role="t.role",
    told="i.told",
    names="i.names",
    position="i.position",
    at=_SECONDS.format("i.occurred_at", "0"),
    **_TIMES,
)

_OF_MEMORY = _FIELDS.format(
    memory="true",
    embedded="false",
    timed="false",
    asks="false",
    role="''",
    told="0::int2",
    names="0::int2",
    position="0",
    at=_SECONDS.format("m.occurred_at", "0"),
    **_TIMES,
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
"""Row by row (that is what the limits are for): no plan shall walk through what belongs to others."""

_OWNED = f"""
    {_ROWS} FROM search_index i {_OTHERS}
    WHERE (i.user_id = %(user)s OR i.group_id = %(group)s) AND i.type IN ('message', 'memory')
"""

_NAMED = f"""
    {_ROWS} FROM unnest(%(types)s::text[], %(sessions)s::text[], %(refs)s::text[]) AS n (type, session_id, ref)
    JOIN search_index i USING (type, session_id, ref) {_OTHERS}
    WHERE (i.user_id = %(user)s OR i.group_id = %(group)s)
"""

_CITED = "SELECT memory_id::text, session_id, message_id FROM evidence WHERE memory_id = ANY(%(ids)s::uuid[])"

_THEN = f"""
    SELECT s.id::text, {_OF_MEMORY}, CASE WHEN m.content <> s.content THEN m.content END, m.tags,
           coalesce(m.session_id, '')
    FROM memories s CROSS JOIN {as_of.KNOWN.replace(":known_at", "%(known_at)s")} m
    WHERE s.id = ANY(%(ids)s::uuid[])
"""
