"""The hybrid search end to end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal
from uuid import UUID

import numpy as np
from sqlalchemy import text

from core import metrics
from core.index.bm25 import NOTHING, READ, QueryTerms, document_weights, index_terms, query_terms, query_weights
from core.index.resident import cache
from core.index.resident import filling as cache_filling
from core.index.resident.arrays import Floats, Places
from core.index.resident.cache import OwnerCache, ResidentCache, Validation
from core.index.resident.encoding import message_key, message_of_key
from core.index.resident.snapshot import EMPTY, Snapshot
from core.index.search_index import DOCUMENTS, sparse_literal
from core.index.vector_notation import vector_literal
from core.inference.embedders import Embedder
from core.inference.local_models.catalog import cosine_weight
from core.memory import as_of, memories
from core.memory.as_of import NOW, Moment
from core.search import (
    as_of_snapshot,
    association,
    blending,
    candidates,
    field_matches,
    ordering,
    ranking,
    succession,
    uncached,
    unindexed,
)
from core.search import filters as search_filters
from core.search import passages as search_passages
from core.search import units as search_units
from core.search.candidates import Candidates, Hit
from core.search.filters import NO_FILTERS, READ_ALL, FilteredRows, Filters
from core.search.ordering import Page, RankedHit, RankedPage
from core.search.pagination import RankPlace
from core.search.passages import FoundPassage
from core.search.question_analysis import PLAIN, Analysis, analyse
from core.search.ranking import Scores
from core.search.recipes import DEFAULT, Recipe
from core.search.spreading import Visibility
from core.search.stopwatch import Stopwatch
from core.search.units import FoundUnit
from core.sessions import sessions
from core.storage.db import INTERNAL, Database, Sight, Tx, run_together
from core.storage.multiquery import BoundStatement
from core.types import Evidence, Message

Method = Literal["hybrid", "keyword", "vector"]

MOST_UNCACHED = 50
"""Results that are read from the database alone: for more, all rows of the owner are cached first."""

OUTDATED = 64
"""Messages with a superseded statement, the best ones, whose successors are looked up."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query, its owner, and the required properties of results.

    `each`: `limit` per type. `recipe`: its weights; its filters and limit have been merged into the question. `after`:
    results after a place in the ranking. `now`: time of the question; None: the current time.
    """

    query: str
    user_id: str | None
    group_id: str | None = None
    limit: int = 10
    method: Method = "hybrid"
    filters: Filters = NO_FILTERS
    each: bool = False
    recipe: Recipe = DEFAULT
    after: RankPlace | None = None
    now: datetime | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of SQL that applies the filters."""
        return self.filters.parameters(self.user_id, self.group_id)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A result: a memory's row, a message, a passage or a unit, its rank, and its evidence."""

    ranked: RankedHit
    sources: Sequence[Evidence]
    message: Message | None = None
    memory: Any = None
    passage: FoundPassage | None = None
    unit: FoundUnit | None = None

    @property
    def superseded(self) -> bool:
        """True for a message whose memories are all superseded."""
        return self.message is not None and self.ranked.hit.retired


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Results, and the page of the ranking that they are from.

    `considered`: number of rows that passed the filters, by type. `took`: milliseconds of each stage.
    """

    results: Sequence[SearchResult]
    considered: Mapping[str, int]
    page: RankedPage | None = None
    took: Mapping[str, float] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return sum(self.considered.values())


@dataclass(frozen=True, slots=True)
class Ranking:
    """A page of the ranking, and what it was made from: the owner's rows, the filters, and the vector of the query.

    `took`: the times of the stages. `texts`: what was read of the results before their order was final.
    """

    page: RankedPage
    considered: Mapping[str, int]
    view: Snapshot
    filters: Filters
    vector: Floats | None
    took: Stopwatch
    texts: _Texts | None = None


def search(db: Database, tenant_id: str, question: Question, embedder: Embedder) -> SearchAnswer:
    """Return the best results, best first."""
    shallow = question.limit <= MOST_UNCACHED and question.after is None
    with (
        metrics.SEARCH.labels(question.method).time(),
        _ranked(db, tenant_id, question, embedder, cached=not shallow, with_texts=True) as (tx, ranked),
    ):
        page, read = ranked.page, ranked.texts
        if read is None:
            asking = _text_queries(page, question.filters.moment)
            read = _texts(run_together(tx, *asking, meanwhile=lambda: page.ranked, last=True), page)
        ranked.took.lap("texts")
        return SearchAnswer(_results(page, read), ranked.considered, page, ranked.took.ms)


def rank(db: Database, tenant_id: str, question: Question, embedder: Embedder) -> Ranking:
    """Return the ranking behind the results, without their texts."""
    with _ranked(db, tenant_id, question, embedder, cached=True) as (_, ranked):
        return ranked


@contextmanager
def _ranked(
    db: Database, tenant_id: str, question: Question, embedder: Embedder, *, cached: bool, with_texts: bool = False
) -> Iterator[tuple[Tx, Ranking]]:
    """Yield the page of the ranking, in the transaction that its rows were read in.

    `cached`: of all rows of the owner, however long reading them takes. `with_texts`: texts of the results will be
    asked for. Where the order may still change, they are read in the same round trip as what may change it, and the
    transaction is committed.
    """
    took = Stopwatch()
    vector = _vector(embedder, question)
    took.lap("embedding")
    if question.filters.names_fields:
        with db.tenant(tenant_id) as tx:
            question = replace(question, filters=field_matches.look_up(tx, question.filters, question.parameters))
        took.lap("fields")
    now = question.now or question.filters.moment.known_at or datetime.now(UTC)
    opening, question_filter = (
        _opening_queries(cache.of(db.engine), tenant_id, question, embedder, db.sight),
        _QuestionFilter(question, vector, now),
    )
    # Rows with vectors of another dimension are read again
    ahead = partial(question_filter.over, opening.check.state.view) if opening.check.usable else None
    with (
        cache_filling.FILLER.asking(),
        db.asking(tenant_id, *opening.statements, meanwhile=ahead) as (tx, answers),
    ):
        opening_reads = _opening_reads(question, opening, answers)
        request = _Asked(db, tenant_id, question, embedder, vector, cached)
        rows = _rows(tx, request, opening, opening_reads, [answer[0] for answer in answers[2:]])
        took.lap("index")
        filtered = _select_candidates(tx, question, opening_reads, rows, question_filter, took)
        passages = _passages(tx, question, opening_reads.passages, vector)
        took.lap("documents")
        ranking_query = ranking.RankingQuery(
            filtered.analysis, opening_reads.ideal, question.recipe, now.timestamp(), cosine_weight(embedder.name)
        )
        scores = _scores(tx, question, filtered.candidates, ranking_query, now)
        units = _units(tx, question, opening_reads.own, vector)
        took.lap("fusion")
        recipe, candidates = question.recipe, filtered.candidates
        limits = Page(question.limit, question.each, question.after, recipe.diversity, recipe.share, recipe.distinct)

        def cut(scores: Scores) -> RankedPage:
            beside = [
                hit
                for some in (passages, units)
                if some
                for hit in ordering.score_passages(some, candidates, scores, ranking_query)
            ]
            return ordering.cut_page(candidates, scores, beside, limits, filtered.vectors)

        page, read = _cut_newest_first(tx, question, filtered, scores, cut, with_texts=with_texts)
        if read is not None and not read.covers(page):
            read = _texts(db.ask_again(tx, tenant_id, *_text_queries(page, question.filters.moment)), page)
        considered = {**filtered.considered, "document": len(passages), **({"unit": len(units)} if units else {})}
        took.lap("order")
        yield tx, Ranking(page, considered, filtered.view, question.filters, vector, took, read)


def _vector(embedder: Embedder, question: Question) -> Floats | None:
    """Embed the beginning of the query, before any transaction is open."""
    if question.method == "keyword" or not question.query.strip():
        return None
    with metrics.EMBED.time():
        vector: Floats = embedder.embed_queries([question.query[:READ]])[0]
    return vector


@dataclass(frozen=True, slots=True)
class _OpeningReads:
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
class _OpeningQueries:
    """Statements sent with the opening of the transaction: word counts, unindexed messages, changed rows."""

    terms: QueryTerms
    owner_cache: OwnerCache
    check: Validation
    statements: Sequence[BoundStatement]


def _opening_queries(
    resident_cache: ResidentCache, tenant_id: str, question: Question, embedder: Embedder, sight: Sight = INTERNAL
) -> _OpeningQueries:
    user_id, group_id = question.user_id, question.group_id
    terms = NOTHING if question.method == "vector" else query_terms(question.query)
    owner_cache = resident_cache.owner(tenant_id, user_id, group_id, sight)
    check = owner_cache.check(embedder.dimension)
    counting = search_passages.counts_query(user_id, group_id, terms.all)
    waiting, changed = unindexed.unindexed_query(question.parameters), (cache.CHANGED, check.values)
    sized = () if check.usable else (uncached.size_query(owner_cache.rows),)
    return _OpeningQueries(terms, owner_cache, check, (counting, waiting, changed, *sized))


def _opening_reads(question: Question, opening: _OpeningQueries, answers: Sequence[Sequence[Any]]) -> _OpeningReads:
    counted_rows, waiting, *_ = answers
    counted = search_passages.counts_by_owner(question.user_id, question.group_id, counted_rows)
    count = next(iter(counted.values()))
    own = query_weights(opening.terms.all, count, count.get(DOCUMENTS, 0))
    ideal = sum(query_weights(opening.terms.occurring(count), count, count.get(DOCUMENTS, 0)).values())
    # Passages belong to no session.
    filters = question.filters
    with_passages = "documents" in filters.include and filters.session_id is None and filters.structured is None
    total = search_passages.sum_counts(counted) if with_passages else None
    passages = None if total is None else query_weights(opening.terms.all, total, total[DOCUMENTS])
    # Unindexed messages have no vector, so none is similar enough.
    seen = "messages" in question.filters.include and question.filters.min_similarity is None
    return _OpeningReads(own, ideal, passages, unindexed.hits(waiting, own) if seen else [])


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, who asks it, and whether it needs all rows of the owner."""

    db: Database
    tenant_id: str
    question: Question
    embedder: Embedder
    vector: Floats | None
    cached: bool


