"""POST /v1/search and its recipes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import accumulate

from fastapi import APIRouter, Response

from api.http.search.answers import RecipePage, SearchAnswer
from api.http.search.request import FILTERS, OUTSIDE, PER_GROUP, SearchRequest, may_ask_outside, problems
from api.http.search.results import KEYS, arms_json, groups_json, outside_json, result_json
from api.ingress import audience, field_filters, paging, raw_access
from api.ingress.answers import answers
from api.ingress.dependencies import Deps, Reader, json_response
from api.ingress.large_json import Route
from api.ingress.paging import After, WholeLimit
from core.answering import reranking
from core.consolidation.echo import Served
from core.context import retrievers
from core.context.adaptive_depth import depth
from core.context.retrievers import RetrievedText, RetrieverQuery
from core.errors import Invalid
from core.memory.as_of import Moment
from core.search import arms, pagination, query, wordings
from core.search.filters import SERVED, Filters
from core.search.ordering import TYPES, RankedPage
from core.search.pagination import Cursor
from core.search.question import Question, SearchResult
from core.search.recall_log import Asker
from core.search.recipes import RECIPES, Recipe
from core.storage import replica
from core.storage.bounded_rows import PAGE_BYTES
from core.storage.db import Database
from core.types import Json

router = APIRouter(prefix="/v1", tags=["search"], route_class=Route)

GROUPED = 1000
"""Results of a ranking that are read to limit those of one session or group, or to merge those of several users."""

BY_RECIPE = ("limit", "adaptive", "min_similarity", "include", "rerank")
"""Parameters of a recipe that a request may override."""

ANY_PAGE = {"after", "limit", "adaptive", "explain", "raw"}
"""Fields that may differ from page to page of one answer."""


@router.get("/search/recipes", operation_id="listSearchRecipes", responses=answers(RecipePage))
def get_recipes(_who: Reader, after: After = None, limit: WholeLimit = paging.MOST) -> Json:
    """List the search recipes with their purpose and parameters."""
    return paging.cut(list(RECIPES), lambda name: RECIPES[name].as_json(), str, after, limit)


@router.post("/search", response_model=Json, operation_id="search", responses=answers(SearchAnswer, refusals=(400,)))
def post_search(at: Deps, who: Reader, request: SearchRequest) -> Response:
    """Search memories, messages, document passages and units of conversations; each result has its sources.

    `outside` has the results of installed retrievers, on the scale of each.
    """
    if wrong := list(problems(request)):
        raise Invalid(wrong)
    at = audience.for_reader(at, who, request.reader_labels)
    if request.raw:
        raw_access.allow(at, who, "search", user_id=request.user_id, group_id=request.group_id)
    began, recipe = time.perf_counter(), _effective_recipe(request)
    deep = depth(request.query) if recipe.adaptive else None
    limit = _adaptive_limit(request, deep.k) if deep else recipe.limit
    same = _identity(who.tenant_id, request, recipe)
    cursor = pagination.decode(request.after, same) if request.after is not None else None
    now = cursor.now if cursor else request.now or request.known_at or datetime.now(UTC)
    question = _question(request, recipe, limit, cursor, now)

    def search(db: Database) -> tuple[Question, Question, _Answer]:
        worded = wordings.with_wordings(db, who.tenant_id, question) if recipe.rerank else question
        searched = reranking.wider(worded) if recipe.rerank else worded
        return worded, searched, _answer(replace(at, db=db), who, request, searched)

    question, searched, answer = replica.read(at.replica, at.db, search)
    certainties: Mapping[int, float] = {}
    if recipe.rerank:
        reranked = reranking.rerank(at.embedder, question, answer.results)[:limit]
        page, more = [each.result for each in reranked], False
        certainties = {id(each.result): each.certainty for each in reranked if each.certainty is not None}
    else:
        page, more = _page(answer, request, cursor, limit)
    at.note_search(who.tenant_id, hit=any(result.memory is not None for result in page))
    outside = _outside(at, who, request, limit)
    _note_recalls(at, who, request, answer, page, [Served(retrieved.text) for _, retrieved in outside or ()])
    formula = at.settings.strength_formula if request.explain else None
    results = [result_json(result, now, formula, raw=request.raw) for result in page]
    for result, hit in zip(results, page, strict=True):
        if id(hit) in certainties:
            result["scores"]["certainty"] = round(certainties[id(hit)], 3)
    if request.user_ids:
        results = [{**result, "user_id": answer.owners[id(hit)]} for result, hit in zip(results, page, strict=True)]
    content = {
        "results": results,
        **({"outside": outside_json(outside)} if outside is not None else {}),
        **({"groups": groups_json(page, request.group_by)} if request.group_by else {}),
        "total": answer.total,
        "next": pagination.encode(Cursor(pagination.place_of(page[-1].ranked), now), same) if more else None,
        "took_ms": round((time.perf_counter() - began) * 1000, 2),
        **({"depth": {"k": deep.k, "reasons": deep.reasons}} if deep else {}),
        **(
            {"explain": _explanation(request, replace(searched.recipe, limit=limit), answer, now)}
            if request.explain
            else {}
        ),
    }
    at.hits.took(who.tenant_id, "search", time.perf_counter() - began)
    return json_response(content)


def question_of(request: SearchRequest, now: datetime) -> Question:
    """Return the query of the first page, for as many results as it shows."""
    recipe = _effective_recipe(request)
    limit = _adaptive_limit(request, depth(request.query).k) if recipe.adaptive else recipe.limit
    return replace(_question(request, recipe, limit, None, now), limit=limit)


def _outside(at: Deps, who: Reader, request: SearchRequest, limit: int) -> list[tuple[str, RetrievedText]] | None:
    """Return the results of the installed retrievers; None if they are not asked."""
    named = OUTSIDE in request.include
    if not (named or (at.retrievers and "include" not in request.model_fields_set and may_ask_outside(request))):
        return None
    user_id = None if request.audience == "group" else request.user_id
    question = RetrieverQuery(who.tenant_id, user_id, request.group_id, request.query, limit)
    return retrievers.screened(at.retrievers, question, raw=request.raw)


def _effective_recipe(request: SearchRequest) -> Recipe:
    named = RECIPES[request.recipe]
    overrides = {name: getattr(request, name) for name in BY_RECIPE if name in request.model_fields_set}
    overrides = {name: value for name, value in overrides.items() if value is not None or name == "min_similarity"}
    if request.method == "keyword":
        overrides["min_similarity"] = None
    if request.user_ids:
        overrides |= {"diversity": 0.0, "share": 0.0}  # Results of several users are merged by score alone.
    if request.user_ids or request.group_by or request.after:
        overrides["rerank"] = False
    return replace(named, **overrides | {"include": frozenset(overrides.get("include", named.include)) - {OUTSIDE}})


def _adaptive_limit(request: SearchRequest, k: int) -> int:
    """Return the adaptive number of results, at most the requested limit."""
    return k if request.limit is None else min(request.limit, k)


def _identity(tenant_id: str, request: SearchRequest, recipe: Recipe) -> Json:
    """Return the identity of a question across its pages; the order of values does not matter."""
    identity = request.model_dump(mode="json", exclude=ANY_PAGE)
    identity["reader_labels"] = request.reader_labels or []
    identity |= {"tenant": tenant_id, "include": list(recipe.include), "min_similarity": recipe.min_similarity}
    return {name: sorted(value) if isinstance(value, list) else value for name, value in identity.items()}


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer, of several users in one order. `owners`: the user of each result, by its identity."""

    results: Sequence[SearchResult]
    considered: Mapping[str, int]
    owners: Mapping[int, str]
    page: RankedPage | None = None
    took: Mapping[str, float] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return sum(self.considered.values())


