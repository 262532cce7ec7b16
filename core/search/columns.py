"""A user's rows of the index as columns, read from PostgreSQL in a few statements and in its own binary form.

What a filter or a ranking asks of a row is in `FIELDS`; texts stay in the database, where each answer reads them anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core import asof
from core.db import Tx, binary
from core.search.candidates import ROLES, SEPARATOR, Floats, Places
from core.types import Category, Kind, Status, Topic, Trust

FIELDS: Final = np.dtype(
    [
        ("memory", "?"),
        ("embedded", "?"),
        ("timed", "?"),
        ("asks", "?"),
        ("role", ">i2"),
        ("told", ">i2"),
        ("names", ">i2"),
        ("position", ">i4"),
        ("at", ">f8"),
        ("status", ">i2"),
        ("trust", ">i2"),
        ("kind", ">i2"),
        ("category", ">i2"),
        ("topic", ">i2"),
        ("importance", ">f4"),
        ("since", ">f8"),
        ("until", ">f8"),
        ("expires", ">f8"),
    ]
)
"""One row's numbers as the database sends them. Times are seconds since 1970; `since` and `until` bound what was true.

Only memories have those from `status` on. Enumerated ones are the places of their values in `ENUMERATED`, from 1.
"""

ENUMERATED: Final[Mapping[str, Sequence[str]]] = {
    "role": ROLES[1:],
    "status": list(Status),
    "trust": list(Trust),
    "kind": list(Kind),
    "category": list(Category),
    "topic": list(Topic),
}

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_SPARSE_HEAD: Final = 3
"""Whole numbers before the entries of a sparse vector: its dimension, how many entries, and one that is not used."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The sparse vectors of rows turned round: entry by entry, in the order of the terms."""

    ids: NDArray[np.int32]
    rows: Places
    weights: Floats

    def products(self, asked: Mapping[int, float], count: int) -> Floats:
        """Each row's inner product with a question."""
        total = np.zeros(count, dtype=np.float32)
        wanted = np.fromiter(asked, dtype=np.int32, count=len(asked))
        starts, ends = np.searchsorted(self.ids, wanted), np.searchsorted(self.ids, wanted, side="right")
        for start, end, weight in zip(starts.tolist(), ends.tolist(), asked.values(), strict=True):
            total[self.rows[start:end]] += np.float32(weight) * self.weights[start:end]
        return total


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows that were read together: what tells each from all others, its numbers, vector and words.

    `sessions`: of a message where it was said, of a memory where it was drawn from, or empty.
    """

    keys: Sequence[str]
    sessions: Sequence[str]
    speakers: Sequence[str]
    tags: Sequence[Sequence[str]]
    fields: NDArray[Any]
    vectors: Floats
    terms: Terms

    def __len__(self) -> int:
        return len(self.keys)


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
    rows = binary(tx, _THEN, {"ids": list(keys), "known_at": known_at, **_places()})
    return {key: Was(np.frombuffer(fields, FIELDS)[0], *more) for key, fields, *more in rows}


def cited(tx: Tx, memory_ids: Sequence[str]) -> tuple[list[str], list[str]]:
    """Pairs of a memory and a message that it rests on, by their keys."""
    if not memory_ids:
        return [], []
    rows = binary(tx, _CITED, {"ids": list(memory_ids)})
    return [row[0] for row in rows], [message_key(row[1], row[2]) for row in rows]


def none(dimension: int) -> Columns:
    """No rows."""
    return Columns([], [], [], [], np.empty(0, FIELDS), np.empty((0, dimension), np.float32), _turned([]))


def _read(tx: Tx, statement: str, values: Mapping[str, Any], dimension: int) -> Columns:
    rows = binary(tx, statement, {**values, "dimension": dimension, **_places()})
    if not rows:
        return none(dimension)
    keys, sessions, speakers, tags, fields, halves, sparse = zip(*rows, strict=True)
    read = np.frombuffer(b"".join(fields), FIELDS)
    return Columns(keys, sessions, speakers, tags, read, _vectors(read["embedded"], halves, dimension), _turned(sparse))


def _places() -> dict[str, list[str]]:
    return {f"{name}_values": list(values) for name, values in ENUMERATED.items()}


def _vectors(embedded: NDArray[np.bool_], halves: Sequence[bytes | None], dimension: int) -> Floats:
    """The vectors, of length 1; of noughts where there is none."""
    vectors = np.zeros((len(embedded), dimension), dtype=np.float32)
    there = b"".join([half for half in halves if half is not None])
    read = np.frombuffer(there, dtype=">f2").reshape(-1, dimension).astype(np.float16).astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", read, read))[:, None]
    vectors[embedded] = read / np.where(lengths > 0, lengths, 1)
    return vectors


def _turned(sparse: Sequence[bytes]) -> Terms:
    """Sparse vectors, as the database sends them, put in the order of their terms."""
    counts = np.array([len(one) // 8 - 1 for one in sparse], dtype=np.int64)  # 12 bytes of head, 8 an entry
    numbers = np.frombuffer(b"".join(sparse), dtype=">i4")
    sizes = _SPARSE_HEAD + 2 * counts
    first = np.cumsum(sizes) - sizes + _SPARSE_HEAD
    rows = np.repeat(np.arange(len(counts)), counts)
    at = np.repeat(first, counts) + np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    ids = numbers[at].astype(np.int32) + 1  # sent from nought, written from one
    order = np.argsort(ids, kind="stable")
    weights = numbers[at + np.repeat(counts, counts)].view(">f4").astype(np.float32)
    return Terms(ids[order], rows[order], weights[order])


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
    FROM memories s CROSS JOIN {asof.KNOWN.replace(":known_at", "%(known_at)s")} m
    WHERE s.id = ANY(%(ids)s::uuid[])
"""
