"""Memories over time, and what one was made of or went into."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, BaseModel, Field

from api import authors
from api.authors import Authorship
from api.http.memories.decisions import undo_path
from api.ingress import audience
from api.ingress.answers import shown
from api.ingress.audience import ReaderDeps, ReaderLabels
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Deps, Reader
from api.ingress.large_json import Route
from core.browsing import lineage, timeline
from core.browsing.timeline import Axis, Succession, Wanted
from core.errors import Invalid, Problem
from core.events.parsing import Name
from core.search.filters import SERVED
from core.types import Category, Kind, Status, Trust

router = APIRouter(prefix="/v1/memories", tags=["memory"], route_class=Route)

ALL: Final = (Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED)


class TimelineRequest(RequestBody):
    """Whose memories to show, and which part of their time."""

    user_id: Name | None = None
    group_id: Name | None = None
    axis: Annotated[
        Axis, Field(description="`true`: when they are true. `known`: from when to when the service held them")
    ] = "true"
    category: Category | None = None
    status: Annotated[Status | None, Field(description="Default: all, superseded and archived ones too")] = None
    since: Annotated[
        AwareDatetime | None, Field(alias="from", description="Only those that have not ended by then")
    ] = None
    until: Annotated[AwareDatetime | None, Field(alias="to", description="Only those that begin before")] = None
    reader_labels: ReaderLabels = None
    limit: Annotated[int, Field(ge=1, le=300)] = 100


class TimelineMemory(BaseModel):
    """A memory with its span; `ends` null: it has not ended."""

    id: UUID
    content: str
    kind: Kind
    category: Category
    subject: str
    trust: Trust
    status: Status
    pinned: bool
    begins: datetime
    ends: datetime | None
    recorded_at: datetime


class TimelineAnswer(BaseModel):
    """Memories that begin last in the span, the oldest of them first, and what replaced which of them.

    `left_out`: others in the span; `more`: there may be still more, among those that were not looked at.
    """

    items: list[TimelineMemory]
    successions: list[Succession]
    left_out: int
    more: bool


class Relative(BaseModel):
    """Another memory and what it is to this one, with the change that made it so.

    `undo`: path of the request that takes the change back.
    """

    role: lineage.Role
    id: UUID
    content: str
    category: Category
    status: Status
    trust: Trust
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    at: datetime
    change_id: UUID | None
    change: str | None
    reason: str | None
    author: Authorship | None
    undo: str | None


class Lineage(BaseModel):
    """What a memory was made of and what became of it, latest first."""

    items: list[Relative]


@router.get("/timeline", operation_id="getMemoryTimeline")
def get_timeline(deps: Deps, caller: Reader, request: Annotated[TimelineRequest, Query()]) -> TimelineAnswer:
    """Return the memories of a user, or group, over time: when each began and ended, and what replaced it.

    Of more memories than `limit`, those that begin last are shown. At most the latest 5,000 that begin before `to` are
    looked at.
    """
    if request.user_id is None and request.group_id is None:
        raise Invalid([Problem("/user_id", "say whose memories to show: `user_id`, `group_id` or both")])
    if request.since is not None and request.until is not None and request.since >= request.until:
        raise Invalid([Problem("/to", f"must come after `from`, which is {request.since.isoformat()}")])
    deps = audience.for_reader(deps, caller, request.reader_labels)
    query = Wanted(
        request.user_id,
        request.group_id,
        request.axis,
        ALL if request.status is None else (request.status,),
        SERVED,
        request.category,
        request.since,
        request.until,
    )
    with deps.db.tenant(caller.tenant_id) as tx:
        page = timeline.of_owner(tx, query, request.limit)
    return TimelineAnswer(
        items=[
            TimelineMemory(**shown(TimelineMemory, row, begins=begins, ends=ends)) for begins, ends, row in page.rows
        ],
        successions=list(page.successions),
        left_out=page.left_out,
        more=page.more,
    )


@router.get("/{memory_id}/lineage", operation_id="getMemoryLineage")
def get_lineage(deps: ReaderDeps, caller: Reader, memory_id: UUID) -> Lineage:
    """Return what a memory replaced or was merged or derived from, and what replaced, absorbed or summed it up."""
    with deps.db.tenant(caller.tenant_id) as tx:
        relatives = lineage.of_memory(tx, memory_id)
        named = authors.with_key_names(tx, [relative.author or {} for relative in relatives])
    names = ("id", "content", "category", "status", "trust", "valid_from", "valid_to", "recorded_at")
    return Lineage(
        items=[
            Relative(
                **{name: getattr(relative.row, name) for name in names},
                role=relative.role,
                at=relative.at,
                change_id=relative.change_id,
                change=relative.change,
                reason=relative.reason,
                author=Authorship(**author) if author else None,
                undo=undo_path(relative.change_id) if relative.change_id else None,
            )
            for relative, author in zip(relatives, named, strict=True)
        ]
    )