@dataclass(frozen=True, slots=True)
class _RowsRead:
    """Rows to filter and rank. `considered`: number of all that pass, by type, if these are not all rows."""

    view: Snapshot
    considered: Mapping[str, int] | None = None


def _rows(
    tx: Tx, request: _Asked, opening: _OpeningQueries, reads: _OpeningReads, standing: Sequence[Any]
) -> _RowsRead:
    """Return the owner's rows from the cache, or those for this question while the cache is filled behind it.

    `standing`: what has changed since they were cached, and how many there are if they never were.
    """
    entry, check, question, (changes, *sized) = opening.owner_cache, opening.check, request.question, standing
    if not question.filters.include & {"messages", "memories"}:
        return _RowsRead(EMPTY)
    if not check.reads_all(changes):
        return _RowsRead(entry.view(tx, check, changes))
    size = (sized or tx.execute(*uncached.size_query(entry.rows)).all())[0].size
    if size > READ_ALL and not request.cached and question.filters.moment.known_at is None:
        entry.discard(check.state)
        cache_filling.FILLER.later(request.db, request.tenant_id, entry, request.embedder.dimension)
        weights = ranking.picking_weights(question.recipe, reads.ideal, cosine_weight(request.embedder.name))
        arms = _arms(question, reads.own, request.vector)
        each = question.limit if question.each else 0
        some = uncached.read(
            tx, entry.rows, question.filters, arms, weights, request.embedder.dimension, request.db.reader, each
        )
        if some is not None:
            metrics.SEARCH_READS.labels("uncached").inc()
            return _RowsRead(some.view, some.considered)
    with cache_filling.FILLER.needed():
        return _RowsRead(entry.view(tx, check, changes, few=size <= READ_ALL))


