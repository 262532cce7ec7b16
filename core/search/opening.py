"""The opening of a search: what the first round trip reads, and the rows of the index that are searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core import metrics
from core.index.bm25 import NOTHING, QueryTerms, query_terms, query_weights
from core.index.resident import cache
from core.index.resident import filling as cache_filling
from core.index.resident.arrays import Floats
from core.index.resident.cache import OwnerCache, Validation
from core.index.resident.snapshot import EMPTY, Snapshot
from core.index.search_index import DOCUMENTS
from core.inference.embedders import Embedder
from core.inference.local_models.catalog import cosine_weight
from core.search import passages as search_passages
from core.search import ranking, uncached, unindexed
from core.search.candidates import Hit
from core.search.filters import READ_ALL
from core.search.question import Question
from core.storage.db import Database, Tx
from core.storage.multiquery import BoundStatement


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question, who asks it, and whether it needs all rows of the owner."""

    db: Database
    tenant_id: str
    question: Question
    embedder: Embedder
    vector: Floats | None
    cached: bool


@dataclass(frozen=True, slots=True)
class OpeningReads:
    """Results of the first round trip. Query terms are weighted by their rarity among the messages of this user.

    `ideal`: score of a short text with all words; other forms of them count where they occur.
    `passages`: weights for passages, by rarity there; None: there are none, or none are requested. `waiting`: messages
    not indexed yet, read before the index: one that moves into it is seen twice, not missed.
    """

    own: Mapping[int, float]
    ideal: float
    passages: Mapping[int, float] | None
    waiting: Sequence[Hit]


@dataclass(frozen=True, slots=True)
class OpeningQueries:
    """Statements sent with the opening of the transaction: word counts, unindexed messages, changed rows."""

    terms: QueryTerms
    owner_cache: OwnerCache
    check: Validation
    statements: Sequence[BoundStatement]


def queries(request: SearchRequest) -> OpeningQueries:
    """Return the statements of the first round trip."""
    db, question = request.db, request.question
    user_id, group_id = question.user_id, question.group_id
    terms = NOTHING if question.method == "vector" else query_terms(question.query, question.wordings or ())
    owner_cache = cache.of(db.engine).owner(request.tenant_id, user_id, group_id, db.sight)
    check = owner_cache.check(request.embedder.dimension)
    counting = search_passages.counts_query(user_id, group_id, terms.all)
    waiting, changed = unindexed.unindexed_query(question.parameters), (cache.CHANGED, check.values)
    sized = () if check.usable else (uncached.size_query(owner_cache.rows),)
    return OpeningQueries(terms, owner_cache, check, (counting, waiting, changed, *sized))


def reads(question: Question, terms: QueryTerms, answers: Sequence[Sequence[Any]]) -> OpeningReads:
    """Weigh the words of the question by what the first round trip has counted."""
    counted_rows, waiting, *_ = answers
    counted = search_passages.counts_by_owner(question.user_id, question.group_id, counted_rows)
    count = next(iter(counted.values()))
    own = query_weights(terms.all, count, count.get(DOCUMENTS, 0))
    ideal = sum(query_weights(terms.occurring(count), count, count.get(DOCUMENTS, 0)).values())
    # Passages belong to no session.
    filters = question.filters
    with_passages = "documents" in filters.include and filters.session_id is None and filters.structured is None
    total = search_passages.sum_counts(counted) if with_passages else None
    passages = None if total is None else query_weights(terms.all, total, total[DOCUMENTS])
    # Unindexed messages have no vector, so none is similar enough.
    seen = "messages" in question.filters.include and question.filters.min_similarity is None
    return OpeningReads(own, ideal, passages, unindexed.hits(waiting, own) if seen else [])


@dataclass(frozen=True, slots=True)
class RowsRead:
    """Rows to filter and rank. `considered`: number of all that pass, by type, if these are not all rows."""

    view: Snapshot
    considered: Mapping[str, int] | None = None


def rows(
    tx: Tx, request: SearchRequest, opened: OpeningQueries, own: OpeningReads, standing: Sequence[Any]
) -> RowsRead:
    """Return the owner's rows from the cache, or those for this question while the cache is filled behind it.

    `standing`: what has changed since they were cached, and how many there are if they never were.
    """
    entry, check, question, (changes, *sized) = opened.owner_cache, opened.check, request.question, standing
    if not question.filters.include & {"messages", "memories"}:
        return RowsRead(EMPTY)
    if not check.reads_all(changes):
        metrics.CACHE.labels("rows", "hit").inc()
        return RowsRead(entry.view(tx, check, changes))
    metrics.CACHE.labels("rows", "miss").inc()
    size = (sized or tx.execute(*uncached.size_query(entry.rows)).all())[0].size
    if size > READ_ALL and not request.cached and question.filters.moment.known_at is None:
        entry.discard(check.state)
        cache_filling.FILLER.later(request.db, request.tenant_id, entry, request.embedder.dimension)
        weights = ranking.picking_weights(question.recipe, own.ideal, cosine_weight(request.embedder.name))
        arms = question.arms(own.own, request.vector)
        each = question.limit if question.each else 0
        some = uncached.read(
            tx, entry.rows, question.filters, arms, weights, request.embedder.dimension, request.db.reader, each
        )
        if some is not None:
            metrics.SEARCH_READS.labels("uncached").inc()
            return RowsRead(some.view, some.considered)
    with cache_filling.FILLER.needed():
        return RowsRead(entry.view(tx, check, changes, few=size <= READ_ALL))
