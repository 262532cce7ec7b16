"""Alarms as they stand."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query

from api.http.rules.answers import AlarmPage
from api.ingress.answers import answers
from api.ingress.dependencies import Deps, Limit, Reader
from api.ingress.large_json import Route
from api.ingress.paging import After
from core.types import Json
from rules.flow import alarm_states

router = APIRouter(prefix="/v1/alarms", tags=["rules"], route_class=Route)


@router.get("", operation_id="listAlarms", responses=answers(AlarmPage))
def get_alarms(
    deps: Deps,
    caller: Reader,
    raised: Annotated[bool, Query(description="Only raised alarms, without last looks")] = False,
    rule: Annotated[str | None, Query(max_length=100, description="Only those of this rule")] = None,
    after: After = None,
    limit: Limit = 100,
) -> Json:
    """List raised alarms, and what each alarm has counted last, by rule and key."""
    with deps.db.tenant(caller.tenant_id) as tx:
        states = alarm_states.of_tenant(tx, raised=raised, rule=rule, after=after, limit=limit + 1)
    page = states[:limit]
    return {"items": [asdict(state) for state in page], "next": page[-1].cursor if len(states) > limit else None}
