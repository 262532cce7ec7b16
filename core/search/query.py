"""The hybrid search end to end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from itertools import chain
from typing import get_args
from uuid import UUID

import numpy as np
from prometheus_client import Histogram

from core import metrics
from core.index.resident import filling as cache_filling
from core.index.resident.arrays import Floats
from core.index.resident.snapshot import Snapshot
from core.inference.embedders import Embedder
from core.inference.local_models.catalog import cosine_weight
from core.search import (
    association,
    blending,
    field_matches,
    newest,
    opening,
    ordering,
    ranking,
    selection,
    texts,
    wordings,
)
from core.search import passages as search_passages
from core.search import units as search_units
from core.search.candidates import Candidates, Hit
from core.search.filters import Filters
from core.search.opening import SearchRequest
from core.search.ordering import PageCut, RankedPage
from core.search.question import Method, Question, RankedAnswer
from core.search.ranking import RankingQuery, Scores
from core.search.selection import QuestionFilter, Selection
from core.search.spreading import Visibility
from core.search.stopwatch import Stopwatch
from core.search.texts import Texts
from core.storage.db import Database, Tx, run_together

for _method in get_args(Method):
    metrics.SEARCHES_EMPTY.labels(_method)  # From zero on: a share needs a value before the first empty search.

MOST_UNCACHED = 50
"""Results that are read from the database alone: for more, all rows of the owner are cached first."""


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
    texts: Texts | None = None


def search(db: Database, tenant_id: str, question: Question, embedder: Embedder) -> RankedAnswer:
    """Return the best results, best first."""
    shallow = question.limit <= MOST_UNCACHED and question.after is None
    with (
        metrics.SEARCH.labels(question.method).time(),
        _ranked(db, tenant_id, question, embedder, cached=not shallow, with_texts=True) as (tx, ranked),
    ):
        page, read = ranked.page, ranked.texts
        if read is None:
            asking = texts.queries(page, question.filters.moment)
            read = texts.of(run_together(tx, *asking, meanwhile=lambda: page.ranked, last=True), page)
        ranked.took.lap("texts")
        _observe(question, ranked)
        return RankedAnswer(texts.results(page, read), ranked.considered, page, ranked.took.ms)


@cache
def _time_of(arm: str) -> Histogram:
    """Return the histogram of an arm: to look it up each time costs half of what it takes to observe."""
    return metrics.SEARCH_ARM.labels(arm)


def _observe(question: Question, ranked: Ranking) -> None:
    for arm, ms in ranked.took.ms.items():
        _time_of(arm).observe(ms / 1000)
    if not ranked.page.ranked:
        metrics.SEARCHES_EMPTY.labels(question.method).inc()


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
    question = wordings.with_wordings(db, tenant_id, question)
    took.lap("names")
    vector = _vector(embedder, question)
    took.lap("embedding")
    if question.filters.names_fields:
        with db.tenant(tenant_id) as tx:
            question = replace(question, filters=field_matches.look_up(tx, question.filters, question.parameters))
        took.lap("fields")
    now = question.now or question.filters.moment.known_at or datetime.now(UTC)
    request = SearchRequest(db, tenant_id, question, embedder, vector, cached)
    opened, question_filter = opening.queries(request), QuestionFilter(question, vector, now)
    # Rows with vectors of another dimension are read again
    ahead = partial(question_filter.over, opened.check.state.view) if opened.check.usable else None
    with cache_filling.FILLER.asking(), db.asking(tenant_id, *opened.statements, meanwhile=ahead) as (tx, answers):
        weights = opening.reads(question, opened.terms, answers)
        rows = opening.rows(tx, request, opened, weights, [answer[0] for answer in answers[2:]])
        took.lap("index")
        selected = selection.select(tx, question, weights, rows, question_filter, took)
        passages = _passages(tx, question, weights.passages, vector)
        took.lap("documents")
        ranking_query = RankingQuery(
            selected.analysis, weights.ideal, question.recipe, now.timestamp(), cosine_weight(embedder.name)
        )
        scores = _scores(tx, question, selected.candidates, ranking_query, now)
        units = _units(tx, question, weights.own, vector)
        took.lap("fusion")
        page_of = _page_of(question, selected, [passages, units], ranking_query)
        page, read = newest.cut(tx, question, selected, scores, page_of, with_texts=with_texts)
        if read is not None and not read.covers(page):
            read = texts.of(db.ask_again(tx, tenant_id, *texts.queries(page, question.filters.moment)), page)
        considered = {**selected.considered, "document": len(passages), **({"unit": len(units)} if units else {})}
        took.lap("order")
        yield tx, Ranking(page, considered, selected.view, question.filters, vector, took, read)


def _vector(embedder: Embedder, question: Question) -> Floats | None:
    """Embed the query, before any transaction is open."""
    if question.method == "keyword" or not question.query.strip():
        return None
    with metrics.EMBED.time():
        return wordings.vector(embedder, question)


def _scores(tx: Tx, question: Question, candidates: Candidates, ranking_query: RankingQuery, now: datetime) -> Scores:
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


def _page_of(
    question: Question, selected: Selection, beside: Sequence[Sequence[Hit]], ranking_query: RankingQuery
) -> Callable[[Scores], RankedPage]:
    """Return the function that cuts the page from scores; `beside`: lists of hits that have their own scale."""
    recipe, candidates = question.recipe, selected.candidates
    limits = PageCut(question.limit, question.each, question.after, recipe.diversity, recipe.share, recipe.distinct)

    def cut(scores: Scores) -> RankedPage:
        ranked = [ordering.score_passages(hits, candidates, scores, ranking_query) for hits in beside if hits]
        return ordering.cut_page(candidates, scores, list(chain(*ranked)), limits, selected.vectors)

    return cut


def _passages(tx: Tx, question: Question, query_terms: Mapping[int, float] | None, vector: Floats | None) -> list[Hit]:
    if query_terms is None:
        return []
    hits = search_passages.hits(tx, question.arms(query_terms, vector))
    return [hit for hit in hits if _is_similar(hit, question.filters.min_similarity)]


def _units(tx: Tx, question: Question, query_terms: Mapping[int, float], vector: Floats | None) -> list[Hit]:
    if "units" not in question.filters.include or question.filters.names_fields:
        return []
    hits = search_units.hits(tx, question.arms(query_terms, vector))
    return [hit for hit in hits if _is_similar(hit, question.filters.min_similarity)]


def _is_similar(hit: Hit, least: float | None) -> bool:
    return least is None or (hit.cosine is not None and hit.cosine >= least)