def _answer(at: Deps, who: Reader, request: SearchRequest, question: Question) -> _Answer:
    """Search for one user or group, or for each user and merge the answers by score."""
    if not request.user_ids:
        answer = query.search(at.db, who.tenant_id, question, at.embedder)
        return _Answer(answer.results, answer.considered, {}, answer.page, answer.took)
    considered: Counter[str] = Counter()
    best: dict[tuple[str, str], tuple[str, SearchResult]] = {}
    for user_id in request.user_ids:
        answer = query.search(at.db, who.tenant_id, replace(question, user_id=user_id), at.embedder)
        considered.update(answer.considered)
        for result in answer.results:  # A document of the whole tenant is found for each user.
            key = (result.ranked.hit.type, result.ranked.hit.key)
            if key not in best or result.ranked.score > best[key][1].ranked.score:
                best[key] = (user_id, result)
    merged = sorted(best.items(), key=lambda item: (-item[1][1].ranked.score, TYPES.index(item[0][0]), item[0][1]))
    return _Answer(
        [result for _, (_, result) in merged], considered, {id(result): user_id for _, (user_id, result) in merged}
    )


def _note_recalls(
    at: Deps,
    who: Reader,
    request: SearchRequest,
    answer: _Answer,
    results: Sequence[SearchResult],
    outside: Sequence[Served],
) -> None:
    """Record what was shown to whom, for echoes and counts of use."""
    by_user: dict[str | None, list[Served]] = {user_id: [] for user_id in (*request.user_ids, request.user_id)}
    if request.user_ids:
        del by_user[None]
    for result in results:
        by_user[answer.owners.get(id(result), request.user_id)].append(_as_served(result))
    for user_id, served in by_user.items():
        asker = Asker(who.tenant_id, user_id, request.group_id)
        at.recalls.note(
            asker,
            [*served, *outside],
            announced=at.settings.announce_recalls,
            query=request.query,
            session_id=request.session_id,
        )


