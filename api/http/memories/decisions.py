"""Verdicts on statements, undo, manual merges, and related memories."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi import Body as JsonBody
from pydantic import Field

from api.http.memories.answers import ConcernedMemory, Decision, DecisionPage, MergedMemories, RelatedPage, UndoneChange
from api.http.memories.requests import Content
from api.ingress import audience, paging
from api.ingress.answers import answers, shown
from api.ingress.audience import ReaderDeps
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Dependencies, Deps, Limit, Reader, WholeDeps, Writer, author
from api.ingress.large_json import Route
from api.ingress.paging import After
from api.serializers import memory_json
from core.consolidation import manual_merge
from core.memory import memories, verdicts
from core.memory.verdicts import VerdictFilter
from core.search import related
from core.search.spreading import ActivationLink
from core.tenancy.tenants import Caller
from core.types import Json
from core.undo import undo

router = APIRouter(prefix="/v1/memories", tags=["memory"], route_class=Route)


Kind = Literal["confirm", "merge", "replace", "supersede", "predates", "contradict", "ignore", "edit", "undo"]

Reason = Annotated[str, Field(max_length=2_000, description="Reason, stored in the history")]


class UndoRequest(RequestBody):
    """Request to undo a change."""

    reason: Reason = ""
    keep: bool = Field(
        False, description="For a confirmation or merge: keep the absorbed statement as a separate memory."
    )


class UndoLatestRequest(RequestBody):
    """Request to undo the latest change of a memory, or the change of one version."""

    reason: Reason = ""
    version: int | None = Field(
        None,
        ge=1,
        description="The version whose change is undone; default: the latest change that is in force and not "
        "itself an undo.",
    )


class MergeRequest(RequestBody):
    """Request to merge memories."""

    ids: list[UUID] = Field(
        min_length=2, max_length=manual_merge.MOST_MERGED, description="Ids of the memories; the first one is kept."
    )
    content: Content | None = Field(
        None, description="New content of the merged memory; default: the content of the first."
    )
    reason: Reason = manual_merge.REASON


@router.get("/decisions", operation_id="listDecisions", responses=answers(DecisionPage))
def get_decisions(
    deps: WholeDeps,
    caller: Reader,
    user_id: str | None = None,
    kind: Kind | None = None,
    memory_id: UUID | None = None,
    undone: bool | None = None,
    after: UUID | None = None,
    limit: Limit = 50,
) -> Json:
    """List verdicts on statements, newest first, each with its reason and undo path.

    Only statements that were related to a stored memory, or were not stored, have a verdict; edits by hand have one of
    kind `edit`.
    """
    verdict_filter = VerdictFilter(user_id, kind, memory_id, undone)
    with deps.db.tenant(caller.tenant_id) as tx:
        rows = verdicts.find(tx, verdict_filter, before=after, limit=limit)
        concerned = verdicts.memories_of(tx, rows)
    items = [_decision_json(row, concerned[row.id]) for row in rows]
    return {"items": items, "next": str(rows[-1].id) if len(rows) == limit else None}


@router.post("/decisions/{change_id}/undo", operation_id="undoChange", responses=answers(UndoneChange, refusals=(409,)))
def post_undo(
    deps: Deps, caller: Writer, change_id: UUID, asked: Annotated[UndoRequest | None, JsonBody()] = None
) -> Json:
    """Undo a change of any kind, with everything that it wrote.

    The history of a memory contains the ids of its changes. An undo is itself a change: undoing it reapplies the
    original change.
    """
    asked = asked or UndoRequest()
    return _undo(deps, caller, change_id, reason=asked.reason, keep=asked.keep)


@router.post("/merge", operation_id="mergeMemories", responses=answers(MergedMemories, refusals=(404, 409)))
def post_merge(deps: Deps, caller: Writer, request: MergeRequest) -> Json:
    """Merge several memories of one user by hand: the first is kept, the others are archived.

    Objections of the judge do not prevent the merge; `warnings` lists them.
    """
    audience.require_memories(deps, caller, request.ids)
    joined = manual_merge.merge(
        deps.db,
        deps.embedder,
        caller.tenant_id,
        request.ids,
        author(caller),
        content=request.content,
        reason=request.reason,
        secrets=deps.settings.secrets,
    )
    (memory,) = _memories_json(deps, caller, [joined.memory_id])
    return {
        "memory": memory,
        "absorbed": joined.absorbed,
        "change_id": joined.change_id,
        "undo": undo_path(joined.change_id),
        "warnings": joined.warnings,
    }


@router.post(
    "/{memory_id}/undo",
    dependencies=audience.READABLE_MEMORY,
    operation_id="undoLatestChange",
    responses=answers(UndoneChange, refusals=(409,)),
)
def post_undo_latest(
    deps: Deps, caller: Writer, memory_id: UUID, asked: Annotated[UndoLatestRequest | None, JsonBody()] = None
) -> Json:
    """Undo the latest change of a memory, or the one that made a version; repeated, undo the change before."""
    asked = asked or UndoLatestRequest()
    with deps.db.tenant(caller.tenant_id) as tx:
        change_id = undo.last_of(tx, memory_id, asked.version)
    return _undo(deps, caller, change_id, reason=asked.reason)


@router.get("/{memory_id}/related", operation_id="listRelatedMemories", responses=answers(RelatedPage))
def get_related(
    deps: ReaderDeps,
    caller: Reader,
    memory_id: UUID,
    depth: Annotated[int, Query(ge=1, le=2)] = 1,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    include_archived: bool = False,
    after: After = None,
) -> Json:
    """List the memories related to a memory, closest first, each with the path to it.

    Paths follow relations, shared evidence, slots and subjects.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        relatives = related.related_to(tx, memory_id, depth=depth, archived=include_archived)
        page = paging.cut(relatives, lambda relative: relative, attrgetter("id"), after, limit)
        ids = [relative.id for relative in page["items"]]
        rows, evidence = memories.of_ids(tx, ids), memories.evidence(tx, ids)
    items = [
        memory_json(rows[relative.id], evidence.get(relative.id, []))
        | {"score": round(relative.score, 4), "path": [_hop_json(hop) for hop in relative.path]}
        for relative in page["items"]
        if relative.id in rows  # It may have been erased since.
    ]
    return page | {"items": items}


