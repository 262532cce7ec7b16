"""Asking."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from api.http.door import At, Reader
from api.http.recalls import Asker
from api.shapes import source_json, strength
from core import forget
from core.asof import Moment
from core.context.depth import depth
from core.echo import Served
from core.errors import Invalid, Problem
from core.intake import Content, Name
from core.search import knowledge, query
from core.search.knowledge import Passage
from core.search.query import Found, Method, Question
from core.types import Category, Json, Kind, Topic

router = APIRouter(prefix="/v1", tags=["search"])

Share = Annotated[float, Field(ge=0, le=1)]


OF_MEMORIES = "kind category topic importance strength confidence trust valid_from valid_to".split()
"""What only a memory has; of other results it is null."""


class Span(BaseModel):
    """A span of time; either end may be open."""

    model_config = ConfigDict(extra="forbid")

    from_: AwareDatetime | None = Field(None, alias="from")
    to: AwareDatetime | None = None


class SearchRequest(BaseModel):
    """What is asked, about whom, and what an answer must be like."""

    model_config = ConfigDict(extra="forbid")

    user_id: Name | None = None
    group_id: Name | None = None
    query: Annotated[Content, Field(max_length=10_000)]
    limit: Annotated[int, Field(ge=1, le=200)] = 10
    method: Method = "hybrid"
    include: list[Literal["memories", "messages", "documents"]] = ["memories", "messages", "documents"]
    kinds: list[Kind] = []
    categories: list[Category] = []
    topics: list[Topic] = []
    tags: list[Name] = []
    session_id: Name | None = None
    time: Span = Span()
    min_similarity: Annotated[float | None, Field(ge=-1, le=1)] = None
    min_importance: Share | None = None
    trust: Annotated[
        list[Literal["candidate", "confirmed", "disputed", "quarantined"]],
        Field(description="Default: all but quarantined; what is rejected is never found"),
    ] = []
    as_of: Annotated[AwareDatetime | None, Field(description="What was true then, superseded by now or not")] = None
    known_at: Annotated[AwareDatetime | None, Field(description="What was recorded then, in its words of then")] = None
    include_archived: Annotated[bool, Field(description="Find what was archived or has expired, too")] = False
    now: AwareDatetime | None = None
    adaptive: Annotated[bool, Field(description="The question decides how many: 3 to 15, and `limit` at the most")] = (
        False
    )
    explain: bool = False


@router.post("/search")
def post_search(at: At, who: Reader, asked: SearchRequest) -> Json:
    """What is known that matters to the query: memories, messages and passages of documents, each with its sources."""
    if asked.user_id is None and asked.group_id is None:
        raise Invalid([Problem("/user_id", "say whose memory to search: `user_id`, `group_id` or both")])
    began, now = time.perf_counter(), asked.now or asked.known_at or datetime.now(UTC)
    deep = depth(asked.query) if asked.adaptive else None
    question = _question(asked, _adapted(asked, deep.k) if deep else asked.limit)
    answer = query.search(at.db, who.tenant_id, question, at.embedder)
    at.hits.note(who.tenant_id, hit=any(found.memory is not None for found in answer.results))
    asker, served = Asker(who.tenant_id, asked.user_id, asked.group_id), [_served(found) for found in answer.results]
    at.recalls.note(asker, served, announced=at.settings.announce_recalls)
    formula = at.settings.strength_formula if asked.explain else None
    return {
        "results": [_result(found, now, formula) for found in answer.results],
        "total": answer.total,
        "took_ms": round((time.perf_counter() - began) * 1000, 2),
        **({"depth": {"k": deep.k, "reasons": deep.reasons}} if deep else {}),
    }


def _adapted(asked: SearchRequest, k: int) -> int:
    """As many as the question deserves; no more than were asked for, where somebody said how many."""
    return min(asked.limit, k) if "limit" in asked.model_fields_set else k


def _served(found: Found) -> Served:
    if found.message is not None:
        return Served(found.message.content)
    if found.passage is not None:
        return Served(found.passage.content)
    return Served(found.memory.content, found.memory.id)


def _question(asked: SearchRequest, limit: int) -> Question:
    return Question(
        query=asked.query,
        user_id=asked.user_id,
        group_id=asked.group_id,
        limit=limit,
        method=asked.method,
        include=frozenset(asked.include),
        kinds=asked.kinds,
        categories=asked.categories,
        topics=asked.topics,
        tags=asked.tags,
        session_id=asked.session_id,
        since=asked.time.from_,
        until=asked.time.to,
        min_similarity=asked.min_similarity,
        min_importance=asked.min_importance,
        include_archived=asked.include_archived,
        trust=asked.trust or query.SERVED,
        moment=Moment(asked.as_of, asked.known_at),
    )


def _result(found: Found, now: datetime, formula: str | None) -> Json:
    """One result; with the formula of strength, what its scores are made of."""
    hit = found.ranked.hit
    scores: Json = {"lexical": hit.lexical, "vector": hit.cosine}
    if formula is not None:
        scores["parts"] = found.ranked.parts
    if formula is not None and found.memory is not None:
        scores["relevance"] = forget.relevance(formula, hit.cosine or 0.0, strength(found.memory, now))
    shared = {"type": hit.type, "score": found.ranked.score, "scores": scores}
    if found.passage is not None:
        return {**_document(found.passage), **shared}
    own = _memory(found, now) if found.message is None else _message(found)
    return {**own, **shared, "sources": [source_json(source) for source in found.sources]}


def _memory(found: Found, now: datetime) -> Json:
    names = (
        "id content kind category topic importance confidence trust valid_from valid_to occurred_at "
        "subject attribute value status level"
    ).split()
    return {**{name: getattr(found.memory, name) for name in names}, "strength": strength(found.memory, now)}


def _message(found: Found) -> Json:
    message = found.message
    if message is None:
        raise ValueError(found)
    return {
        "id": message.id,
        "content": message.content,
        **dict.fromkeys(OF_MEMORIES),
        "importance": message.importance,
        "occurred_at": message.occurred_at,
        "speaker": message.speaker,
        "role": message.role,
    }


def _document(passage: Passage) -> Json:
    source = {
        **dict.fromkeys(("event_id", "message_id", "session_id")),
        "document_id": passage.document_id,
        "passage": passage.position,
        "quote": passage.content,
        "from": passage.from_char,
        "to": passage.to_char,
    }
    return {
        "id": knowledge.key(passage.document_id, passage.position),
        "content": passage.content,
        **dict.fromkeys(OF_MEMORIES),
        "occurred_at": passage.occurred_at,
        "title": passage.title,
        "headings": passage.headings,
        "uri": passage.uri,
        "version": passage.version,
        "sources": [source],
    }
