"""Running a scheduled rule now."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter
from fastapi import Body as JsonBody
from pydantic import Field

from api.http.rules.answers import RuleRun
from api.ingress.answers import answers
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Deps, RuleEditor, author
from core.events import log
from core.events.parsing import Name
from core.settings.limits import LimitReached
from core.types import Json
from rules.registry import run_now, store
from rules.registry.run_now import RunRequest

router = APIRouter(prefix="/v1/rules", tags=["rules"])


class Run(RequestBody):
    """Request to run a scheduled rule now."""

    user_id: Name | None = Field(
        None, description="For rules with `for_each: user`: run for this user only; default: all users"
    )
    after: Name | None = Field(None, description="`next` of the previous answer")


@router.post(
    "/{name}/run",
    status_code=202,
    summary="Run a scheduled rule now",
    operation_id="runRule",
    responses=answers(RuleRun, 202, refusals=(409,)),
)
def post_run(deps: Deps, caller: RuleEditor, name: str, wanted: Annotated[Run | None, JsonBody()] = None) -> Json:
    """Emit the `clock.ticked` event that the schedule would emit, with an id of its own; the schedule is unchanged.

    The payload contains `requested_by`, the key that asked. A rule with `for_each: user` is run for one page of users;
    `next` is the `after` of the next request, or null after the last page.
    """
    wanted = wanted or Run()
    page = deps.settings.schedule_page
    run_request = RunRequest(author(caller).name, datetime.now(UTC), page, wanted.user_id, wanted.after)
    with deps.db.tenant(caller.tenant_id) as tx:
        if log.backlog(tx, caller.limits.events_waiting) >= caller.limits.events_waiting:
            raise LimitReached("events_waiting", caller.limits.events_waiting)
        stored = store.get(tx, name)
        ran = run_now.run(tx, caller.tenant_id, stored, run_request)
    deps.bell.notify()
    return {
        "rule": name,
        "version": stored.version,
        "events": [{"id": event_id} for event_id in ran.ids],
        "next": ran.reached,
    }