def _undo(deps: Dependencies, caller: Caller, change_id: UUID, *, reason: str, keep: bool = False) -> Json:
    done = undo.carry_out(deps.db, deps.embedder, caller.tenant_id, change_id, author(caller), reason=reason, keep=keep)
    return {
        "change_id": done.change_id,
        "undoes": done.undoes,
        "undo": undo_path(done.change_id),
        "memories": _memories_json(deps, caller, done.memory_ids),
    }


def undo_path(change_id: UUID) -> str:
    return f"/v1/memories/decisions/{change_id}/undo"


def _memories_json(deps: Dependencies, caller: Caller, ids: Any) -> list[Json]:
    """Notify the rules, and return the memories as they are after a change."""
    deps.bell.notify()
    with deps.db.tenant(caller.tenant_id) as tx:
        rows, evidence = memories.of_ids(tx, ids), memories.evidence(tx, ids)
    return [memory_json(rows[memory_id], evidence.get(memory_id, [])) for memory_id in ids if memory_id in rows]


def _hop_json(hop: ActivationLink) -> Json:
    return {"from": hop.source, "by": hop.by, "to": hop.target, "outward": hop.outward, "strength": hop.strength}


def _decision_json(row: Any, concerned: list[Any]) -> Json:
    author = row.author
    return shown(
        Decision,
        row,
        change_id=row.id,
        said=row.candidate.get("content"),
        sources=row.candidate.get("evidence", []),
        memories=[shown(ConcernedMemory, memory) for memory in concerned],
        author=author.get("name"),
        rule={"name": author["rule"], "version": author.get("rule_version")} if author.get("rule") else None,
        undoes=row.candidate.get("undoes"),
        undo=None if row.undone_by else undo_path(row.id),
    )
