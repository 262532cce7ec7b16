"""Units of a session: slices on one topic each."""

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

After = Annotated[int | None, Query(ge=1, description="`next` of the previous page")]
SeenBy = Annotated[Name | None, Query(description="Only units that this user heard; default: all")]


@router.get("/sessions/{session_id:path}/units")
def get_units(
    deps: Deps, caller: Reader, session_id: str, user_id: SeenBy = None, after: After = None, limit: Limit = 50
) -> Json:
    """List the units of a session, newest first.

    A unit has subject, summary, narrative, participants, keywords and dated facts.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        found = units.of_session(tx, session_id, user_id, before=after, limit=limit)
    following = str(found[-1].from_position) if len(found) == limit else None
    return {"items": [asdict(unit) for unit in found], "next": following}
