"""Reading, restoring and pinning memories."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, fields, replace
from operator import attrgetter
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Query, Response
from fastapi import Body as JsonBody
from pydantic import AfterValidator, AwareDatetime, Field, StringConstraints

from api import authors
from api.http.memories import provenance
from api.http.memories.answers import FetchedMemories, Memory, MemoryHistory, MemoryOrigin, MemoryPage, MemoryWithUnits
from api.ingress import audience, paging
from api.ingress.answers import answers
from api.ingress.audience import ReaderDeps, ReaderLabels
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Dependencies, Deps, Reader, WholeDeps, Writer, author
from api.ingress.field_filters import ANY_OF, FieldsAsJson
from api.ingress.large_json import Route
from api.ingress.paging import After, WholeLimit
from api.serializers import curve_json, memory_json
from core.browsing import listing
from core.browsing.listing import MemoryFilter, Order
from core.errors import Invalid, Problem
from core.events.parsing import Content, Name
from core.memory import as_of as memory_as_of
from core.memory import by_hand, field_filters, memories, writer
from core.memory.as_of import NOW, Moment
from core.memory.by_hand import Made
from core.memory.changes import Edit, Owner
from core.memory.typed_values import ValueType
from core.remembering import stated
from core.search.filters import SERVED
from core.storage.db import Tx
from core.summaries import unit_links
from core.tenancy.tenants import Caller
from core.types import Category, EpisodeType, Json, Kind, Status, Topic, Trust

router = APIRouter(prefix="/v1", tags=["memory"], route_class=Route)

AsOf = Annotated[
    AwareDatetime | None, Query(description="Statements valid at this time, including those superseded since")
]
KnownAt = Annotated[AwareDatetime | None, Query(description="Statements recorded by this time, as worded then")]
Reason = Annotated[str | None, Field(max_length=2_000, description="Reason, stored in the history")]
SeenVersion = Annotated[int | None, Field(ge=1, description="The version you have seen; 409 if it has changed since")]


def _normal_json(text: str) -> str:
    try:
        return json.dumps(json.loads(text, parse_constant=_refuse_constant))
    except (ValueError, RecursionError):
        raise ValueError('is no JSON; send 4, true or "tea"') from None


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


JsonText = Annotated[str, StringConstraints(max_length=1_000), AfterValidator(_normal_json)]

_FIELDS: Final = ("structured", "metadata")

FETCHED: Final = 200
"""Memories that one request may name."""


class MemorySelection(RequestBody):
    """Filter of memories."""

    user_id: Name | None = None
    group_id: Name | None = None
    session_id: Annotated[Name | None, Field(description="Memories that cite a message of this session")] = None
    message_id: Annotated[Name | None, Field(description="Memories that cite this message; requires `session_id`")] = (
        None
    )
    kind: Kind | None = None
    category: Category | None = None
    topic: Topic | None = None
    tag: Name | None = None
    trust: Annotated[Trust | None, Field(description="Default: all except rejected and quarantined")] = None
    subject: Name | None = None
    attribute: Name | None = None
    pinned: bool | None = None
    min_importance: Annotated[float | None, Field(ge=0, le=1)] = None
    min_strength: Annotated[float | None, Field(ge=0, description="Least strength now")] = None
    episode_type: Annotated[EpisodeType | None, Field(description="Only episodes of this type")] = None
    success: Annotated[bool | None, Field(description="Only episodes that went well, or only those that failed")] = None
    value_type: Annotated[ValueType | None, Field(description="Only memories with a typed value of this type")] = None
    value_min: Annotated[float | None, Field(allow_inf_nan=False, description="Least number or rating")] = None
    value_max: Annotated[float | None, Field(allow_inf_nan=False, description="Highest number or rating")] = None
    value_is: Annotated[JsonText | None, Field(description='Exact typed value as JSON: 4, true, "tea"')] = None
    value_has: Annotated[JsonText | None, Field(description='What a list contains, as JSON: "tea"')] = None
    since: Annotated[AwareDatetime | None, Field(alias="from", description="Happened or said then or later")] = None
    until: Annotated[AwareDatetime | None, Field(alias="to", description="Happened or said before")] = None
    structured: Annotated[
        FieldsAsJson | None, Field(description=f'Fields of `structured`, as JSON: {{"project": "atlas"}}; {ANY_OF}')
    ] = None
    metadata: Annotated[
        FieldsAsJson | None,
        Field(description=f'Fields of the metadata of the messages it cites, as JSON: {{"plan": "pro"}}; {ANY_OF}'),
    ] = None
    q: Annotated[
        Content | None, Field(min_length=1, max_length=200, description="Substring of the content, case-insensitive")
    ] = None
    status: Annotated[Status | None, Field(description="Default: active; with `as_of` also superseded")] = None
    include_archived: bool = False
    reader_labels: ReaderLabels = None


class MemoryListRequest(MemorySelection):
    """Filter for a list of memories, and which page of it."""

    as_of: AsOf = None
    known_at: KnownAt = None
    order: Order = "newest"
    after: Annotated[str | None, Field(max_length=100, description="`next` of the previous page")] = None
    limit: Annotated[int, Field(ge=1, le=500)] = 50


class FetchRequest(RequestBody):
    """Ids of memories to read at once."""

    ids: Annotated[list[UUID], Field(min_length=1, max_length=FETCHED)]
    as_of: AwareDatetime | None = None
    known_at: AwareDatetime | None = None


class RestoreRequest(RequestBody):
    """Request to restore a memory."""

    reason: Reason = None
    version: SeenVersion = None


class PinRequest(RequestBody):
    """Pin of a memory: it does not fade and is never archived for the limit of its user."""

    pinned: bool = True
    reason: Reason = None
    version: SeenVersion = None


@router.get("/memories", operation_id="listMemories", responses=answers(MemoryPage))
def get_memories(deps: Deps, caller: Reader, request: Annotated[MemoryListRequest, Query()]) -> Json:
    """List memories, newest first. An expired memory is not active, even before a sweep archives it.

    A page looks through 10,000 memories of the user, group or tenant, so that it may be short and yet have a `next`.
    Orders other than by time sort as many of the newest, and `sorted_newest` says so.
    """
    deps = audience.for_reader(deps, caller, request.reader_labels)
    if problems := list(filter_problems(request)):
        raise Invalid(problems)
    with deps.db.tenant(caller.tenant_id) as tx:
        page = listing.page(
            tx,
            filter_of(request, Moment(request.as_of, request.known_at)),
            request.order,
            after=request.after,
            limit=request.limit,
        )
        evidence = memory_as_of.evidence(tx, [row.id for row in page.rows], request.known_at)
    items = [memory_json(row, evidence.get(row.id, []), page.now) for row in page.rows]
    return {"items": items, "next": page.following, "sorted_newest": page.sorted_newest}


@router.post("/memories/fetch", operation_id="fetchMemories", responses=answers(FetchedMemories))
def post_fetch(deps: ReaderDeps, caller: Reader, request: FetchRequest) -> Json:
    """Return memories by their ids, in the order of the request; `missing` names those that are not there."""
    ids = list(dict.fromkeys(request.ids))
    with deps.db.tenant(caller.tenant_id) as tx:
        rows = memory_as_of.at_moment(tx, ids, Moment(request.as_of, request.known_at))
        evidence = memory_as_of.evidence(tx, list(rows), request.known_at)
    items = [
        memory_json(rows[memory_id], evidence.get(memory_id, []), request.known_at)
        for memory_id in ids
        if memory_id in rows
    ]
    return {"items": items, "missing": [memory_id for memory_id in ids if memory_id not in rows], "next": None}


@router.get("/memories/{memory_id}", operation_id="getMemory", responses=answers(MemoryWithUnits))
def get_memory(
    deps: ReaderDeps, caller: Reader, memory_id: UUID, response: Response, as_of: AsOf = None, known_at: KnownAt = None
) -> Json:
    """Return a memory with its evidence and its units, now or as of a time; its ETag is the value for `If-Match`.

    `curve`: its strength is `floor + height · 0.5^(days since / half_life_days)` while nobody uses it; without a
    half-life it stays `floor + height`.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        row = memory_as_of.get(tx, memory_id, Moment(as_of, known_at))
        evidence = memory_as_of.evidence(tx, [memory_id], known_at).get(memory_id, [])
        unit_ids = unit_links.of_memory(tx, memory_id)
    response.headers["ETag"] = f'"{row.version}"'
    return memory_json(row, evidence, known_at) | {"unit_ids": unit_ids, "curve": curve_json(row)}


