"""Relations of a memory: list, write, remove."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import Field

from api.http import retrying
from api.http.memories.answers import RelationPage, WrittenRelation
from api.http.memories.requests import Reason
from api.ingress import audience, paging
from api.ingress.answers import answers, refuses
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Deps, Reader, Writer, author
from api.ingress.large_json import Route
from api.ingress.paging import After, WholeLimit
from core.memory import relations
from core.memory.changes import Link, Unlink
from core.types import Json, Relation

router = APIRouter(prefix="/v1/memories", tags=["memory"], route_class=Route)


class RelationRequest(RequestBody):
    """A relation to another memory of the same owner."""

    relation: Annotated[Relation, Field(description="supports, refines, about or follows")]
    to: UUID
    strength: Annotated[
        float, Field(gt=0, le=1, description="Share of the weight of its kind, by which searches spread over it")
    ] = 1.0
    reason: Reason = ""


@router.get("/{memory_id}/relations", operation_id="listRelations", responses=answers(RelationPage))
def get_relations(
    deps: Deps, caller: Reader, memory_id: UUID, after: After = None, limit: WholeLimit = paging.MOST
) -> Json:
    """List the relations from and to a memory, newest first, each with its strength."""
    with deps.db.tenant(caller.tenant_id) as tx:
        rows = relations.of_memory(tx, memory_id)
    return paging.cut(rows, asdict, lambda row: f"{row.from_id}:{row.relation}:{row.to_id}", after, limit)


@router.put(
    "/{memory_id}/relations",
    dependencies=audience.READABLE_MEMORY,
    operation_id="relateMemories",
    responses=answers(WrittenRelation, refusals=(409,)),
)
def put_relation(
    deps: Deps, caller: Writer, memory_id: UUID, request: RelationRequest, reader_labels: audience.QueryLabels = None
) -> Json:
    """Relate the memory to another one, or change the strength of their relation."""
    audience.require_memories(deps, caller, [request.to], reader_labels)
    link = Link(memory_id, request.relation, request.to, strength=request.strength)
    written = retrying.run_with_retries(
        deps.db,
        caller.tenant_id,
        lambda tx: relations.write(tx, caller.tenant_id, link, request.reason, author(caller)),
    )
    deps.bell.notify()
    return asdict(written)


@router.delete(
    "/{memory_id}/relations",
    status_code=204,
    dependencies=audience.READABLE_MEMORY,
    operation_id="unrelateMemories",
    responses=refuses(409),
)
def delete_relation(
    deps: Deps, caller: Writer, memory_id: UUID, relation: Annotated[Relation, Query()], to: Annotated[UUID, Query()]
) -> Response:
    """Remove a relation to another memory; 404 if there is none."""
    unlink = Unlink(memory_id, relation, to)
    retrying.run_with_retries(
        deps.db, caller.tenant_id, lambda tx: relations.remove(tx, caller.tenant_id, unlink, "", author(caller))
    )
    deps.bell.notify()
    return Response(status_code=204)
