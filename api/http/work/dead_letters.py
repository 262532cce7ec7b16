"""Dead letters: groups by their error, discarding them, and retrying one with other parameters."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from api.http.work.answers import (
    DeadLetterGroup,
    DeadLetterGroups,
    DiscardedDispatches,
    DispatchOfEvent,
    DispatchParams,
)
from api.http.work.dispatches import Letters, dispatch_with_event
from api.ingress.answers import answers, shown
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Dependencies, Deps, Limit, Reader, RuleEditor, Writer, author
from api.ingress.large_json import Route
from core.dispatches import dead_letters
from core.dispatches import edits as dispatch_edits
from core.dispatches import queries as dispatch_queries
from core.dispatches.control import SignedRemark
from core.dispatches.edits import EditedParams
from core.dispatches.retries import RetryFilter
from core.errors import Conflict
from core.types import Json
from rules.registry import dispatch_params
from rules.registry.limits import Allowed

router = APIRouter(prefix="/v1/dispatches", tags=["dispatches"], route_class=Route)

After = Annotated[str | None, Query(pattern="^[0-9a-f]{16}$", description="`next` of the previous page")]


class Discard(RequestBody):
    """Request to discard dead letters: filter, limit and the number that the caller expects."""

    filter: Letters = Letters()
    limit: Annotated[int, Field(ge=1, le=dead_letters.MOST)] = dead_letters.MOST
    dry_run: Annotated[bool, Field(description="Only return the dead letters that would be discarded")] = False
    confirm: Annotated[int | None, Field(description="`matched` of a dry run; another number is refused")] = None
    comment: Annotated[str | None, Field(max_length=2_000)] = None


class EditedRetry(RequestBody):
    """Parameters with which a dispatch is to be retried."""

    params: Annotated[Json, Field(description="All of them; masked values that are left as they are, stay")]
    dry_run: Annotated[bool, Field(description="Only check the parameters")] = False


@router.get("/groups", operation_id="listDeadLetterGroups", responses=answers(DeadLetterGroups))
def get_groups(deps: Deps, caller: Reader, after: After = None, limit: Limit = 50) -> Json:
    """List the groups of dead letters: agent, error without what varies, number, times, rules and the newest.

    Counts end at 1,000 (`more`). `fingerprint` selects a group when dead letters are listed, retried or discarded.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        rows = dead_letters.groups(tx, after=after, limit=limit)
    return {"items": [_group(row) for row in rows], "next": rows[-1].fingerprint if len(rows) == limit else None}


@router.post("/discard", operation_id="discardDispatches", responses=answers(DiscardedDispatches, refusals=(409,)))
def post_discard(deps: Deps, caller: Writer, request: Discard) -> Json:
    """Discard dead letters that match, with the actions that waited for them. They stay as cancelled dispatches.

    At most 1,000 at once, oldest first. `confirm` repeats the number that a dry run has found. `POST
    /v1/dispatches/replay` with `"status": "cancelled"` begins them again.
    """
    retry_filter = RetryFilter(**request.filter.model_dump())
    if retry_filter.status != "dead":
        raise Conflict("Only dead letters are discarded; leave `status` out.")
    remark = SignedRemark(author(caller), request.comment)
    with deps.db.tenant(caller.tenant_id) as tx:
        done = dead_letters.discard(
            tx, retry_filter, remark, limit=request.limit, confirm=request.confirm, dry_run=request.dry_run
        )
    number = 0 if request.dry_run else len(done.ids)
    return {"matched": done.matched, "more": done.more, "discarded": number, "ids": done.ids}


@router.get("/{dispatch_id}/params", operation_id="getDispatchParams", responses=answers(DispatchParams))
def get_params(deps: Deps, caller: Reader, dispatch_id: UUID) -> Json:
    """Return the parameters of a dispatch for editing, with their JSON Schema."""
    with deps.db.tenant(caller.tenant_id) as tx:
        row = dispatch_queries.get(tx, dispatch_id)
    reason = None
    try:
        dispatch_edits.require_editable(row)
    except Conflict as error:
        reason = error.detail
    schema = dispatch_params.schema(row.action_type)
    params = dispatch_with_event(row)["params"]
    return {"params": params, "editable": reason is None, "reason": reason, "params_schema": schema}


@router.post(
    "/{dispatch_id}/retry-edited",
    operation_id="retryEditedDispatch",
    responses=answers(DispatchOfEvent, refusals=(409,)),
)
def post_retry_edited(deps: Deps, caller: RuleEditor, dispatch_id: UUID, request: EditedRetry) -> Json:
    """Retry a dead dispatch with other parameters, as a new dispatch that takes its place; return the new one.

    The first is kept, cancelled, and both name each other (`edit_of`, `edited_as`). Parameters are checked like those
    of a rule's action. If the first had been approved, the new one waits for an approval of its own. A dry run only
    checks them, and returns the first.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        row = dispatch_queries.get(tx, dispatch_id)
        dispatch_edits.require_editable(row)
        edited = _edited(deps, Allowed.to(tx, deps.settings, caller.tenant_id), row, request.params)
        if not request.dry_run:
            seconds = deps.settings.approval_seconds
            row = dispatch_edits.retry(tx, dispatch_id, edited, author(caller), approval_seconds=seconds)
    deps.bell.notify()
    return dispatch_with_event(row)


def _edited(deps: Dependencies, allowed: Allowed, row: Any, given: Json) -> EditedParams:
    params = dispatch_params.restore(row.params, dispatch_with_event(row)["params"], given)
    characters = 2 * deps.settings.event_bytes
    dispatch_params.check(row.action_type, row.target, row.params, params, allowed, characters)
    return EditedParams(params, given)


def _group(row: Any) -> Json:
    newest = dispatch_with_event(row)
    return shown(
        DeadLetterGroup,
        row,
        error=newest["error"],
        letters={"count": row.letters, "more": row.letters >= dead_letters.MOST},
        last_at=row.ended_at,
        rules=row.rules or [],
        newest=newest,
    )