@router.post(
    "/memories/{memory_id}/restore",
    dependencies=audience.READABLE_MEMORY,
    operation_id="restoreMemory",
    responses=answers(Memory, refusals=(409,)),
)
def post_restore(
    deps: Deps, caller: Writer, memory_id: UUID, asked: Annotated[RestoreRequest | None, JsonBody()] = None
) -> Json:
    """Restore an archived memory; it starts to fade from now. No effect on an active memory."""
    asked = asked or RestoreRequest()
    with deps.db.tenant(caller.tenant_id) as tx:
        _count(by_hand.CHANGES["restore"](tx, caller.tenant_id, author(caller), memory_id, asked.reason, asked.version))
    return current_memory_json(deps, caller, memory_id)


@router.post(
    "/memories/{memory_id}/pin",
    dependencies=audience.READABLE_MEMORY,
    operation_id="pinMemory",
    responses=answers(Memory, refusals=(409,)),
)
def post_pin(
    deps: Deps, caller: Writer, memory_id: UUID, asked: Annotated[PinRequest | None, JsonBody()] = None
) -> Json:
    """Pin a memory so that it does not fade, or unpin it. Repeated requests have no effect."""
    asked = asked or PinRequest()
    with deps.db.tenant(caller.tenant_id) as tx:
        change = by_hand.CHANGES["pin" if asked.pinned else "unpin"]
        _count(change(tx, caller.tenant_id, author(caller), memory_id, asked.reason, asked.version))
    return current_memory_json(deps, caller, memory_id)


