"""Quarantine: why each text was set apart, and releasing or rejecting one or all of a cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from api.http.memories import decisions
from api.http.memories.answers import QuarantinePage, ReviewedRows
from api.http.memories.conflicts import cited_json
from api.http.memories.requests import Review
from api.http.memories.writing import post_review
from api.ingress import audience
from api.ingress.answers import answers
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Deps, Limit, Reader, Writer
from api.ingress.large_json import Route
from api.serializers import memory_json
from core.browsing import quarantine
from core.consolidation import conflicts
from core.errors import Conflict, Invalid, NotFound, Problem
from core.memory import memories
from core.screening import output, risky_instructions, screen
from core.types import Category, Json
from core.undo import undo

router = APIRouter(prefix="/v1/quarantine", tags=["memory"], route_class=Route)

ROWS: Final = 200
"""Memories of one request."""

Cause = Annotated[str, Field(min_length=1, max_length=2_000)]


class ReviewOfMany(RequestBody):
    """A verdict on several quarantined memories: those with these ids, or all of one cause."""

    verdict: Literal["confirm", "release", "reject"]
    ids: Annotated[list[UUID] | None, Field(min_length=1, max_length=ROWS)] = None
    cause: Annotated[Cause | None, Field(description="`cause` of the list; at most 200 memories a request")] = None
    reason: Annotated[str | None, Field(max_length=2_000, description="Stored in the history")] = None


@router.get("", operation_id="listQuarantine", responses=answers(QuarantinePage))
def get_quarantine(
    deps: Deps,
    caller: Reader,
    cause: Annotated[str | None, Query(min_length=1, max_length=2_000, description="Only those of this cause")] = None,
    after: UUID | None = None,
    limit: Limit = 50,
) -> Json:
    """List quarantined memories, newest first: why each was set apart, what the screen finds in it, what it rests on.

    Those of one cause are looked for among the newest 1,000.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        rows = quarantine.find(tx, cause=cause, after=after, limit=limit)
        ids = [row.id for row in rows]
        evidence, cited = memories.evidence(tx, ids), conflicts.cited(tx, ids)
    items = [
        {
            "memory": memory_json(row, evidence.get(row.id, [])),
            "cause": row.cause,
            "findings": list(_findings(row, cited[row.id])),
            "cited": [cited_json(message) for message in cited[row.id]],
        }
        for row in rows
    ]
    return {"items": items, "next": str(rows[-1].id) if len(rows) == limit else None}


@router.post("/review", operation_id="reviewQuarantine", responses=answers(ReviewedRows))
def post_reviews(deps: Deps, caller: Writer, request: ReviewOfMany) -> Json:
    """Review several quarantined memories, each by the rules of the single route and with a result of its own."""
    if (request.ids is None) == (request.cause is None):
        raise Invalid([Problem("/ids", "give either `ids` or a `cause`")])
    more, ids = False, list(dict.fromkeys(request.ids or ()))
    if request.cause is not None:
        with audience.for_reader(deps, caller, None).db.tenant(caller.tenant_id) as tx:
            rows = quarantine.find(tx, cause=request.cause, limit=ROWS + 1)
        ids, more = [row.id for row in rows[:ROWS]], len(rows) > ROWS
    review = Review(verdict=request.verdict, reason=request.reason)
    items = []
    for memory_id in ids:
        try:
            audience.require_memories(deps, caller, [memory_id])
            post_review(deps, caller, memory_id, review)
            with deps.db.tenant(caller.tenant_id) as tx:
                change = undo.last_of(tx, memory_id)
            items.append({"id": memory_id, "outcome": "done", "undo": decisions.undo_path(change)})
        except (NotFound, Conflict, Invalid) as error:
            items.append({"id": memory_id, "outcome": "refused", "detail": error.detail})
    done = sum(item["outcome"] == "done" for item in items)
    return {"done": done, "refused": len(items) - done, "more": more, "items": items}


def _findings(row: Any, cited: Sequence[Any]) -> Iterator[Json]:
    """Yield what the screen finds today in the statement and in what it rests on."""
    quotes = [citation.quote for citation in cited if citation.quote]
    for part, texts in (("content", [row.content]), ("quote", quotes)):
        seen = dict.fromkeys(finding for text in texts for finding in screen.screen(text).findings)
        for finding in seen:
            if finding.kind in screen.HOSTILE:
                yield {"kind": finding.kind, "detail": output.value(finding.detail), "place": part}
        risks = {risky_instructions.risk(text) for text in texts} if row.category == Category.INSTRUCTION else set()
        for risk in sorted(filter(None, risks)):
            yield {"kind": "risky_instruction", "detail": f"A standing instruction that {risk}", "place": part}
