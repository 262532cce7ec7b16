"""`POST /v1/context`: what an agent should see now, within a limit of tokens."""

from __future__ import annotations

import time
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from api.ingress import raw_access
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Deps, Reader, json_response
from api.ingress.large_json import Route
from core.consolidation.echo import Served
from core.context import builder
from core.context.budget import Budget
from core.context.builder import Audience, Context, ContextDeps, ContextQuery
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


class BudgetShares(RequestBody):
    """Shares of the limit by section; `reserve` stays free for the answer."""

    system: Share = Budget().system
    long_term: Share = Budget().long_term
    short_term: Share = Budget().short_term
    reserve: Share = Budget().reserve


class ContextRequest(RequestBody):
    """Request for a context: its owner, session, question and limit."""

    user_id: Name | None = None
    group_id: Name | None = None
    session_id: Name | None = None
    query: Annotated[
        Content | None, Field(max_length=10_000, description="Default: what the user said last in the session")
    ] = None
    max_tokens: Annotated[
        int | None, Field(ge=LEAST, le=MOST, description="The limit. Default: the window of `model`")
    ] = None
    model: Annotated[str | None, Field(max_length=200, description="Which model it is for, by name")] = None
    budget: BudgetShares = BudgetShares()
    format: Annotated[Format, Field(description="OpenAI's messages, Anthropic's system and messages, or one text")] = (
        "messages"
    )
    adaptive: Annotated[bool, Field(description="The question decides how much is remembered for it")] = False
    audience: Annotated[
        Audience | None,
        Field(description="Who reads the answer. Default: the group, with `group_id` or in a session of a group"),
    ] = None
    raw: Annotated[
        bool, Field(description="Do not mask secrets in quoted messages; needs the scope `raw`, and is recorded")
    ] = False


@router.post("/context", response_model=Json)
def post_context(at: Deps, who: Reader, asked: ContextRequest) -> Response:
    """Standing instructions, profile, memories, knowledge, summary, plan and recent messages, within the limit."""
    if asked.user_id is None and asked.group_id is None:
        raise Invalid([Problem("/user_id", "say whose context to build: `user_id`, `group_id` or both")])
    if asked.audience == "group" and asked.group_id is None and asked.session_id is None:
        raise Invalid([Problem("/audience", "name the group: `group_id`, or a `session_id` of the group")])
    if asked.raw:
        raw_access.allow(at, who, "context", user_id=asked.user_id, group_id=asked.group_id)
    began = time.perf_counter()
    reads = ContextDeps(at.db, at.embedder, at.settings, at.recent, at.retrievers)
    built = builder.build(reads, who.tenant_id, _to_query(at, asked))
    served = _served_texts(built)
    asker = Asker(who.tenant_id, asked.user_id, asked.group_id)
    at.recalls.note(asker, served, announced=at.settings.announce_recalls)
    content = {
        **built.rendered,
        "sections": [_section(one) for one in built.sheet.sections],
        "prefix_hash": built.prefix_hash,
        "total_tokens": built.tokens,
        "limit": built.limit,
        "counter": built.counter.name,
        "depth": {"k": built.depth.k, "reasons": built.depth.reasons},
        "took_ms": round((time.perf_counter() - began) * 1000, 2),
    }
    return json_response(content)


def _to_query(at: Deps, asked: ContextRequest) -> ContextQuery:
    limit = asked.max_tokens
    if limit is None:
        limit = model_catalog.window(asked.model) if asked.model is not None else at.settings.context_tokens
    elif asked.model is not None and (known := model_catalog.find_family(asked.model)) is not None:
        limit = min(limit, known.window)
    shares = asked.budget
    return ContextQuery(
        user_id=asked.user_id,
        group_id=asked.group_id,
        session_id=asked.session_id,
        query=asked.query,
        limit=limit,
        model=asked.model,
        budget=Budget(shares.system, shares.long_term, shares.short_term, shares.reserve),
        adaptive=asked.adaptive,
        format=asked.format,
        audience=asked.audience,
        raw=asked.raw,
    )


def _served_texts(built: Context) -> list[Served]:
    """Return what was shown, so that a repetition is known as an echo; what the question found counts as used."""
    shown = [piece for one in built.sheet.sections if one.part != SectionName.RECENT for piece in one.pieces]
    asked = {f"memory:{found.memory.id}": found.memory for found in built.results if found.memory is not None}
    return [
        Served(asked[piece.key].content, asked[piece.key].id) if piece.key in asked else Served(piece.words)
        for piece in shown
    ]


def _section(section: Section) -> Json:
    return {
        "name": section.part,
        "text": section.text,
        "tokens": section.tokens,
        "allowed": section.allowed,
        "sources": [piece.source for piece in section.pieces],
        "left_out": [{"ref": one.key, "why": one.why} for one in section.left_out],
    }
