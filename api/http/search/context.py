"""`POST /v1/context`: build the context of an agent within a token limit."""

from __future__ import annotations

import time
from typing import Annotated, Literal

from fastapi import APIRouter, Response
from pydantic import Field

from api.http.search.answers import ContextAnswer
from api.ingress import audience, field_filters, raw_access
from api.ingress.answers import answers
from api.ingress.audience import ReaderLabels
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Deps, Reader, json_response
from api.ingress.field_filters import ANY_OF, FieldFilter
from api.ingress.large_json import Route
from core.consolidation.echo import Served
from core.context import builder
from core.context.budget import Budget
from core.context.builder import Audience, BuiltContext, ContextDeps, ContextQuery
from core.context.formats import Format
from core.context.sections import Section, SectionName
from core.errors import Invalid, Problem
from core.events.parsing import Content, Name
from core.inference import model_catalog
from core.search.recall_log import Asker
from core.types import Json

router = APIRouter(prefix="/v1", tags=["context"], route_class=Route)

Share = Annotated[float, Field(ge=0, le=1)]

LEAST = 64
"""Smallest limit, in tokens: less holds nothing worth a call."""

MOST = 2_000_000
"""Largest limit, in tokens: more than any model's window."""


AS_SENT = {SectionName.SYSTEM_PROMPT, SectionName.TASK, SectionName.GUIDANCE, SectionName.RECENT}
"""Sections without memories: who says the same does not repeat one."""


class BudgetShares(RequestBody):
    """Shares of the token limit by section; `reserve` is kept free for the answer."""

    system: Share = Budget().system
    long_term: Share = Budget().long_term
    short_term: Share = Budget().short_term
    reserve: Share = Budget().reserve


class ContextRequest(RequestBody):
    """Request for a context: owner, session, query and token limit."""

    user_id: Name | None = None
    group_id: Name | None = None
    session_id: Name | None = None
    query: Annotated[
        Content | None, Field(max_length=10_000, description="Default: the latest user message of the session")
    ] = None
    max_tokens: Annotated[
        int | None, Field(ge=LEAST, le=MOST, description="Token limit; default: the context window of `model`")
    ] = None
    model: Annotated[str | None, Field(max_length=200, description="Name of the model that will read the context")] = (
        None
    )
    budget: BudgetShares = BudgetShares()
    format: Annotated[
        Format, Field(description="`messages`: OpenAI's format; `anthropic`: system and messages; `text`: one text")
    ] = "messages"
    include: Annotated[
        list[Literal["units"]],
        Field(
            default_factory=list,
            max_length=10,
            description="`units`: also what earlier conversations were about, besides the usual",
        ),
    ]
    metadata: Annotated[
        FieldFilter | None,
        Field(description=f"Find only messages, memories and documents whose metadata has these fields; {ANY_OF}"),
    ] = None
    structured: Annotated[
        FieldFilter | None, Field(description=f"Find only memories whose `structured` has these fields; {ANY_OF}")
    ] = None
    adaptive: Annotated[bool, Field(description="Let the query determine the number of memories")] = False
    guidance: Annotated[
        bool, Field(description="Tell the model how to use what is remembered, and to ask the user about conflicts")
    ] = False
    audience: Annotated[
        Audience | None,
        Field(description="Readers of the answer; default: the group if `group_id` or a session of a group is given"),
    ] = None
    reader_labels: ReaderLabels = None
    raw: Annotated[
        bool, Field(description="Do not mask secrets in quoted messages; requires the scope `raw` and is recorded")
    ] = False


@router.post(
    "/context", response_model=Json, operation_id="buildContext", responses=answers(ContextAnswer, refusals=(400,))
)
def post_context(at: Deps, who: Reader, request: ContextRequest) -> Response:
    """Build a context within a token limit.

    It contains the session's system prompt and task, standing instructions, profile, memories, knowledge, summary,
    plan and recent messages.
    """
    if request.user_id is None and request.group_id is None:
        raise Invalid([Problem("/user_id", "say whose context to build: `user_id`, `group_id` or both")])
    if request.audience == "group" and request.group_id is None and request.session_id is None:
        raise Invalid([Problem("/audience", "name the group: `group_id`, or a `session_id` of the group")])
    if request.raw:
        raw_access.allow(at, who, "context", user_id=request.user_id, group_id=request.group_id)
    began, at = time.perf_counter(), audience.for_reader(at, who, request.reader_labels)
    reads = ContextDeps(at.db, at.embedder, at.settings, at.recent, at.retrievers, at.replica)
    built = builder.build(reads, who.tenant_id, _to_query(at, request))
    served = served_texts(built)
    asker = Asker(who.tenant_id, request.user_id, request.group_id)
    at.recalls.note(
        asker, served, announced=at.settings.announce_recalls, query=request.query, session_id=request.session_id
    )
    content = {
        **built.rendered,
        "sections": [_section(section) for section in built.sheet.sections],
        "prefix_hash": built.prefix_hash,
        "total_tokens": built.tokens,
        "limit": built.limit,
        "counter": built.counter.name,
        "depth": {"k": built.depth.k, "reasons": built.depth.reasons},
        "took_ms": round((time.perf_counter() - began) * 1000, 2),
    }
    return json_response(content)


def _to_query(at: Deps, request: ContextRequest) -> ContextQuery:
    limit = request.max_tokens
    if limit is None:
        limit = model_catalog.window(request.model) if request.model is not None else at.settings.context_tokens
    elif request.model is not None and (family := model_catalog.find_family(request.model)) is not None:
        limit = min(limit, family.window)
    shares = request.budget
    return ContextQuery(
        user_id=request.user_id,
        group_id=request.group_id,
        session_id=request.session_id,
        query=request.query,
        limit=limit,
        model=request.model,
        budget=Budget(shares.system, shares.long_term, shares.short_term, shares.reserve),
        adaptive=request.adaptive,
        units="units" in request.include,
        guidance=request.guidance,
        metadata=field_filters.demands(request.metadata),
        structured=field_filters.demands(request.structured),
        format=request.format,
        audience=request.audience,
        raw=request.raw,
    )


def served_texts(built: BuiltContext) -> list[Served]:
    """Return the texts shown, to recognize their repetition as an echo; memories found by the query count as used."""
    pieces = [piece for section in built.sheet.sections if section.part not in AS_SENT for piece in section.pieces]
    memories = {f"memory:{result.memory.id}": result.memory for result in built.results if result.memory is not None}
    return [
        Served(memories[piece.key].content, memories[piece.key].id) if piece.key in memories else Served(piece.words)
        for piece in pieces
    ]


def _section(section: Section) -> Json:
    return {
        "name": section.part,
        "text": section.text,
        "tokens": section.tokens,
        "allowed": section.allowed,
        "sources": [piece.source for piece in section.pieces],
        "left_out": [{"ref": omission.key, "why": omission.why} for omission in section.left_out],
    }
