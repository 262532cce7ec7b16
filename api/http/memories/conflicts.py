"""Memories that deny each other, side by side, and what a person decides about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter
from pydantic import AwareDatetime, Field

from api.http.memories import decisions
from api.http.memories.answers import ConflictPage, EvidenceMessage, ResolvedConflict, ShownConflict
from api.http.memories.requests import Content, Version
from api.ingress import audience
from api.ingress.answers import answers, shown
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Dependencies, Deps, Limit, Reader, Writer, author
from api.ingress.large_json import Route
from api.serializers import memory_json
from core.consolidation import conflicts, manual_merge
from core.consolidation.conflicts import Choice, ConflictDecision, MemoryConflict
from core.dispatches import control as dispatch_control
from core.dispatches import queries as dispatch_queries
from core.dispatches.control import SignedRemark
from core.errors import Invalid
from core.inference.sound_vectors import embed_sound
from core.memory import memories
from core.screening import output
from core.storage.db import Tx
from core.types import Json

router = APIRouter(prefix="/v1/conflicts", tags=["memory"], route_class=Route)


class Period(RequestBody):
    """When a memory held; null: not known, or still."""

    valid_from: AwareDatetime | None = None
    valid_to: AwareDatetime | None = None


class Resolution(RequestBody):
    """What a person decides about a conflict."""

    choice: Annotated[
        Choice,
        Field(
            description="`keep`: one holds, those that it contradicts gave way; `keep_all`: all hold, at different "
            "times or for different things; `merge`: all are merged into one; `reject`: none of them is true"
        ),
    ]
    keep: Annotated[UUID | None, Field(description="For `keep` and `merge`: the memory that stays")] = None
    content: Annotated[Content | None, Field(description="For `merge`: the wording of the merged memory")] = None
    periods: Annotated[
        dict[UUID, Period],
        Field(default_factory=dict, max_length=conflicts.MOST, description="For `keep_all`: when each held"),
    ]
    versions: Annotated[
        dict[UUID, Version],
        Field(
            default_factory=dict,
            max_length=conflicts.MOST,
            description="Versions of all its memories as you have seen them; others are refused",
        ),
    ]
    reason: Annotated[str, Field(max_length=2_000, description="Stored in the history")] = ""

    def decision(self) -> ConflictDecision:
        """Return the decision. Invalid."""
        periods = {memory_id: (period.valid_from, period.valid_to) for memory_id, period in self.periods.items()}
        decided = ConflictDecision(self.choice, self.keep, self.content, self.reason, periods, self.versions)
        if problems := list(conflicts.problems(decided)):
            raise Invalid(problems)
        return decided


@router.get("", operation_id="listConflicts", responses=answers(ConflictPage))
def get_conflicts(deps: Deps, caller: Reader, after: UUID | None = None, limit: Limit = 20) -> Json:
    """List conflicts, newest first: disputed memories that deny each other, with the messages that each rests on.

    A page may be short and yet have a `next`: each looks through 500 disputed memories.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        page, following = conflicts.find(tx, after=after, limit=limit)
        items = _conflicts_json(tx, page)
    return {"items": items, "next": str(following) if following else None}


@router.get("/{memory_id}", operation_id="getConflict", responses=answers(ShownConflict))
def get_conflict(deps: Deps, caller: Reader, memory_id: UUID) -> Json:
    """Return the conflict of which a disputed memory is part."""
    with deps.db.tenant(caller.tenant_id) as tx:
        [conflict] = _conflicts_json(tx, [conflicts.of_memory(tx, memory_id)])
    return conflict


@router.post(
    "/{memory_id}/resolve",
    dependencies=audience.READABLE_MEMORY,
    operation_id="resolveConflict",
    responses=answers(ResolvedConflict, refusals=(409,)),
)
def post_resolve(deps: Deps, caller: Writer, memory_id: UUID, request: Resolution) -> Json:
    """Decide about the conflict of which a memory is part, as one change that one undo takes back.

    Dispatches that wait for an approval to decide it are cancelled.
    """
    decided = request.decision()
    decided, vector = _with_vector(deps, decided)
    signed = author(caller)
    with deps.db.tenant(caller.tenant_id) as tx:
        resolved = conflicts.resolve(tx, caller.tenant_id, memory_id, decided, vector, signed)
        held = dispatch_queries.held_about(tx, "conflict_resolver", resolved.ids)
        waiting = sorted(chain.from_iterable(held.values()))
        remark = SignedRemark(signed, "the conflict was decided by a person")
        for dispatch_id in waiting:
            dispatch_control.cancel(tx, dispatch_id, remark)
        rows, evidence = memories.of_ids(tx, resolved.ids), memories.evidence(tx, resolved.ids)
    deps.bell.notify()
    return {
        "change_id": resolved.change_id,
        "undo": decisions.undo_path(resolved.change_id),
        "memories": [memory_json(rows[side_id], evidence.get(side_id, [])) for side_id in resolved.ids],
        "cancelled": waiting,
    }


def cited_json(row: Any) -> Json:
    """Return a message that a memory rests on, without secrets."""
    return shown(EvidenceMessage, row, quote=output.value(row.quote))


def _with_vector(deps: Dependencies, decided: ConflictDecision) -> tuple[ConflictDecision, Any]:
    """Return a decision whose wording was screened, and the vector of that, computed outside of any transaction."""
    if decided.content is None:
        return decided, None
    content = manual_merge.screened(decided.content, deps.settings.secrets)
    return replace(decided, content=content), embed_sound(deps.embedder, [content])[0]


def _conflicts_json(tx: Tx, found_conflicts: Sequence[MemoryConflict]) -> list[Json]:
    ids = [memory_id for conflict in found_conflicts for memory_id in conflict.ids]
    rows, evidence, cited = memories.of_ids(tx, ids), memories.evidence(tx, ids), conflicts.cited(tx, ids)
    held = dispatch_queries.held_about(tx, "conflict_resolver", ids)
    return [
        {
            "id": conflict.id,
            "sides": [
                {
                    "memory": memory_json(rows[memory_id], evidence.get(memory_id, [])),
                    "cited": [cited_json(row) for row in cited[memory_id]],
                }
                for memory_id in conflict.ids
            ],
            "contradictions": [dict(pair._mapping) for pair in conflict.pairs],
            "held": sorted(chain.from_iterable(held.get(memory_id, ()) for memory_id in conflict.ids)),
        }
        for conflict in found_conflicts
    ]
