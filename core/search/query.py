"""Answering "what do I know that matters now?": one user's index rows by words and by vector, fused, with evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import text

from core import asof, metrics, sessions
from core.asof import NOW, Moment
from core.db import Database, Tx
from core.embed import Embedder
from core.search import knowledge
from core.search.evidence import asks_time, tells_time, told
from core.search.index import COSINE, DOCUMENTS, LEXICAL, sparse_literal, vector_literal
from core.search.knowledge import Passage
from core.search.lexical import document_weights, message_terms, query_weights
from core.search.rank import Hit, Ranked, rank
from core.text import terms
from core.types import Evidence, Message, Trust

Method = Literal["hybrid", "keyword", "vector"]

READ_ALL = 3000
"""A user with up to so many rows has them all ranked; of a larger store each arm names its best."""

ARM_LIMIT = 300
"""Rows that each arm names of a large store."""

TAIL = 300
"""Newest messages not yet indexed that are read as they are, so that a message is found from its commit on."""

FRESH_CHARACTERS = 20_000
"""Of a message that is not indexed yet, so many are looked at: each search that finds it there reads it anew."""

SERVED = (Trust.CANDIDATE, Trust.CONFIRMED, Trust.DISPUTED)
"""How far a memory must be believed to be found, where nobody asks for others."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, about whom, as of when, and what an answer must be like.

    `trust`: who asks for `quarantined` gets those; what is rejected is never found. `each`: `limit` of each type.
    """

    query: str
    user_id: str | None
    group_id: str | None = None
    limit: int = 10
    method: Method = "hybrid"
    include: frozenset[str] = frozenset({"memories", "messages", "documents"})
    kinds: Sequence[str] = ()
    categories: Sequence[str] = ()
    topics: Sequence[str] = ()
    tags: Sequence[str] = ()
    session_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    min_similarity: float | None = None
    min_importance: float | None = None
    include_archived: bool = False
    trust: Sequence[str] = SERVED
    moment: Moment = NOW
    each: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """One result: a memory's row, a message or a passage, its place in the ranking, and what it cites."""

    ranked: Ranked
    sources: Sequence[Evidence]
    message: Message | None = None
    memory: Any = None
    passage: Passage | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    results: Sequence[Found]
    total: int


def search(db: Database, tenant_id: str, question: Question, embedder: Embedder) -> Answer:
    """The best results for a question, best first."""
    with metrics.SEARCH.labels(question.method).time():
        vector = _vector(embedder, question)
        with db.tenant(tenant_id) as tx:
            hits = _hits(tx, question, vector)
            ranked = rank(hits, wants_time=asks_time(question.query), limit=question.limit, each=question.each)
            return Answer(_found(tx, ranked, question.moment), len(hits))


def _vector(embedder: Embedder, question: Question) -> str | None:
    """The question's vector, made before any transaction is open."""
    if question.method == "keyword" or not question.query.strip():
        return None
    with metrics.EMBED.time():
        return vector_literal(embedder.embed([question.query])[0])


@dataclass(frozen=True, slots=True)
class _Asked:
    """The question's terms with their weights: by how rare each is among what this user said; for passages, there too.

    `passages` is None where there are none, or none are asked for.
    """

    own: Mapping[int, float]
    passages: Mapping[int, float] | None


def _hits(tx: Tx, question: Question, vector: str | None) -> list[Hit]:
    asked = _asked(tx, question)
    values = _values(question) | {
        "terms": sparse_literal(asked.own or {1: 0.0}),
        "vector": vector,
        "all": READ_ALL,
        "arm": ARM_LIMIT,
    }
    # Read before the index: what moves into it in between is then seen twice, and not missed.
    fresh = _fresh(tx, question, asked.own)
    wanted = _ROWS if question.moment.known_at is None else _ROWS_THEN
    rows = tx.execute(wanted, values).all() if question.include & {"messages", "memories"} else []
    cites = _cites(tx, [row.ref for row in rows if row.type == "memory"])
    hits = [_hit(row, cites, asked.own) for row in rows if _near_enough(row, question)]
    known = {hit.key for hit in hits}
    return [*hits, *(hit for hit in fresh if hit.key not in known), *_passages(tx, question, asked, values)]


def _passages(tx: Tx, question: Question, asked: _Asked, values: Mapping[str, Any]) -> list[Hit]:
    if asked.passages is None:
        return []
    found = knowledge.hits(tx, {**values, "terms": sparse_literal(asked.passages or {1: 0.0})})
    return [hit for hit in found if _near_enough(hit, question)]


def _asked(tx: Tx, question: Question) -> _Asked:
    words = [] if question.method == "vector" else terms(question.query)
    # No passage was said in a session.
    wanted = "documents" in question.include and question.session_id is None
    if not words and not wanted:
        return _Asked({}, None)
    counted = knowledge.counts(tx, question.user_id, question.group_id, words)
    own = next(iter(counted.values()))
    total = knowledge.together(counted) if wanted else None
    passages = None if total is None else query_weights(words, total, total[DOCUMENTS])
    return _Asked(query_weights(words, own, own.get(DOCUMENTS, 0)), passages)


