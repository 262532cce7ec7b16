"""Answers a question about an owner of many rows from the database, while the process has not cached them.

The rows that the question ranks best by their own words and meaning are picked in one scan, and those that pass the
filters are loaded with what they cite and what cites them. Filters and ranking then run over them as over the cache.
Where few rows pass the filters, all of these are loaded, and the answer is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import text

from core.index.resident import excerpt
from core.index.resident.excerpt import Name
from core.index.resident.loading import Rows
from core.index.resident.snapshot import Snapshot
from core.index.search_index import COSINE, LEXICAL
from core.memory import as_of
from core.search.filters import FITS_SQL, READ_ALL, Filters
from core.storage.db import EVERYTHING, Tx
from core.storage.multiquery import BoundStatement

PICKED: Final = 400
"""Rows that are picked of a large store."""

AROUND: Final = 150
"""The best of these, whose neighbours are read, too: other messages are too far from the first page."""

_SPARE: Final = 1.5
"""Best rows looked at for each that shall pass, if the filters let all pass."""

_MORE: Final = 8
"""Factor by which more are looked at where too few have passed."""

_MOST: Final = 10_000_000
"""Rows looked at, at most."""


@dataclass(frozen=True, slots=True)
class Uncached:
    """Rows loaded, and the number of all that pass the filters, by type; None: all that pass are loaded."""

    view: Snapshot
    considered: Mapping[str, int] | None


def size_query(rows: Rows) -> BoundStatement:
    """Return the statement that counts an owner's rows as `size`, as far as a question reads them at once, and one."""
    return _SIZE, {"user": rows.user_id, "group": rows.group_id, "types": list(rows.types), "most": READ_ALL}


def read(
    tx: Tx,
    rows: Rows,
    filters: Filters,
    arms: Mapping[str, Any],
    weights: tuple[float, float],
    dimension: int,
    reader: str,
    each: int = 0,
) -> Uncached | None:
    """Return the rows for one question; None: too many rows are similar enough.

    `arms`: parameters of the filters, and `terms` and `vector` of the question. `weights`: what words and a cosine
    count in the choice. `reader`: labels of who asks. `each`: rows of each type that are wanted at least.
    """
    word_weight, meaning = weights
    values = {
        **arms,
        "memories": "memories" in filters.include,
        "messages": "messages" in filters.include,
        "labelled": reader != EVERYTHING,
        "dimension": dimension,
        "words": word_weight,
        "meaning": meaning,
    }
    if filters.matches:
        matching = sorted(frozenset[Name].intersection(*filters.matches.values()))
        return Uncached(excerpt.load(tx, rows, matching, dimension), None) if len(matching) <= READ_ALL else None
    if filters.min_similarity is not None:
        return _similar(tx, rows, filters.min_similarity, values)
    counted = tx.execute(_COUNTS, values).one()
    total = counted.memories + counted.messages
    considered = {"memory": counted.memories, "message": counted.messages}
    if total <= READ_ALL:
        return Uncached(excerpt.load(tx, rows, _every(tx, values), dimension), considered)
    names = _best(tx, min(PICKED, total), values)
    for type_, others in (("memory", "messages"), ("message", "memories")):
        minimum = min(each, considered[type_])
        if sum(name[0] == type_ for name in names) < minimum:
            names += _best(tx, minimum, {**values, others: False})
    return Uncached(excerpt.load(tx, rows, names, dimension, AROUND), considered)


def _similar(tx: Tx, rows: Rows, least: float, values: Mapping[str, Any]) -> Uncached | None:
    """Return all rows that are similar enough and pass the other filters."""
    bound = {**values, "least": least, "most": READ_ALL + 1}
    if values["vector"] is None:
        return Uncached(excerpt.load(tx, rows, (), values["dimension"]), {"memory": 0, "message": 0})
    near = tx.execute(_NEAR, bound).all()
    if len(near) > READ_ALL:
        return None
    names: list[Name] = [(row.type, row.session_id, row.ref) for row in near if row.passes]
    considered = {type_: sum(name[0] == type_ for name in names) for type_ in ("memory", "message")}
    return Uncached(excerpt.load(tx, rows, names, values["dimension"]), considered)


def _every(tx: Tx, values: Mapping[str, Any]) -> Sequence[Name]:
    return [(row.type, row.session_id, row.ref) for row in tx.execute(_EVERY, {**values, "most": 2 * READ_ALL})]


def _best(tx: Tx, most: int, values: Mapping[str, Any]) -> list[Name]:
    """Return the best rows that pass; further ones are looked at until so many have passed."""
    scanned = round(most * _SPARE)
    while True:
        rows = tx.execute(_BEST, {**values, "scanned": scanned, "most": most}).all()
        looked_at = rows[0].looked_at if rows else scanned
        if len(rows) >= most or looked_at < scanned or scanned > _MOST:
            return [(row.type, row.session_id, row.ref) for row in rows]
        scanned *= _MORE