@dataclass(frozen=True, slots=True)
class _FilteredQuestion:
    """Rows of a snapshot that pass the filters, and the analysis of the question."""

    filtered: FilteredRows
    analysis: Analysis


@dataclass(slots=True)
class _QuestionFilter:
    """Filters a snapshot while the database validates it, and again if it has changed."""

    question: Question
    vector: Floats | None
    now: datetime
    _last: _FilteredQuestion | None = None

    def over(self, view: Snapshot) -> _FilteredQuestion:
        if self._last is None or self._last.filtered.view is not view:
            filtered = search_filters.filter_rows(view, self.question.filters, self.vector)
            self._last = _FilteredQuestion(filtered, self.analysis_for(view.interners.speakers.numbers))
        return self._last

    def analysis_for(self, speakers: Iterable[str]) -> Analysis:
        """Analyse the question, given the names of speakers."""
        return analyse(self.question.query, self.now, list(speakers))


@dataclass(frozen=True, slots=True)
class _Selection:
    """Candidates, their number by type, the snapshot they come from, and the analysis of the question."""

    candidates: Candidates
    considered: Mapping[str, int]
    view: Snapshot
    analysis: Analysis

    def vectors(self, places: Places) -> Floats:
        """Return the vectors of these candidates; zeros where none exists yet."""
        indexes = [self.view.place(key) for key in self.candidates.keys[places]]
        rows = np.zeros((len(indexes), max(self.view.dimension, 1)), dtype=np.float32)
        there = [n for n, index in enumerate(indexes) if index is not None]
        if there:
            rows[there] = self.view.vectors(np.array([indexes[n] for n in there], dtype=np.int64))
        return rows


