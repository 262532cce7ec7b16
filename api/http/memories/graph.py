"""Memories of an owner and their relations, for a picture."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from api.ingress import audience
from api.ingress.answers import shown
from api.ingress.audience import ReaderLabels
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Deps, Reader
from api.ingress.large_json import Route
from api.serializers import strength
from core.browsing import graph
from core.errors import Invalid, Problem
from core.events.parsing import Name
from core.search.filters import SERVED
from core.types import Category, Kind, Status, Topic, Trust

router = APIRouter(prefix="/v1/memories", tags=["memory"], route_class=Route)

ENDED: Final = (Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED)


class GraphRequest(RequestBody):
    """Whose memories to show, and how many."""

    user_id: Name | None = None
    group_id: Name | None = None
    include_archived: Annotated[bool, Field(description="Also superseded and archived memories")] = False
    reader_labels: ReaderLabels = None
    limit: Annotated[int, Field(ge=1, le=300)] = 100


class GraphNode(BaseModel):
    """A memory; `degree`: its relations among the latest 2,000 memories of the owner."""

    id: UUID
    content: str
    kind: Kind
    category: Category
    topic: Topic
    subject: str
    trust: Trust
    status: Status
    importance: float
    strength: float
    pinned: bool
    occurred_at: datetime
    recorded_at: datetime
    degree: int


class GraphEdge(BaseModel):
    """A relation between two memories of the answer."""

    source: Annotated[UUID, Field(serialization_alias="from")]
    relation: str
    target: Annotated[UUID, Field(serialization_alias="to")]
    strength: float
    at: datetime


class Graph(BaseModel):
    """Memories, the best connected first and then the newest, and their relations. `more`: there are others."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    more: bool


@router.get("/graph", operation_id="getMemoryGraph")
def get_graph(deps: Deps, caller: Reader, request: Annotated[GraphRequest, Query()]) -> Graph:
    """Return the memories of a user, or group, and their relations as nodes and edges.

    Of more memories than `limit`, those with most relations come first, then the newest.
    """
    if request.user_id is None and request.group_id is None:
        raise Invalid([Problem("/user_id", "say whose memories to show: `user_id`, `group_id` or both")])
    deps = audience.for_reader(deps, caller, request.reader_labels)
    now, statuses = datetime.now(UTC), ENDED if request.include_archived else (Status.ACTIVE,)
    with deps.db.tenant(caller.tenant_id) as tx:
        owner_graph = graph.of_owner(
            tx, request.user_id, request.group_id, statuses=statuses, trusts=SERVED, limit=request.limit
        )
    return Graph(
        nodes=[
            GraphNode(**shown(GraphNode, row, strength=strength(row, now), degree=owner_graph.degrees[row.id]))
            for row in owner_graph.nodes
        ],
        edges=[
            GraphEdge(
                source=edge.from_id, relation=edge.relation, target=edge.to_id, strength=edge.strength, at=edge.at
            )
            for edge in owner_graph.edges
        ],
        more=owner_graph.more,
    )
