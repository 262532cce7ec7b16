"""Writes search_index rows, term counts and vectors."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import TextClause, text

from core.index.answer_cues import count_names, count_stated_terms, has_question, tells_time
from core.index.bm25 import document_weights, index_terms, message_terms
from core.index.vector_notation import vector_literal, vector_of
from core.language import introductions
from core.language.introductions import Link
from core.language.terms import TERM_IDS, term_id
from core.sessions import sessions
from core.sessions.sessions import Session
from core.statements import quotation
from core.storage.db import Tx, recordset, run_together
from core.storage.multiquery import BoundStatement
from core.types import Message

REACH = 2
"""Distance in its session from which a message takes words."""

BATCH = 200
"""Messages indexed by one dispatch before it yields to others."""

DOCUMENTS = 0
"""Term under which the number of documents is counted; no word has this id."""

TENANT_PASSAGES = "passages"
"""Name under which terms of passages of the whole tenant are counted."""

EMBED_BATCH = 64
"""Texts embedded by one dispatch: half a second of one core."""


_MOST_NAMES = 2**15 - 1  # what the column holds


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """A memory to be indexed. `naming`: names of one person each that come with it, besides those in its words."""

    ref: str
    content: str
    occurred_at: datetime
    vector: NDArray[np.float32] | None
    naming: Sequence[Link] = ()


@dataclass(frozen=True, slots=True)
class NewRow:
    """An index row to be written."""

    type: str
    session_id: str
    ref: str
    position: int
    user_id: str | None
    group_id: str | None
    occurred_at: datetime
    weights: Mapping[int, float]
    own_terms: Sequence[int]
    told: int = 0
    timed: bool = False
    asks: bool = False
    names: int = 0
    naming: Sequence[Link] = ()
    vector: NDArray[np.float32] | None = None
    is_blank: bool = False
    """Whether it is a message without words, such as a picture: it is planned for its position, and not written."""


PlannedSession = tuple[Session, Sequence[NewRow]]
"""A session as it was read, and the index rows to be written for it."""


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A row without a vector, and the text to embed.

    `occurred_at`: its time. A passage that has been replaced concurrently has another one.
    """

    type: str
    session_id: str
    ref: str
    text: str
    occurred_at: datetime


def put_memories(tx: Tx, tenant_id: str, user_id: str, group_id: str | None, entries: Sequence[MemoryEntry]) -> None:
    """Index memories by their words, and by their vectors if given."""
    run_together(tx, putting_memories(tenant_id, user_id, group_id, entries))


def putting_memories(
    tenant_id: str, user_id: str, group_id: str | None, entries: Sequence[MemoryEntry]
) -> BoundStatement | None:
    """Return the statement by which `put_memories` does it, to be run together with others; None: there are none."""
    rows = []
    for entry in entries:
        terms = index_terms(entry.content)
        own = sorted({term_id(term) for term in terms})
        weights = document_weights(terms)
        naming = [*_naming(entry.content), *entry.naming]
        row = NewRow("memory", "", entry.ref, 0, user_id, group_id, entry.occurred_at, weights, own)
        rows.append(replace(row, naming=naming, vector=entry.vector))
    return _putting(tenant_id, rows)  # The messages they were drawn from count their words already.


def _naming(content: str) -> list[Link]:
    """Return what the words of a memory say of names; in a quotation "my" is that of whom it quotes."""
    quoted = quotation.read(content)
    return introductions.links(content, quoted.speaker if quoted else None)


def put_naming(tx: Tx, ref: str, content: str, naming: Sequence[Link]) -> None:
    """Replace what a memory says of names, whose words stay."""
    links = [*_naming(content), *naming]
    tx.execute(_NAMING, {"ref": ref, "naming": json.dumps(links, ensure_ascii=False) if links else None})


def plan(session: Session, messages: Sequence[Message]) -> list[NewRow]:
    """Plan the index rows of a session's new messages, and of the last two before, which only now have all neighbours.

    `messages` begins far enough before the first new one that each written row knows the words on both sides.
    """
    spoken = [message_terms(m.content, m.speaker) for m in messages]
    first = session.indexed_to - REACH + 1
    return [_message_row(m, spoken, position) for position, m in enumerate(messages) if m.position >= first]


