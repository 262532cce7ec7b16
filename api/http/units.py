"""The units of a session: its slices on one topic each."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query

from api.ingress.dependencies import Deps, Limit, Reader
from api.ingress.large_json import Route
from core.events.parsing import Name
from core.summaries import units
from core.types import Json

router = APIRouter(prefix="/v1", tags=["memory"], route_class=Route)

After = Annotated[int | None, Query(ge=1, description="The `next` of the page before")]
SeenBy = Annotated[Name | None, Query(description="Only what this user heard; without it all that was said")]


@router.get("/sessions/{session_id:path}/units")
def get_units(
    deps: Deps, caller: Reader, session_id: str, user_id: SeenBy = None, after: After = None, limit: Limit = 50
) -> Json:
    """A session's units, newest first: each with subject, summary, narrative, participants, keywords, dated facts."""
    with deps.db.tenant(caller.tenant_id) as tx:
        found = units.of_session(tx, session_id, user_id, before=after, limit=limit)
    following = str(found[-1].from_position) if len(found) == limit else None
    return {"items": [asdict(unit) for unit in found], "next": following}