def _values(question: Question) -> dict[str, Any]:
    return {
        "user": question.user_id,
        "group": question.group_id,
        "messages": "messages" in question.include,
        "memories": "memories" in question.include,
        "kinds": list(question.kinds) or None,
        "categories": list(question.categories) or None,
        # An episode retells what its messages say, in more words: unasked, it would stand before them.
        "retold": bool(question.kinds or question.categories),
        "topics": list(question.topics) or None,
        "tags": list(question.tags) or None,
        "session": question.session_id,
        "since": question.since,
        "until": question.until,
        "importance": question.min_importance,
        "archived": question.include_archived,
        "statuses": question.moment.statuses(archived=question.include_archived),
        "trust": [trust for trust in question.trust if trust != Trust.REJECTED],
        "as_of": question.moment.as_of,
        "known_at": question.moment.known_at,
    }


def _near_enough(row: Any, question: Question) -> bool:
    return question.min_similarity is None or (row.cosine is not None and row.cosine >= question.min_similarity)


def _hit(row: Any, cites: Mapping[str, tuple[str, ...]], asked: Mapping[int, float]) -> Hit:
    if row.type == "memory":
        # The index knows the words of now; other words of then are weighed as they were, and have no vector.
        lexical = row.lexical if row.worded is None else _lexical(asked, terms(row.worded))
        return Hit(row.ref, "memory", lexical, row.cosine, cites=cites.get(row.ref, ()))
    key = message_key(row.session_id, row.ref)
    return Hit(key, "message", row.lexical, row.cosine, row.session_id, row.position, row.told, row.timed)


def message_key(session_id: str, message_id: str) -> str:
    """What tells a message from all others of a tenant: ids are unique within their session."""
    return f"{session_id}\x1f{message_id}"