def _select_candidates(
    tx: Tx,
    question: Question,
    opening_reads: _OpeningReads,
    rows: _RowsRead,
    question_filter: _QuestionFilter,
    took: Stopwatch,
) -> _Selection:
    """Return the messages and memories that pass the filters, or the best of them, and their number."""
    if not question.filters.include & {"messages", "memories"}:
        return _Selection(candidates.of(()), {}, EMPTY, PLAIN)
    view, own = rows.view, opening_reads.own
    worded: Mapping[str, str] = {}
    if question.filters.moment.known_at is not None:
        view, worded = as_of_snapshot.snapshot_at(tx, view, question.filters.moment.known_at, question.parameters)
    thought = question_filter.over(view)
    took.lap("vector")
    lexical = view.lexical(own)
    took.lap("lexical")
    for key, content in worded.items():
        if (index := view.place(key)) is not None:
            lexical[index] = unindexed.lexical(own, document_weights(index_terms(content)))
    passing = thought.filtered.places
    new = [hit for hit in opening_reads.waiting if view.place(hit.key) is None]
    considered = rows.considered
    if considered is None:
        remembered = int(np.count_nonzero(view.fields["memory"][passing]))
        considered = {"memory": remembered, "message": len(passing) - remembered}
    considered = {**considered, "message": considered["message"] + len(new)}
    selected = search_filters.merge_unindexed(search_filters.select(thought.filtered, lexical), new)
    if question.method == "keyword" and question.query.strip():
        selected = selected.with_words()
    return _Selection(
        selected, considered, view, question_filter.analysis_for(selected.speakers) if new else thought.analysis
    )


def _scores(
    tx: Tx, question: Question, candidates: Candidates, ranking_query: ranking.RankingQuery, now: datetime
) -> Scores:
    """Score the candidates as the recipe says."""
    scores, formula = ranking.score_candidates(candidates, ranking_query), question.recipe.formula
    if formula is not None:
        scores = blending.blend(tx, formula, candidates, scores, now, question.filters.moment.known_at)
    return _add_associations(tx, question, candidates, scores)


def _add_associations(tx: Tx, question: Question, candidates: Candidates, scores: Scores) -> Scores:
    """Add the activation of memories linked to the best results, if the recipe asks for it."""
    if question.recipe.association == 0 or not len(candidates):
        return scores
    best = np.argsort(-scores.total, kind="stable")[: association.SOURCES].tolist()
    seeds = {UUID(candidates.keys[index]): float(scores.total[index]) for index in best if candidates.memory[index]}
    messages = {
        str(candidates.keys[index]): float(scores.total[index]) for index in best if not candidates.memory[index]
    }
    reader = Visibility(question.user_id, question.group_id, question.filters)
    reached = association.spread(tx, seeds, messages, reader, len(candidates))
    gained = {str(memory.id): question.recipe.association * memory.activation for memory in reached}
    return ranking.add_gains(candidates, scores, gained)


