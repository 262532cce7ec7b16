"""POST /v1/search/why: where a memory or message stands in a search, and what keeps it from the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter
from pydantic import BaseModel, Field

from api.http.search import results
from api.http.search.request import SearchRequest, problems
from api.http.search.search import question_of
from api.ingress import audience
from api.ingress.answers import refuses
from api.ingress.dependencies import Dependencies, Deps, Reader
from api.ingress.large_json import Route
from core.answering import reranking
from core.answering.reranking import Reranked
from core.errors import Invalid, Problem
from core.events.parsing import Name
from core.search import absence, arms, query, wordings
from core.search.absence import ResultStanding, Target, Verdict
from core.search.ordering import RankedHit
from core.search.question import Question
from core.storage import replica

router = APIRouter(prefix="/v1", tags=["search"], route_class=Route)

OF_PAGES: Final = ("after", "group_by", "user_ids")
"""Fields of a search that say nothing about a single result."""


class WhyRequest(SearchRequest):
    """A search, and what is looked for in its results."""

    id: Annotated[Name, Field(description="Of a memory; with `in_session`, of a message")]
    in_session: Annotated[Name | None, Field(description="Session of the message")] = None


class ScoredHit(BaseModel):
    """A candidate with its score: by words, by meaning, its rank in each arm, and the parts that add up."""

    type: str
    id: str
    session_id: str | None
    score: float
    lexical: float
    vector: float | None
    ranks: dict[str, int]
    parts: dict[str, float]


class ListedHit(BaseModel):
    """A candidate in the list of one arm."""

    rank: int
    type: str
    id: str
    session_id: str | None
    score: float


class WhyAnswer(BaseModel):
    """Where something stands. `shown`: results of a page; `filters`: names of those that leave it out."""

    verdict: Verdict
    reason: str
    filters: list[str]
    rank: int | None
    shown: int
    found: ScoredHit | None
    last: ScoredHit | None
    arms: dict[str, list[ListedHit]]


@router.post("/search/why", operation_id="explainSearch", responses=refuses(400, 404))
def post_why(deps: Deps, caller: Reader, request: WhyRequest) -> WhyAnswer:
    """Explain why a memory or message is not among the results of a search, or at which place it is.

    The search is carried out as asked, and not counted as a recall.
    """
    if wrong := [*problems(request), *_of_pages(request)]:
        raise Invalid(wrong)
    deps = audience.for_reader(deps, caller, request.reader_labels)
    question = question_of(request, request.now or request.known_at or datetime.now(UTC))
    target = Target(request.id, request.in_session)
    standing = replica.read(
        deps.replica, deps.db, lambda db: _standing(replace(deps, db=db), caller.tenant_id, question, target)
    )
    return WhyAnswer(
        verdict=standing.verdict,
        reason=standing.reason,
        filters=list(standing.filters),
        rank=standing.rank,
        shown=question.limit,
        found=_scored(standing.result),
        last=_scored(standing.last),
        arms=_arms(standing),
    )


def _standing(deps: Dependencies, tenant_id: str, question: Question, target: Target) -> ResultStanding:
    if question.recipe.rerank:
        question = wordings.with_wordings(deps.db, tenant_id, question)
    searched = reranking.wider(question) if question.recipe.rerank else question
    standing = absence.explain(deps.db, tenant_id, searched, deps.embedder, target)
    if question.recipe.rerank and standing.verdict == "shown":
        hits = query.search(deps.db, tenant_id, searched, deps.embedder).results
        standing = _reranked(standing, target, reranking.by_certainty(deps.embedder, question, hits), question.limit)
    return standing


def _reranked(standing: ResultStanding, target: Target, reranked: Sequence[Reranked], limit: int) -> ResultStanding:
    rank = next((at for at, each in enumerate(reranked, 1) if each.result.ranked.hit.key == target.key), None)
    if rank is None:
        return standing
    certainty = reranked[rank - 1].certainty
    if certainty is None:
        return replace(standing, verdict="shown" if rank <= limit else "below", rank=rank, last=None)
    if certainty < reranking.LEAST:
        reason = f"It is taken for no answer: its certainty is {certainty:.2f}, at least {reranking.LEAST} is shown."
        return replace(standing, verdict="unlikely", reason=reason, rank=None)
    verdict: Verdict = "shown" if rank <= limit else "below"
    reason = f"It ranks {rank} by how certain it is to answer ({certainty:.2f}); {limit} are shown."
    return replace(standing, verdict=verdict, reason=reason, rank=rank, last=None)


def _of_pages(request: WhyRequest) -> Iterator[Problem]:
    for name in OF_PAGES:
        if getattr(request, name):
            yield Problem(f"/{name}", "belongs to the pages of a search: leave it out")


def _scored(ranked: RankedHit | None) -> ScoredHit | None:
    if ranked is None:
        return None
    hit = ranked.hit
    named: dict[str, Any] = results.hit_id_json(hit.type, hit.key)
    return ScoredHit(
        **named, score=ranked.score, lexical=hit.lexical, vector=hit.cosine, ranks=ranked.ranks, parts=ranked.parts
    )


def _arms(standing: ResultStanding) -> dict[str, list[ListedHit]]:
    if standing.ranking is None:
        return {}
    lists = arms.of(standing.ranking.page)
    return {name: [ListedHit(**results.arm_hit_json(hit)) for hit in hits] for name, hits in lists.items()}