def unindexed_messages(tx: Tx, session: Session) -> list[Message]:
    """Return the messages that `plan` needs: the new ones, a batch at most, and the neighbours before them."""
    before = 2 * REACH
    return sessions.transcript(tx, session.id, after=max(0, session.indexed_to - before), limit=BATCH + before)


def put_messages(tx: Tx, tenant_id: str, planned: Sequence[PlannedSession]) -> list[PlannedSession]:
    """Write the rows planned for each session and move its cursor; return what was written.

    A session that another worker has indexed in the meantime is left as that worker wrote it. All sessions are written
    together, so that the words they share are counted, and locked, in one order. `planned`: in the order of the ids.
    """
    moves = [(session.id, session.indexed_to, rows[-1].position) for session, rows in planned]
    moved = sessions.move_index_cursors(tx, moves)
    written = [(session, rows) for session, rows in planned if session.id in moved]
    new = [row for session, rows in written for row in rows if row.position > session.indexed_to and not row.is_blank]
    put(tx, tenant_id, [row for _, rows in written for row in rows])
    count_up(tx, tenant_id, count_terms(new))
    return written


def rows_to_embed(tx: Tx, session_ids: Sequence[str], salt: str) -> list[Unembedded]:
    """Return rows of these sessions or documents without a vector, a batch at most; another salt picks others first.

    Nothing is locked while the model computes, so two workers could choose the same rows; salted, they rarely do.
    """
    rows = tx.execute(_UNEMBEDDED, {"sessions": list(session_ids), "limit": EMBED_BATCH, "salt": salt})
    return [_to_embed(row) for row in rows]


def rows_without_vector(tx: Tx, after: tuple[str, str, str], limit: int) -> list[Unembedded]:
    """Return rows of a tenant without a vector, in the order of their keys, behind one; a page at most."""
    values = {"type": after[0], "session": after[1], "ref": after[2], "limit": limit}
    return [_to_embed(row) for row in tx.execute(_LACKING, values)]


def put_vectors(tx: Tx, rows: Sequence[Unembedded], vectors: NDArray[np.float32]) -> None:
    """Give rows their vectors."""
    tx.execute(_VECTORS, _vector_values(rows, vectors))