def of_owners(select: str, row: str, condition: str) -> str:
    """Return the rows of the user and those of the group, each by its own index."""
    return f"""(
        {select} WHERE {row}.user_id = :user AND {condition}
        UNION ALL
        {select} WHERE {row}.group_id = :group AND ({row}.user_id = :user) IS NOT TRUE AND {condition})
    """


_WHEN: Final = """
    (cast(:since AS timestamptz) IS NULL OR {0}.occurred_at >= :since)
    AND (cast(:until AS timestamptz) IS NULL OR {0}.occurred_at <= :until)
"""

_MESSAGE: Final = """
    (cast(:session AS text) IS NULL OR i.session_id = :session)
    AND (cast(:as_of AS timestamptz) IS NULL OR i.occurred_at <= :as_of)
"""

_MEMORY: Final = f"{FITS_SQL} AND (:archived OR {as_of.UNEXPIRED})"
"""The filters for a row `m` of `memories`; they are applied to what is loaded once more."""

_PASSING_MESSAGE: Final = f"""
    :messages AND i.type = 'message' AND {_WHEN.format("i")} AND {_MESSAGE}
    AND (NOT :labelled OR (SELECT true FROM messages WHERE session_id = i.session_id AND id = i.ref LIMIT 1))
"""
"""The policies hide messages from readers without their labels, but not their index rows."""


def _messages(columns: str) -> str:
    return of_owners(f"SELECT {columns} FROM search_index i", "i", _PASSING_MESSAGE)


def _memories(columns: str) -> str:
    return of_owners(f"SELECT {columns} FROM memories m", "m", f":memories AND {_MEMORY}")


_SIZE = text(f"""
    SELECT count(*) AS size FROM (
        SELECT FROM {of_owners("SELECT 1 FROM search_index i", "i", "i.type = ANY(:types)")} AS owned
        LIMIT :most + 1) AS counted
""")

_COUNTS = text(f"""
    SELECT (SELECT count(*) FROM {_messages("1")} AS said) AS messages,
           (SELECT count(*) FROM {_memories("1")} AS stated) AS memories
""")

_EVERY = text(f"""
    (SELECT * FROM {_messages("'message' AS type, i.session_id, i.ref")} AS said LIMIT :most)
    UNION ALL
    (SELECT * FROM {_memories("'memory' AS type, '' AS session_id, cast(m.id AS text) AS ref")} AS stated LIMIT :most)
""")

_LIKENESS: Final = f"CASE WHEN vector_dims(i.embedding) = :dimension THEN {COSINE} END"

_INDEXED: Final = f"""
    {_WHEN.format("i")}
    AND ((:memories AND i.type = 'memory') OR (:messages AND i.type = 'message' AND {_MESSAGE}))
"""

_PASSES: Final = f"""
    LEFT JOIN LATERAL (
        SELECT true AS passes FROM memories m
        WHERE b.type = 'memory' AND m.id = CASE WHEN b.type = 'memory' THEN cast(b.ref AS uuid) END AND {_MEMORY}
        UNION ALL
        SELECT true FROM messages WHERE b.type = 'message' AND session_id = b.session_id AND id = b.ref
        LIMIT 1) AS p ON true
"""
"""Looked up one by one: joined with all memories of the owner, the scan would take twice as long."""

_EMBEDDED: Final = of_owners("SELECT i.embedding FROM search_index i", "i", "i.embedding IS NOT NULL")

_TYPICAL: Final = f"(SELECT avg({_LIKENESS}) FROM (SELECT embedding FROM {_EMBEDDED} AS own LIMIT 100) AS i)"
"""Likeness of a row that has no vector yet: it is taken to be as near as others are on average."""

_SCORE: Final = f"""
    :words * {LEXICAL.removesuffix(" AS lexical")} + :meaning * coalesce({_LIKENESS}, {_TYPICAL}, 0) AS score
"""

_SCORED: Final = of_owners(f"SELECT i.type, i.session_id, i.ref, {_SCORE} FROM search_index i", "i", _INDEXED)

_BEST = text(f"""
    SELECT type, session_id, ref, looked_at FROM (
        SELECT b.*, p.passes, count(*) OVER () AS looked_at
        FROM (SELECT * FROM {_SCORED} AS scored ORDER BY score DESC LIMIT :scanned) AS b {_PASSES}
    ) AS looked WHERE passes ORDER BY score DESC LIMIT :most
""")

_SIMILAR: Final = of_owners(
    "SELECT i.type, i.session_id, i.ref FROM search_index i", "i", f"{_INDEXED} AND {_LIKENESS} >= :least"
)

_NEAR = text(f"SELECT b.*, p.passes FROM (SELECT * FROM {_SIMILAR} AS near LIMIT :most) AS b {_PASSES}")