def _cites(tx: Tx, memory_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for row in tx.execute(_CITES, {"ids": [UUID(i) for i in memory_ids]}) if memory_ids else ():
        found[str(row.memory_id)].append(message_key(row.session_id, row.message_id))
    return {memory_id: tuple(keys) for memory_id, keys in found.items()}


def _fresh(tx: Tx, question: Question, asked: Mapping[int, float]) -> list[Hit]:
    """Hits among the messages that are accepted but not indexed yet, scored as the index would."""
    if "messages" not in question.include or question.min_similarity is not None:
        return []
    rows = tx.execute(_TAIL, _values(question) | {"tail": TAIL})
    return [_fresh_hit(sessions.message_of(row), asked) for row in rows]


def _fresh_hit(message: Message, asked: Mapping[int, float]) -> Hit:
    content = message.content[:FRESH_CHARACTERS]
    return Hit(
        key=message_key(message.session_id, message.id),
        type="message",
        lexical=_lexical(asked, message_terms(content, message.speaker)),
        cosine=None,
        session_id=message.session_id,
        position=message.position,
        told=told(content),
        timed=tells_time(content),
    )


def _lexical(asked: Mapping[int, float], words: Sequence[str]) -> float:
    """What the index would score for a text by its own words."""
    weights = document_weights(words)
    return sum(weight * weights.get(term, 0.0) for term, weight in asked.items())


def _found(tx: Tx, ranked: Sequence[Ranked], moment: Moment) -> list[Found]:
    """The ranked hits with their texts and what they cite, in the same order, less what was erased meanwhile."""
    ids = [UUID(r.hit.key) for r in ranked if r.hit.type == "memory"]
    rows, cited = asof.of_ids(tx, ids, moment.known_at), asof.evidence(tx, ids, moment.known_at)
    spoken = _messages(tx, [r.hit.key for r in ranked if r.hit.type == "message"])
    read = knowledge.passages(tx, [r.hit.key for r in ranked if r.hit.type == "document"])
    found = []
    for item in ranked:
        if item.hit.type == "memory" and (row := rows.get(UUID(item.hit.key))) is not None:
            found.append(Found(item, cited.get(row.id, []), memory=row))
        elif (message := spoken.get(item.hit.key)) is not None:
            found.append(Found(item, [_as_evidence(message)], message=message))
        elif (passage := read.get(item.hit.key)) is not None:
            found.append(Found(item, [], passage=passage))
    return found


def _messages(tx: Tx, keys: Sequence[str]) -> dict[str, Message]:
    pairs = [key.split("\x1f", 1) for key in keys]
    rows = tx.execute(_MESSAGES, {"sessions": [s for s, _ in pairs], "ids": [i for _, i in pairs]})
    return {message_key(row.session_id, row.id): sessions.message_of(row) for row in rows}


def _as_evidence(message: Message) -> Evidence:
    return Evidence(message.session_id, message.id, message.event_id, message.content)


_NOW = "LEFT JOIN memories m ON m.id = CASE WHEN i.type = 'memory' THEN cast(i.ref AS uuid) END"

_THEN = f"""
    LEFT JOIN memories s ON s.id = CASE WHEN i.type = 'memory' THEN cast(i.ref AS uuid) END
    LEFT JOIN {asof.KNOWN} m ON true
"""

_MATCHING = f"""
    WHERE (i.user_id = :user OR i.group_id = :group) AND i.type IN ('message', 'memory')
      AND ((i.type = 'message' AND :messages
            AND (cast(:as_of AS timestamptz) IS NULL OR i.occurred_at <= :as_of)
            AND (cast(:known_at AS timestamptz) IS NULL OR EXISTS (
                SELECT FROM messages t JOIN events e ON e.seq = t.event_seq
                WHERE t.session_id = i.session_id AND t.id = i.ref AND e.received_at <= :known_at)))
           OR (i.type = 'memory' AND :memories
               AND m.status = ANY(:statuses) AND m.trust = ANY(:trust)
               AND (:archived OR {asof.UNEXPIRED}) AND {asof.TRUE}))
      AND (cast(:session AS text) IS NULL OR coalesce(m.session_id, i.session_id) = :session)
      AND (cast(:since AS timestamptz) IS NULL OR i.occurred_at >= :since)
      AND (cast(:until AS timestamptz) IS NULL OR i.occurred_at <= :until)
      AND (i.type = 'message' OR ((cast(:kinds AS text[]) IS NULL OR m.kind = ANY(:kinds))
           AND (cast(:categories AS text[]) IS NULL OR m.category = ANY(:categories))
           AND (:retold OR m.category <> 'episode')
           AND (cast(:topics AS text[]) IS NULL OR m.topic = ANY(:topics))
           AND (cast(:tags AS text[]) IS NULL OR m.tags && cast(:tags AS text[]))
           AND (cast(:importance AS float8) IS NULL OR m.importance >= :importance)))
"""
"""A user's (or group's) index rows that the filters let through; what no moment is asked for costs nothing."""

_PLACE = "i.type, i.session_id, i.ref, i.position, i.told, i.timed"

_SCORED = f"""
    SELECT {_PLACE}, {LEXICAL}, {COSINE} AS cosine, cast(NULL AS text) AS worded
    FROM search_index i {_NOW} {_MATCHING}
"""

_SCORED_THEN = f"""
    SELECT {_PLACE}, {LEXICAL}, CASE WHEN m.content IS NOT DISTINCT FROM s.content THEN {COSINE} END AS cosine,
           CASE WHEN m.content <> s.content THEN m.content END AS worded
    FROM search_index i {_THEN} {_MATCHING}
      AND (i.type = 'message' OR s.trust <> 'quarantined' OR 'quarantined' = ANY(:trust))
"""
"""The same by what was recorded at a time; `worded`: its words of then, where they are others now.

What was set apart since was hostile then, too.
"""

_LARGE = "(SELECT n FROM size) > :all"

_BEST = f"""
    (SELECT * FROM scored WHERE {_LARGE} ORDER BY lexical DESC LIMIT :arm)
    UNION (SELECT * FROM scored WHERE {_LARGE} AND cosine IS NOT NULL ORDER BY cosine DESC LIMIT :arm)
"""


def _all_or_best(scored: str, best: str) -> str:
    """All rows of a small store; of a larger one the best rows of each arm, where one that both name comes once."""
    return f"""
        WITH scored AS MATERIALIZED ({scored}), size AS MATERIALIZED (SELECT count(*) AS n FROM scored)
        SELECT * FROM scored WHERE (SELECT n FROM size) <= :all
        UNION ALL SELECT * FROM ({best}) AS best
    """


_ROWS = text(_all_or_best(_SCORED, _BEST))

_BEST_THEN = f"{_BEST} UNION (SELECT * FROM scored WHERE {_LARGE} AND worded IS NOT NULL LIMIT :arm)"

_ROWS_THEN = text(_all_or_best(_SCORED_THEN, _BEST_THEN))

_CITES = text("""
    SELECT memory_id, session_id, message_id FROM evidence WHERE memory_id = ANY(:ids) ORDER BY at, event_id
""")

_TAIL = text("""
    SELECT m.* FROM sessions s
    JOIN messages m ON m.session_id = s.id AND m.position > s.indexed_to
    WHERE s.indexed_to < s.message_count AND (m.user_id = :user OR m.group_id = :group)
      AND (cast(:session AS text) IS NULL OR s.id = :session)
      AND (cast(:since AS timestamptz) IS NULL OR m.occurred_at >= :since)
      AND (cast(:until AS timestamptz) IS NULL OR m.occurred_at <= :until)
      AND (cast(:as_of AS timestamptz) IS NULL OR m.occurred_at <= :as_of)
      AND (cast(:known_at AS timestamptz) IS NULL
           OR EXISTS (SELECT FROM events e WHERE e.seq = m.event_seq AND e.received_at <= :known_at))
    ORDER BY m.event_seq DESC LIMIT :tail
""")

_MESSAGES = text("""
    SELECT * FROM messages
    WHERE (session_id, id) IN (SELECT * FROM unnest(cast(:sessions AS text[]), cast(:ids AS text[])))
""")