def vectors_of_messages(tx: Tx, session_id: str, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
    """Return the vectors of messages of a session by message, of those that have one."""
    rows = tx.execute(_MESSAGE_VECTORS, {"session": session_id, "ids": list(ids)}) if ids else ()
    return {row.ref: vector_of(row.vector) for row in rows}


def offer_vectors(tx: Tx, rows: Sequence[Unembedded], vectors: NDArray[np.float32]) -> None:
    """Give rows that still lack a vector theirs; one that another transaction is writing is left to `put_vectors`."""
    if rows:
        tx.execute(_OFFER, _vector_values(rows, vectors))


def embedded_text(content: str, speaker: str | None) -> str:
    """Return the text to embed for a message, with its speaker: people are asked about by name."""
    return f"{speaker}: {content}" if speaker else content


def passage_text(title: str, headings: Sequence[str], content: str) -> str:
    """Return the text to embed for a passage, with title and headings, which say what it is about."""
    return f"{' › '.join(dict.fromkeys((title, *headings)))}\n{content}"


def sparse_literal(weights: Mapping[int, float]) -> str:
    """Return a sparse vector in pgvector's notation, whose indices begin with 1."""
    inside = ",".join(f"{term}:{weight:.5g}" for term, weight in sorted(weights.items()))
    return f"{{{inside}}}/{TERM_IDS}"


def owners(user_id: str | None, group_id: str | None) -> list[str]:
    """Return the names under which terms are counted."""
    return [f"user:{user_id}"] * (user_id is not None) + [f"group:{group_id}"] * (group_id is not None)


def passage_owners(user_id: str | None, group_id: str | None) -> list[str]:
    """Return the names for passages: separate, so that they do not change the weights of messages."""
    return [f"passages:{owner}" for owner in owners(user_id, group_id)] or [TENANT_PASSAGES]


def count_terms(rows: Iterable[Any]) -> Counter[tuple[str, int]]:
    """Count the rows with each term, by owner, and all rows."""
    counts: Counter[tuple[str, int]] = Counter()
    for row in rows:
        for owner in (passage_owners if row.type == "document" else owners)(row.user_id, row.group_id):
            counts.update((owner, term) for term in (*row.own_terms, DOCUMENTS))
    return counts


def count_up(tx: Tx, tenant_id: str, counts: Mapping[tuple[str, int], int]) -> None:
    """Increase document frequencies; in one order, so that two writers of one user wait instead of deadlocking."""
    if counts:
        pairs = sorted(counts)
        values = {"owners": [o for o, _ in pairs], "terms": [t for _, t in pairs], "counts": [counts[p] for p in pairs]}
        tx.execute(_COUNT, {"tenant": tenant_id, **values})


def put(tx: Tx, tenant_id: str, rows: Sequence[NewRow]) -> None:
    """Write rows; of an existing one only its weights."""
    run_together(tx, _putting(tenant_id, rows))


def _putting(tenant_id: str, rows: Sequence[NewRow]) -> BoundStatement | None:
    written = [_as_json(row) for row in rows if not row.is_blank]
    return (_PUT, {"tenant": tenant_id, "rows": recordset(written)}) if written else None


def _message_row(message: Message, spoken: Sequence[Sequence[str]], position: int) -> NewRow:
    near, further = ([spoken[index] for index in _beside(position, reach, len(spoken))] for reach in (1, REACH))
    return NewRow(
        type="message",
        session_id=message.session_id,
        ref=message.id,
        position=message.position,
        user_id=message.user_id,
        group_id=message.group_id,
        occurred_at=message.occurred_at,
        weights=document_weights(spoken[position], near, further),
        own_terms=sorted({term_id(term) for term in spoken[position]}),
        told=count_stated_terms(message.content),
        timed=tells_time(message.content),
        asks=has_question(message.content),
        names=min(count_names(message.content), _MOST_NAMES),
        naming=introductions.links(message.content, message.speaker) if message.role == "user" else (),
        is_blank=not message.content.strip(),
    )


def _beside(position: int, distance: int, count: int) -> list[int]:
    return [index for index in (position - distance, position + distance) if 0 <= index < count]


def _literal(vector: NDArray[np.float32]) -> str | None:
    """Write a vector; None for zeros, which stand for none: the cosine of zeros is no number."""
    return vector_literal(vector) if vector.any() else None


def _vector_values(rows: Sequence[Unembedded], vectors: NDArray[np.float32]) -> dict[str, object]:
    return {
        "types": [row.type for row in rows],
        "sessions": [row.session_id for row in rows],
        "refs": [row.ref for row in rows],
        "moments": [row.occurred_at for row in rows],
        "vectors": [_literal(vector) for vector in vectors],
    }


def _to_embed(row: Any) -> Unembedded:
    passage = row.type == "document"
    embedded = (
        passage_text(row.title, row.headings, row.content) if passage else embedded_text(row.content, row.speaker)
    )
    return Unembedded(row.type, row.session_id, row.ref, embedded, row.occurred_at)


def _as_json(row: NewRow) -> dict[str, object]:
    same = "type session_id ref position user_id group_id occurred_at told timed asks names own_terms".split()
    return {
        **{name: getattr(row, name) for name in same},
        "naming": row.naming or None,
        "terms": sparse_literal(row.weights),
        "embedding": None if row.vector is None else _literal(row.vector),
    }


_PUT = text("""
    INSERT INTO search_index AS i (tenant_id, type, session_id, ref, position, user_id, group_id, occurred_at, told,
                                   timed, asks, names, naming, terms, own_terms, embedding)
    SELECT :tenant, type, session_id, ref, position, user_id, group_id, occurred_at, told,
           timed, asks, names, naming, terms::sparsevec, own_terms, embedding::halfvec
    FROM json_to_recordset(cast(:rows AS json)) AS r (
        type text, session_id text, ref text, position int, user_id text, group_id text, occurred_at timestamptz,
        told int, timed bool, asks bool, names int, naming jsonb, terms text, own_terms int[], embedding text)
    ON CONFLICT (tenant_id, type, session_id, ref) DO UPDATE SET terms = excluded.terms
""")

_NAMING = text("""
    UPDATE search_index SET naming = cast(:naming AS jsonb)
    WHERE type = 'memory' AND session_id = '' AND ref = :ref AND naming IS DISTINCT FROM cast(:naming AS jsonb)
""")

_COUNT = text("""
    INSERT INTO term_counts AS c (tenant_id, owner, term, documents)
    SELECT :tenant, * FROM unnest(cast(:owners AS text[]), cast(:terms AS int[]), cast(:counts AS int[]))
    ON CONFLICT (tenant_id, owner, term) DO UPDATE SET documents = c.documents + excluded.documents
""")

_TEXTS = """
    SELECT i.type, i.session_id, i.ref, i.occurred_at, t.content, t.speaker, t.headings, t.title
    FROM search_index i CROSS JOIN LATERAL (
        SELECT m.content, m.speaker, NULL::text[] AS headings, NULL AS title FROM messages m
        WHERE i.type = 'message' AND m.session_id = i.session_id AND m.id = i.ref
        UNION ALL
        SELECT k.content, NULL, NULL, NULL FROM memories k
        WHERE k.id = CASE WHEN i.type = 'memory' THEN cast(i.ref AS uuid) END
        UNION ALL
        SELECT p.content, NULL, p.headings, d.title FROM passages p LEFT JOIN documents d ON d.id = p.document_id
        WHERE p.document_id = CASE WHEN i.type = 'document' THEN cast(i.session_id AS uuid) END
          AND p.position = i.position
        UNION ALL
        SELECT left(concat_ws(chr(10), u.subject, u.summary, (
            SELECT string_agg(fact ->> 'text', chr(10) ORDER BY place)
            FROM jsonb_array_elements(u.facts) WITH ORDINALITY AS f (fact, place)), u.narrative), 8000), NULL, NULL,
            NULL
        FROM units u WHERE u.id = CASE WHEN i.type = 'unit' THEN cast(i.ref AS uuid) END
    ) AS t
    WHERE i.embedding IS NULL AND t.content IS NOT NULL
"""
"""Rows without a vector, with the text to embed."""

_UNEMBEDDED = text(f"""
    {_TEXTS} AND i.type NOT IN ('memory', 'unit') AND i.session_id = ANY(:sessions)
    ORDER BY hashtext(i.ref || :salt) LIMIT :limit
""")

_LACKING = text(f"""
    {_TEXTS} AND (i.type, i.session_id, i.ref) > (:type, :session, :ref)
    ORDER BY i.type, i.session_id, i.ref LIMIT :limit
""")

_GIVEN = """
    unnest(cast(:types AS text[]), cast(:sessions AS text[]), cast(:refs AS text[]),
           cast(:moments AS timestamptz[]), cast(:vectors AS text[])) AS v (type, session_id, ref, at, vector)
"""

_SAME_ROW = "i.type = v.type AND i.session_id = v.session_id AND i.ref = v.ref AND i.occurred_at = v.at"

_LOCKING = f"""
    WITH lacking AS MATERIALIZED (
        SELECT i.tenant_id, i.type, i.session_id, i.ref, v.vector FROM search_index i JOIN {_GIVEN} ON {_SAME_ROW}
        WHERE i.embedding IS NULL ORDER BY i.session_id COLLATE "C", i.position FOR UPDATE OF i {{skipping}})
    UPDATE search_index i SET embedding = v.vector::halfvec FROM lacking v
    WHERE i.tenant_id = v.tenant_id AND i.type = v.type AND i.session_id = v.session_id AND i.ref = v.ref
"""
"""Locks rows in the order in which `put_messages` writes them: else two workers could wait for each other."""

_VECTORS = text(_LOCKING.format(skipping=""))
_OFFER = text(_LOCKING.format(skipping="SKIP LOCKED"))

_MESSAGE_VECTORS = text("""
    SELECT ref, embedding::text AS vector FROM search_index
    WHERE type = 'message' AND session_id = :session AND ref = ANY(:ids) AND embedding IS NOT NULL
""")

LEXICAL = "-(i.terms <#> cast(:terms AS sparsevec)) AS lexical"
"""Lexical score of a row `i`."""

COSINE = "1 - (i.embedding <=> cast(cast(:vector AS text) AS halfvec))"
"""Its cosine."""


def best_of_arms(scored: str, order: str) -> TextClause:
    """Return the statement for the best `:arm` rows by each score; `order`: which of equals come first."""
    return text(f"""
        WITH scored AS MATERIALIZED ({scored})
        (SELECT * FROM scored WHERE lexical > 0 ORDER BY lexical DESC, {order} LIMIT :arm)
        UNION (SELECT * FROM scored WHERE cosine IS NOT NULL ORDER BY cosine DESC, {order} LIMIT :arm)
    """)