@router.get("/memories/{memory_id}/history", operation_id="getMemoryHistory", responses=answers(MemoryHistory))
def get_history(
    deps: ReaderDeps, caller: Reader, memory_id: UUID, after: After = None, limit: WholeLimit = paging.MOST
) -> Json:
    """List all versions of a memory, oldest first."""
    with deps.db.tenant(caller.tenant_id) as tx:
        memories.get(tx, memory_id)
        versions = memories.history(tx, memory_id)
        named = authors.with_key_names(tx, [version.author for version in versions])
    signed_versions = [replace(version, author=author) for version, author in zip(versions, named, strict=True)]
    return paging.cut(signed_versions, asdict, attrgetter("version"), after, limit)


@router.get("/memories/{memory_id}/why", operation_id="explainMemory", responses=answers(MemoryOrigin))
def get_why(deps: WholeDeps, caller: Reader, memory_id: UUID) -> Json:
    """Explain why a memory exists: event → rule and version → dispatch → model calls → evidence."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return provenance.of(tx, memory_id)


def apply_edit(tx: Tx, caller: Caller, row: Any, change: Edit) -> None:
    """Edit one memory on behalf of the caller. Conflict: it was changed concurrently."""
    stated.count_changes(writer.apply(tx, caller.tenant_id, Owner(row.user_id, row.group_id), [change], author(caller)))


def _count(made: Made | None) -> None:
    if made is not None:
        stated.count_changes(made.counts)


def current_memory_json(deps: Dependencies, caller: Caller, memory_id: UUID) -> Json:
    """Notify the rules, and return the memory as it is after a change."""
    deps.bell.notify()
    with deps.db.tenant(caller.tenant_id) as tx:
        return memory_json(memories.get(tx, memory_id), memories.evidence(tx, [memory_id]).get(memory_id, []))


def filter_problems(selection: MemorySelection) -> Iterator[Problem]:
    """Yield fields that lack another one."""
    if selection.q is not None and selection.user_id is None and selection.group_id is None:
        yield Problem("/q", "say whose memories to list: `user_id`, `group_id` or both")
    if selection.since is not None and selection.until is not None and selection.until <= selection.since:
        yield Problem("/to", "must come after `from`")
    if selection.message_id is not None and selection.session_id is None:
        yield Problem("/message_id", "say which session it belongs to: `session_id`")


def filter_of(selection: MemorySelection, moment: Moment = NOW) -> MemoryFilter:
    """Return the filter that a request describes."""
    names = {field.name for field in fields(MemoryFilter)} & selection.model_fields_set
    trusts = [selection.trust] if selection.trust else SERVED
    values = selection.model_dump(include=names)
    values |= {name: field_filters.demands(json.loads(values[name])) for name in _FIELDS if values.get(name)}
    return MemoryFilter(trusts, moment=moment, **values)