def _cut_newest_first(
    tx: Tx,
    question: Question,
    selection: _Selection,
    scores: Scores,
    cut: Callable[[Scores], RankedPage],
    *,
    with_texts: bool,
) -> tuple[RankedPage, _Texts | None]:
    """Return the page on which what holds now ranks first, and texts if they were read.

    Memories rank before messages that they outdate, then the newest of contradicting messages. Both are read at once,
    because raising memories changes no message's rank among messages; without any, no query. What is raised is rare,
    so that the texts of the page as it is are read in the same round trip.
    """
    outdated, alike = _outdated(question, selection.candidates, scores), _alike(question, selection, scores)
    if not outdated and not alike:
        return cut(scores), None
    followed_query = _successors_query(outdated) if outdated else None
    page = cut(succession.raise_later(scores, []) if alike else scores)
    if with_texts:
        asking = _text_queries(page, question.filters.moment, alike)
        followed, *answers = run_together(tx, followed_query, *asking, meanwhile=lambda: page.ranked, last=True)
        read = _texts(answers, page)
        spoken = {key: read.messages[key] for key in alike if key in read.messages}
    else:
        followed, message_rows = run_together(tx, followed_query, _messages_query(list(alike)) if alike else None)
        read, spoken = None, _messages_by_key(message_rows)
    raised = _raise_newest(question, selection.candidates, scores, alike, followed, spoken)
    if not np.array_equal(raised.total, page.scores.total):
        page = cut(raised)
    return page, read


def _raise_newest(
    question: Question,
    candidates: Candidates,
    scores: Scores,
    alike: Mapping[str, int],
    followed: Sequence[Any],
    spoken: Mapping[str, Message],
) -> Scores:
    """Raise memories above the messages that they outdate, and of the contradicting messages the newest."""
    pairs = [(message_key(row.session_id, row.message_id), str(row.id)) for row in followed]
    scores = ranking.raise_successors(candidates, scores, pairs) if pairs else scores
    newer = [(alike[earlier], alike[later]) for earlier, later in succession.successors(question.query[:READ], spoken)]
    return succession.raise_later(scores, newer) if alike else scores


def _outdated(question: Question, candidates: Candidates, scores: Scores) -> list[str]:
    """Return the keys of the best messages with a superseded statement, where memories could be raised above them."""
    outdated = np.flatnonzero(candidates.outdated)
    if not len(outdated) or question.filters.moment != NOW or not candidates.memory.any():
        return []
    best = outdated[np.argsort(-scores.total[outdated], kind="stable")[:OUTDATED]]
    return [str(key) for key in candidates.keys[best]]


def _alike(question: Question, selection: _Selection, scores: Scores) -> dict[str, int]:
    """Return the places of the best messages that resemble each other, by key."""
    if question.method != "hybrid":
        return {}
    best = succession.best_messages(selection.candidates, scores)
    some = succession.alike(selection.candidates, best, selection.vectors(np.array(best, dtype=np.int64)))
    return {str(selection.candidates.keys[position]): position for position in some}


def _successors_query(keys: Sequence[str]) -> BoundStatement:
    """Return the statement that finds the active memories which superseded what these messages said."""
    pairs = [message_of_key(key) for key in keys]
    return _SUCCESSORS, {
        "sessions": [session_id for session_id, _ in pairs],
        "ids": [message_id for _, message_id in pairs],
    }


def _passages(tx: Tx, question: Question, query_terms: Mapping[int, float] | None, vector: Floats | None) -> list[Hit]:
    if query_terms is None:
        return []
    hits = search_passages.hits(tx, _arms(question, query_terms, vector))
    return [hit for hit in hits if _is_similar(hit, question.filters.min_similarity)]


def _units(tx: Tx, question: Question, query_terms: Mapping[int, float], vector: Floats | None) -> list[Hit]:
    if "units" not in question.filters.include or question.filters.names_fields:
        return []
    hits = search_units.hits(tx, _arms(question, query_terms, vector))
    return [hit for hit in hits if _is_similar(hit, question.filters.min_similarity)]


def _arms(question: Question, query_terms: Mapping[int, float], vector: Floats | None) -> dict[str, Any]:
    """Return the parameters of SQL that scores rows of the index by words and by vector."""
    literal = None if vector is None else vector_literal(vector)
    return {**question.parameters, "vector": literal, "terms": sparse_literal(query_terms or {1: 0.0})}


def _is_similar(hit: Hit, least: float | None) -> bool:
    return least is None or (hit.cosine is not None and hit.cosine >= least)


