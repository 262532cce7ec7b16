"""Rebuilding a user's memories from the log, comparing them, and applying or dropping the result."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, Field

from api.http.memories.answers import AppliedRebuild, DroppedRebuild, Rebuild, RebuildPage
from api.ingress.answers import answers, shown
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Deps, Reader, Writer, author
from api.ingress.large_json import Route
from core.consolidation import pipeline
from core.errors import Conflict
from core.events.parsing import Name
from core.memory import rebuilds, shadow
from core.types import Json
from rules.backtest import rebuild

router = APIRouter(prefix="/v1/rebuilds", tags=["memory"], route_class=Route)

Limit = Annotated[int, Query(ge=1, le=200)]


class RebuildRequest(RequestBody):
    """Request to rebuild the memories of a user, and the parameters that differ."""

    user_id: Name
    rules: Annotated[list[Json] | None, Field(max_length=200, description="Default: the rules in force")] = None
    as_of: Annotated[AwareDatetime | None, Field(description="Use only events up to this time; default: now")] = None
    extractor: Literal["offline", "llm", "both"] | None = None
    embedding: Literal["local", "english", "multilingual", "openai", "hash"] | None = None


@router.post("", status_code=202, operation_id="startRebuild", responses=answers(Rebuild, 202, refusals=(409,)))
def post_rebuild(deps: Deps, caller: Writer, request: RebuildRequest) -> Json:
    """Start a rebuild. A worker runs it; once it is `ready`, it shows the difference. Nothing is changed yet."""
    rebuild.check_rules(request.rules or ())
    params = request.model_dump(mode="json", exclude={"user_id"}, exclude_none=True)
    params["as_of"] = (request.as_of or datetime.now(UTC)).isoformat()
    with deps.db.tenant(caller.tenant_id) as tx:
        row = rebuilds.request(
            tx, caller.tenant_id, request.user_id, params, author(caller), limit=caller.limits.rebuilds
        )
    deps.bell.notify()
    return shown(Rebuild, row)


@router.get("", operation_id="listRebuilds", responses=answers(RebuildPage))
def get_rebuilds(
    deps: Deps, caller: Reader, user_id: str | None = None, after: UUID | None = None, limit: Limit = 50
) -> Json:
    """List rebuilds, newest first, without their differences."""
    with deps.db.tenant(caller.tenant_id) as tx:
        rows = rebuilds.find(tx, user_id, after=after, limit=limit)
    items = [shown(Rebuild, row, difference=None) for row in rows]
    return {"items": items, "next": str(rows[-1].id) if len(rows) == limit else None}


@router.get("/{rebuild_id}", operation_id="getRebuild", responses=answers(Rebuild))
def get_rebuild(deps: Deps, caller: Reader, rebuild_id: UUID) -> Json:
    """Return a rebuild: `running`, `ready` (with the memories to add, remove and change), `applied` or `dropped`."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return shown(Rebuild, rebuilds.get(tx, rebuild_id))


@router.post("/{rebuild_id}/apply", operation_id="applyRebuild", responses=answers(AppliedRebuild, refusals=(409,)))
def post_apply(deps: Deps, caller: Writer, rebuild_id: UUID) -> Json:
    """Apply the rebuilt memories in one transaction, as one change that the rebuild's id undoes."""
    with deps.db.tenant(caller.tenant_id) as tx:
        row = rebuilds.get(tx, rebuild_id)
    if row.status != "ready":
        raise Conflict(f"The rebuild is {row.status}; only one that is ready can be applied.")
    consolidation = pipeline.from_settings(deps.db, deps.embedder, deps.settings)
    counts = rebuild.take_over(
        consolidation, caller.tenant_id, row.shadow_id, row.id, row.user_id, row.difference, author(caller)
    )
    deps.bell.notify()
    return {"id": str(row.id), "status": "applied", "changes": counts}


@router.delete("/{rebuild_id}", operation_id="dropRebuild", responses=answers(DroppedRebuild, refusals=(409,)))
def delete_rebuild(deps: Deps, caller: Writer, rebuild_id: UUID) -> Json:
    """Drop the rebuilt memories; stored memories are unaffected. An applied rebuild stays applied."""
    with deps.db.tenant(caller.tenant_id) as tx:
        row = rebuilds.drop(tx, rebuild_id)
    shadow.drop(deps.db, row.shadow_id)
    return {"id": str(row.id), "status": "dropped"}