def _page(
    answer: _Answer, request: SearchRequest, cursor: Cursor | None, limit: int
) -> tuple[list[SearchResult], bool]:
    """Return the page, and whether there is another one."""
    results = list(answer.results)
    if request.group_by is not None:
        results = pagination.cap_per_key(results, KEYS[request.group_by], request.per_group or PER_GROUP)
    if _is_whole(request):
        results = results[
            pagination.page_start([result.ranked for result in results], cursor.position if cursor else None) :
        ]
    shown_here = results[: min(limit, _fitting(results))]
    return shown_here, len(results) > len(shown_here)


def _fitting(results: Sequence[SearchResult]) -> int:
    """Return how many results a page has room for; the first always fits."""
    ends = accumulate(len(_as_served(result).text) for result in results)
    return 1 + sum(end < PAGE_BYTES for end in ends)


def _as_served(result: SearchResult) -> Served:
    if result.message is not None:
        return Served(result.message.content)
    if result.passage is not None:
        return Served(result.passage.content)
    if result.unit is not None:
        return Served(result.unit.summary)
    return Served(result.memory.content, result.memory.id)


def _is_whole(request: SearchRequest) -> bool:
    """Return whether pages are cut from results that were read as a whole: grouped ones, and those of several users."""
    return request.group_by is not None or bool(request.user_ids)


def _question(request: SearchRequest, recipe: Recipe, limit: int, cursor: Cursor | None, now: datetime) -> Question:
    """Return the query for one result more than shown, to detect another page; to group or merge, for many."""
    whole = _is_whole(request)
    return Question(
        query=request.query,
        user_id=None if request.audience == "group" else request.user_id,
        group_id=request.group_id,
        limit=GROUPED if whole and (cursor or request.group_by) else limit + 1,
        method=request.method,
        filters=Filters(
            include=recipe.include,
            kinds=request.kinds,
            categories=request.categories,
            topics=request.topics,
            tags=request.tags,
            session_id=request.session_id,
            uri_prefix=request.uri_prefix,
            since=request.time.from_,
            until=request.time.to,
            min_similarity=recipe.min_similarity,
            min_importance=request.min_importance,
            include_archived=request.include_archived,
            trust=request.trust or SERVED,
            moment=Moment(request.as_of, request.known_at),
            structured=field_filters.demands(request.structured),
            metadata=field_filters.demands(request.metadata),
        ),
        recipe=recipe,
        after=cursor.position if cursor and not whole else None,
        now=now,
    )


def _explanation(request: SearchRequest, recipe: Recipe, answer: _Answer, now: datetime) -> Json:
    held = request.model_dump(mode="json", include=FILTERS, exclude_defaults=True, by_alias=True)
    held |= {"include": sorted(recipe.include), "trust": list(request.trust or SERVED)}
    if recipe.min_similarity is not None:
        held["min_similarity"] = recipe.min_similarity
    return {
        "recipe": recipe.as_json(),
        "method": request.method,
        "now": now,
        "filters": held,
        "considered": answer.considered,
        "arms": {} if answer.page is None else arms_json(arms.of(answer.page)),
        "took_ms": dict(answer.took),
    }
