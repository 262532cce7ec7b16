"""POST /v1/search and its recipes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import accumulate

from fastapi import APIRouter, Response

from api.http import search_results as shown
from api.http.answers.search import RecipePage, SearchAnswer
from api.http.search_request import FILTERS, OUTSIDE, PER_GROUP, SearchRequest, may_ask_outside, problems
from api.ingress import audience, field_filters, paging, raw_access
from api.ingress.answers import answers
from api.ingress.dependencies import Deps, Reader, json_response
from api.ingress.large_json import Route
from api.ingress.paging import After, WholeLimit
from core.consolidation.echo import Served
from core.context import retrievers
from core.context.adaptive_depth import depth
from core.context.retrievers import RetrievedText, RetrieverQuery
from core.errors import Invalid
from core.memory.as_of import Moment
from core.search import arms, pagination, query
from core.search.filters import SERVED, Filters
from core.search.ordering import TYPES, RankedPage
from core.search.pagination import Cursor
from core.search.query import Question, SearchResult
from core.search.recall_log import Asker
from core.search.recipes import RECIPES, Recipe
from core.storage.bounded_rows import PAGE_BYTES
from core.types import Json

router = APIRouter(prefix="/v1", tags=["search"], route_class=Route)

GROUPED = 1000
"""Results of a ranking that are read to limit those of one session or group, or to merge those of several users."""

BY_RECIPE = ("limit", "adaptive", "min_similarity", "include")
"""Parameters of a recipe that a request may override."""

ANY_PAGE = {"after", "limit", "adaptive", "explain", "raw"}
"""Fields that may differ from page to page of one answer."""


@router.get("/search/recipes", operation_id="listSearchRecipes", responses=answers(RecipePage))
def get_recipes(_who: Reader, after: After = None, limit: WholeLimit = paging.MOST) -> Json:
    """List the search recipes with their purpose and parameters."""
    return paging.cut(list(RECIPES), lambda name: RECIPES[name].as_json(), str, after, limit)


@router.post("/search", response_model=Json, operation_id="search", responses=answers(SearchAnswer))
def post_search(at: Deps, who: Reader, asked: SearchRequest) -> Response:
    """Search memories, messages, document passages and units of conversations; each result has its sources.

    `outside` has the results of installed retrievers, on the scale of each.
    """
    if wrong := list(problems(asked)):
        raise Invalid(wrong)
    at = audience.for_reader(at, who, asked.reader_labels)
    if asked.raw:
        raw_access.allow(at, who, "search", user_id=asked.user_id, group_id=asked.group_id)
    began, recipe = time.perf_counter(), _effective_recipe(asked)
    deep = depth(asked.query) if recipe.adaptive else None
    limit = _adaptive_limit(asked, deep.k) if deep else recipe.limit
    same = _identity(who.tenant_id, asked, recipe)
    cursor = pagination.decode(asked.after, same) if asked.after is not None else None
    now = cursor.now if cursor else asked.now or asked.known_at or datetime.now(UTC)
    answer = _answer(at, who, asked, _question(asked, recipe, limit, cursor, now))
    found, more = _page(answer, asked, cursor, limit)
    at.hits.note(who.tenant_id, hit=any(one.memory is not None for one in found))
    outside = _outside(at, who, asked, limit)
    _note_recalls(at, who, asked, answer, found, [Served(one.text) for _, one in outside or ()])
    formula = at.settings.strength_formula if asked.explain else None
    results = [shown.result_json(one, now, formula, raw=asked.raw) for one in found]
    if asked.user_ids:
        results = [{**one, "user_id": answer.owners[id(hit)]} for one, hit in zip(results, found, strict=True)]
    content = {
        "results": results,
        **({"outside": shown.outside_json(outside)} if outside is not None else {}),
        **({"groups": shown.groups_json(found, asked.group_by)} if asked.group_by else {}),
        "total": answer.total,
        "next": pagination.encode(Cursor(pagination.place_of(found[-1].ranked), now), same) if more else None,
        "took_ms": round((time.perf_counter() - began) * 1000, 2),
        **({"depth": {"k": deep.k, "reasons": deep.reasons}} if deep else {}),
        **({"explain": _explanation(asked, replace(recipe, limit=limit), answer, now)} if asked.explain else {}),
    }
    at.hits.took(who.tenant_id, "search", time.perf_counter() - began)
    return json_response(content)


def question_of(asked: SearchRequest, now: datetime) -> Question:
    """Return the query of the first page, for as many results as it shows."""
    recipe = _effective_recipe(asked)
    limit = _adaptive_limit(asked, depth(asked.query).k) if recipe.adaptive else recipe.limit
    return replace(_question(asked, recipe, limit, None, now), limit=limit)


def _outside(at: Deps, who: Reader, asked: SearchRequest, limit: int) -> list[tuple[str, RetrievedText]] | None:
    """Return the results of the installed retrievers; None if they are not asked."""
    named = OUTSIDE in asked.include
    if not (named or (at.retrievers and "include" not in asked.model_fields_set and may_ask_outside(asked))):
        return None
    user_id = None if asked.audience == "group" else asked.user_id
    question = RetrieverQuery(who.tenant_id, user_id, asked.group_id, asked.query, limit)
    return retrievers.screened(at.retrievers, question, raw=asked.raw)


def _effective_recipe(asked: SearchRequest) -> Recipe:
    """Return the recipe with the overrides of the request."""
    named = RECIPES[asked.recipe]
    said = {name: getattr(asked, name) for name in BY_RECIPE if name in asked.model_fields_set}
    said = {name: value for name, value in said.items() if value is not None or name == "min_similarity"}
    if asked.method == "keyword":
        said["min_similarity"] = None
    if asked.user_ids:
        said |= {"diversity": 0.0, "share": 0.0}  # Results of several users are merged by score alone.
    return replace(named, **said | {"include": frozenset(said.get("include", named.include)) - {OUTSIDE}})


def _adaptive_limit(asked: SearchRequest, k: int) -> int:
    """Return the adaptive number of results, at most the requested limit."""
    return k if asked.limit is None else min(asked.limit, k)


def _identity(tenant_id: str, asked: SearchRequest, recipe: Recipe) -> Json:
    """Return the identity of a question across its pages; the order of values does not matter."""
    said = asked.model_dump(mode="json", exclude=ANY_PAGE)
    said["reader_labels"] = asked.reader_labels or []
    said |= {"tenant": tenant_id, "include": list(recipe.include), "min_similarity": recipe.min_similarity}
    return {name: sorted(value) if isinstance(value, list) else value for name, value in said.items()}


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


def _answer(at: Deps, who: Reader, asked: SearchRequest, question: Question) -> _Answer:
    """Search for one user or group, or for each user and merge the answers by score."""
    if not asked.user_ids:
        answer = query.search(at.db, who.tenant_id, question, at.embedder)
        return _Answer(answer.results, answer.considered, {}, answer.page, answer.took)
    considered: Counter[str] = Counter()
    best: dict[tuple[str, str], tuple[str, SearchResult]] = {}
    for user_id in asked.user_ids:
        answer = query.search(at.db, who.tenant_id, replace(question, user_id=user_id), at.embedder)
        considered.update(answer.considered)
        for one in answer.results:  # A document of the whole tenant is found for each user.
            key = (one.ranked.hit.type, one.ranked.hit.key)
            if key not in best or one.ranked.score > best[key][1].ranked.score:
                best[key] = (user_id, one)
    merged = sorted(best.items(), key=lambda item: (-item[1][1].ranked.score, TYPES.index(item[0][0]), item[0][1]))
    return _Answer([one for _, (_, one) in merged], considered, {id(one): user_id for _, (user_id, one) in merged})


def _note_recalls(
    at: Deps,
    who: Reader,
    asked: SearchRequest,
    answer: _Answer,
    found: Sequence[SearchResult],
    outside: Sequence[Served],
) -> None:
    """Record what was shown to whom, for echoes and counts of use."""
    by_user: dict[str | None, list[Served]] = {user_id: [] for user_id in (*asked.user_ids, asked.user_id)}
    if asked.user_ids:
        del by_user[None]
    for one in found:
        by_user[answer.owners.get(id(one), asked.user_id)].append(_as_served(one))
    for user_id, served in by_user.items():
        asker = Asker(who.tenant_id, user_id, asked.group_id)
        at.recalls.note(
            asker,
            [*served, *outside],
            announced=at.settings.announce_recalls,
            query=asked.query,
            session_id=asked.session_id,
        )


def _page(answer: _Answer, asked: SearchRequest, cursor: Cursor | None, limit: int) -> tuple[list[SearchResult], bool]:
    """Return the page, and whether there is another one."""
    found = list(answer.results)
    if asked.group_by is not None:
        found = pagination.cap_per_key(found, shown.KEYS[asked.group_by], asked.per_group or PER_GROUP)
    if _is_whole(asked):
        found = found[pagination.page_start([one.ranked for one in found], cursor.position if cursor else None) :]
    shown_here = found[: min(limit, _fitting(found))]
    return shown_here, len(found) > len(shown_here)


def _fitting(results: Sequence[SearchResult]) -> int:
    """Return how many results a page has room for; the first always fits."""
    ends = accumulate(len(_as_served(result).text) for result in results)
    return 1 + sum(end < PAGE_BYTES for end in ends)


def _as_served(found: SearchResult) -> Served:
    if found.message is not None:
        return Served(found.message.content)
    if found.passage is not None:
        return Served(found.passage.content)
    if found.unit is not None:
        return Served(found.unit.summary)
    return Served(found.memory.content, found.memory.id)


def _is_whole(asked: SearchRequest) -> bool:
    """Return whether pages are cut from results that were read as a whole: grouped ones, and those of several users."""
    return asked.group_by is not None or bool(asked.user_ids)


def _question(asked: SearchRequest, recipe: Recipe, limit: int, cursor: Cursor | None, now: datetime) -> Question:
    """Return the query for one result more than shown, to detect another page; to group or merge, for many."""
    whole = _is_whole(asked)
    return Question(
        query=asked.query,
        user_id=None if asked.audience == "group" else asked.user_id,
        group_id=asked.group_id,
        limit=GROUPED if whole and (cursor or asked.group_by) else limit + 1,
        method=asked.method,
        filters=_filters(asked, recipe),
        recipe=recipe,
        after=cursor.position if cursor and not whole else None,
        now=now,
    )


def _filters(asked: SearchRequest, recipe: Recipe) -> Filters:
    return Filters(
        include=recipe.include,
        kinds=asked.kinds,
        categories=asked.categories,
        topics=asked.topics,
        tags=asked.tags,
        session_id=asked.session_id,
        uri_prefix=asked.uri_prefix,
        since=asked.time.from_,
        until=asked.time.to,
        min_similarity=recipe.min_similarity,
        min_importance=asked.min_importance,
        include_archived=asked.include_archived,
        trust=asked.trust or SERVED,
        moment=Moment(asked.as_of, asked.known_at),
        structured=field_filters.demands(asked.structured),
        metadata=field_filters.demands(asked.metadata),
    )


def _explanation(asked: SearchRequest, recipe: Recipe, answer: _Answer, now: datetime) -> Json:
    """Return the effective recipe and filters, and the number of rows that passed, by type."""
    held = asked.model_dump(mode="json", include=FILTERS, exclude_defaults=True, by_alias=True)
    held |= {"include": sorted(recipe.include), "trust": list(asked.trust or SERVED)}
    if recipe.min_similarity is not None:
        held["min_similarity"] = recipe.min_similarity
    return {
        "recipe": recipe.as_json(),
        "method": asked.method,
        "now": now,
        "filters": held,
        "considered": answer.considered,
        "arms": {} if answer.page is None else shown.arms_json(arms.of(answer.page)),
        "took_ms": dict(answer.took),
    }