@dataclass(frozen=True, slots=True)
class _Texts:
    """Rows of a page's results by their keys; results that were erased concurrently have none."""

    memories: Mapping[str, Any]
    evidence: Mapping[UUID, Sequence[Evidence]]
    messages: Mapping[str, Message]
    passages: Mapping[str, FoundPassage]
    units: Mapping[str, FoundUnit]
    page: RankedPage

    def covers(self, page: RankedPage) -> bool:
        """Return whether all results of a page have been asked for."""
        return page is self.page or set(page.keys) <= set(self.page.keys)


def _text_queries(page: RankedPage, moment: Moment, more: Iterable[str] = ()) -> list[BoundStatement | None]:
    """Return the statements that read texts and evidence of a page, for `_texts`; `more`: keys of further messages."""
    of_type = {type_: [key for kind, key in page.keys if kind == type_] for type_ in ordering.TYPES}
    ids = [UUID(key) for key in of_type["memory"]]
    spoken = list(dict.fromkeys([*of_type["message"], *more]))
    return [
        as_of.row_statement(ids, moment.known_at) if ids else None,
        as_of.evidence_statement(ids, moment.known_at) if ids else None,
        _messages_query(spoken) if spoken else None,
        search_passages.passages_query(of_type["document"]) if of_type["document"] else None,
        search_units.units_query(of_type["unit"]) if of_type["unit"] else None,
    ]


def _texts(answers: Sequence[Sequence[Any]], page: RankedPage) -> _Texts:
    remembered, quoted, message_rows, passed, unit_rows = answers
    return _Texts(
        {str(row.id): row for row in remembered},
        memories.evidence_by_memory(quoted),
        _messages_by_key(message_rows),
        search_passages.passages_by_key(passed),
        search_units.units_by_key(unit_rows),
        page,
    )


def _results(page: RankedPage, read: _Texts) -> list[SearchResult]:
    """Return the ranked hits with what was read of them, in order."""
    results = []
    for item in page.ranked:
        if item.hit.type == "memory" and (row := read.memories.get(item.hit.key)) is not None:
            results.append(SearchResult(item, read.evidence.get(row.id, []), memory=row))
        elif (message := read.messages.get(item.hit.key)) is not None:
            results.append(SearchResult(item, [_as_evidence(message)], message=message))
        elif (passage := read.passages.get(item.hit.key)) is not None:
            results.append(SearchResult(item, [], passage=passage))
        elif (unit := read.units.get(item.hit.key)) is not None:
            results.append(SearchResult(item, [], unit=unit))
    return results


def _messages_by_key(rows: Iterable[Any]) -> dict[str, Message]:
    return {message_key(row.session_id, row.id): sessions.message_of(row) for row in rows}


def _messages_query(keys: Sequence[str]) -> BoundStatement:
    """Return the statement that reads messages by key."""
    pairs = [message_of_key(key) for key in keys]
    return _MESSAGES, {
        "sessions": [session_id for session_id, _ in pairs],
        "ids": [message_id for _, message_id in pairs],
    }


def _as_evidence(message: Message) -> Evidence:
    return Evidence(message.session_id, message.id, message.event_id, message.content)


_SUCCESSORS = text("""
    WITH RECURSIVE outdated AS (
        SELECT e.session_id, e.message_id, m.id, m.user_id, m.group_id, m.subject, m.attribute
        FROM evidence e JOIN memories m ON m.id = e.memory_id AND m.status = 'superseded'
        WHERE (e.session_id, e.message_id) IN (
            SELECT * FROM unnest(cast(:sessions AS text[]), cast(:ids AS text[])))
    ), chain AS (
        SELECT session_id, message_id, id FROM outdated
        UNION
        SELECT c.session_id, c.message_id, r.from_id FROM chain c
        JOIN relations r ON r.to_id = c.id AND r.relation = 'supersedes'
    )
    SELECT c.session_id, c.message_id, m.id FROM chain c JOIN memories m ON m.id = c.id AND m.status = 'active'
    UNION
    SELECT o.session_id, o.message_id, m.id FROM outdated o
    JOIN memories m ON m.user_id = o.user_id AND m.subject = o.subject AND m.attribute = o.attribute
         AND m.group_id IS NOT DISTINCT FROM o.group_id AND m.status = 'active'
""")
"""Follows `supersedes` link by link, and the slot to what fills it now."""

_MESSAGES = text("""
    SELECT * FROM messages
    WHERE (session_id, id) IN (SELECT * FROM unnest(cast(:sessions AS text[]), cast(:ids AS text[])))
""")
