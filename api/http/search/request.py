"""The request of a search, and what is wrong with one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from api.http.search.documents import Uri
from api.ingress.audience import ReaderLabels
from api.ingress.field_filters import ANY_OF, FieldFilter
from core.answering import reranking
from core.errors import Problem
from core.events.parsing import Content, Name, Time
from core.search import pagination, recipes
from core.search.question import Method
from core.search.recipes import RECIPES
from core.types import Category, Kind, Topic

Share = Annotated[float, Field(ge=0, le=1)]

MOST = 50
"""Values of one filter: problems with each are reported, and all are read before anything else."""

USERS = 10
"""Users of one search: each of them is ranked on their own."""

PER_GROUP = 3
"""Results of one session or group by default."""

OF_MEMORIES_ALONE = ("kinds", "categories", "topics", "tags", "min_importance", "trust", "structured")
"""Filters that apply to memories alone."""

OUTSIDE = "outside"
"""Results of third-party retrievers."""

FILTERS = {
    *("session_id", "uri_prefix", "metadata", "time", "min_importance", "as_of", "known_at", "include_archived"),
    *OF_MEMORIES_ALONE,
}
"""Filters; also `include` and `min_similarity`, which a recipe may set."""


class Span(BaseModel):
    """A time span; either end may be open."""

    model_config = ConfigDict(extra="forbid")

    from_: AwareDatetime | None = Field(None, alias="from")
    to: AwareDatetime | None = None


class SearchRequest(BaseModel):
    """A search: query, owner and filters."""

    model_config = ConfigDict(extra="forbid")

    user_id: Name | None = None
    user_ids: Annotated[
        list[Name], Field(max_length=USERS, description=f"Search the memory of several users at once, at most {USERS}")
    ] = []
    group_id: Name | None = None
    query: Annotated[Content, Field(max_length=10_000)]
    recipe: Annotated[recipes.Name, Field(description="Name of a search recipe; see /v1/search/recipes")] = "default"
    limit: Annotated[int | None, Field(ge=1, le=200, description="Results per page; default: the recipe's, or 10")] = (
        None
    )
    after: Annotated[
        str | None, Field(max_length=pagination.LONGEST, description="`next` of the previous page of the same search")
    ] = None
    method: Method = "hybrid"
    include: Annotated[
        list[Literal["memories", "messages", "documents", "units", "outside"]],
        Field(
            max_length=MOST,
            description="Types to search; units of conversations only if they are named. "
            "`outside`: also ask the installed retrievers, which is done without `include`, too",
        ),
    ] = ["memories", "messages", "documents"]
    kinds: Annotated[list[Kind], Field(max_length=MOST)] = []
    categories: Annotated[list[Category], Field(max_length=MOST)] = []
    topics: Annotated[list[Topic], Field(max_length=MOST)] = []
    tags: Annotated[list[Name], Field(max_length=MOST, description="Memories with at least one of these tags")] = []
    metadata: Annotated[
        FieldFilter | None,
        Field(description=f"Only messages, memories and documents whose metadata has these fields; {ANY_OF}"),
    ] = None
    structured: Annotated[
        FieldFilter | None, Field(description=f"Only memories whose `structured` has these fields; {ANY_OF}")
    ] = None
    session_id: Name | None = None
    uri_prefix: Annotated[
        Uri | None, Field(description="Passages of documents whose `uri` begins with this; only with documents alone")
    ] = None
    time: Annotated[Span, Field(description="Time when it was said or happened")] = Span()
    min_similarity: Annotated[
        float | None, Field(ge=-1, le=1, description="Minimum cosine similarity; results without a vector are left out")
    ] = None
    min_importance: Share | None = None
    trust: Annotated[
        list[Literal["candidate", "confirmed", "disputed", "quarantined"]],
        Field(max_length=MOST, description="Default: all except quarantined; rejected memories are never returned"),
    ] = []
    as_of: Annotated[
        AwareDatetime | None, Field(description="Statements valid at this time, including those superseded since")
    ] = None
    known_at: Annotated[Time | None, Field(description="Statements recorded by this time, as worded then")] = None
    include_archived: Annotated[bool, Field(description="Include archived and expired memories")] = False
    now: Annotated[Time | None, Field(description="Reference time for the age of results")] = None
    adaptive: Annotated[
        bool | None, Field(description="Let the query determine the number of results: 3 to 15, at most `limit`")
    ] = None
    rerank: Annotated[
        bool | None,
        Field(
            description=f"Compare the parts of the {reranking.READ} best results with the query, and return those that "
            "may answer it, the most certain first, on one page"
        ),
    ] = None
    group_by: Annotated[
        Literal["session", "group"] | None, Field(description="Also return the results grouped by session or group")
    ] = None
    per_group: Annotated[
        int | None, Field(ge=1, le=50, description=f"With `group_by`: maximum results of each; default: {PER_GROUP}")
    ] = None
    explain: Annotated[bool, Field(description="Explain the parts of each score and what was searched")] = False
    audience: Annotated[
        Literal["group", "private"] | None,
        Field(description="`group`: only results that all members may read, even if a user is given; default: both"),
    ] = None
    reader_labels: ReaderLabels = None
    raw: Annotated[
        bool, Field(description="Do not mask secrets in messages and quotes; requires the scope `raw` and is recorded")
    ] = False


def problems(request: SearchRequest) -> Iterator[Problem]:
    """Yield conflicts between fields that are each valid."""
    yield from _ownerless(request)
    if RECIPES[request.recipe].formula:
        yield from _unblendable(request)
    yield from _unincludable(request)
    if request.session_id is not None and set(request.include) == {"documents"}:
        yield Problem("/session_id", "documents belong to no session: leave it out, or include messages or memories")
    if request.uri_prefix is not None and set(request.include) != {"documents"}:
        yield Problem("/uri_prefix", 'applies to documents only: send `"include": ["documents"]`, or leave it out')
    if request.time.from_ and request.time.to and request.time.from_ > request.time.to:
        yield Problem("/time/from", "the span ends before it begins")
    if request.min_similarity is not None and request.method == "keyword":
        yield Problem("/min_similarity", "`keyword` compares no vectors: use `hybrid` or `vector`, or leave it out")
    if request.rerank:
        yield from _unrerankable(request)
    if request.per_group is not None and request.group_by is None:
        yield Problem("/per_group", "requires `group_by`")


def _unrerankable(request: SearchRequest) -> Iterator[Problem]:
    """Yield what reranking cannot be combined with."""
    for name in ("after", "group_by", "user_ids"):
        if getattr(request, name):
            yield Problem("/rerank", f"cannot be combined with `{name}`: leave one of them out")
    if (request.limit or 0) > reranking.READ:
        yield Problem("/limit", f"at most {reranking.READ} results are reranked: ask for fewer, or leave `rerank` out")


def _unincludable(request: SearchRequest) -> Iterator[Problem]:
    """Yield what is wrong with `include`, and what needs something in it."""
    if not request.include:
        yield Problem("/include", "name one of memories, messages, documents and units, or leave it out")
    elif request.include == [OUTSIDE]:
        yield Problem("/include", f"`{OUTSIDE}` comes beside other results: name what else to search")
    elif OUTSIDE in request.include and not may_ask_outside(request):
        yield Problem("/include", f"retrievers know no filters, users or pages: leave `{OUTSIDE}` out, or those")
    elif "units" in request.include and (request.metadata or request.structured):
        yield Problem("/include", "units have no metadata and nothing structured: leave `units` out, or the filter")
    elif "memories" not in request.include:
        for name in OF_MEMORIES_ALONE:
            if getattr(request, name):
                yield Problem(f"/{name}", "applies to memories only: add `memories` to `include`, or leave it out")


def may_ask_outside(request: SearchRequest) -> bool:
    """Return whether retrievers can answer this: they know no filters, and no pages."""
    narrowed = request.model_fields_set & (FILTERS | {"min_similarity", "user_ids", "after"})
    return not any(getattr(request, name) not in (None, [], False) for name in narrowed)


def _unblendable(request: SearchRequest) -> Iterator[Problem]:
    """Yield what a recipe that weighs similarity, decay and importance cannot do."""
    if "include" in request.model_fields_set and set(request.include) != {"memories"}:
        yield Problem(
            "/include", f"the recipe {request.recipe} ranks memories only: leave it out, or use another recipe"
        )
    if request.method == "keyword":
        yield Problem(
            "/method", f"the recipe {request.recipe} needs vectors: use `hybrid` or `vector`, or another recipe"
        )


def _ownerless(request: SearchRequest) -> Iterator[Problem]:
    if request.user_ids:
        yield from _several_owners(request)
    elif request.user_id is None and request.group_id is None:
        yield Problem("/user_id", "say whose memory to search: `user_id`, `group_id` or both")
    if request.audience == "group" and request.group_id is None:
        yield Problem("/audience", "name the group: `group_id`")


def _several_owners(request: SearchRequest) -> Iterator[Problem]:
    """Yield what a search for several users cannot be combined with."""
    for name in ("user_id", "group_id"):
        if getattr(request, name) is not None:
            yield Problem(f"/{name}", "cannot be combined with `user_ids`: name all users there")
    for index, user_id in enumerate(request.user_ids):
        if user_id in request.user_ids[:index]:
            yield Problem(f"/user_ids/{index}", "occurs earlier in the list")
