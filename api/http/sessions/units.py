"""Units of sessions: slices on one topic each."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from api.http.sessions.answers import UnitPage, UnitWithLinks
from api.ingress.answers import answers
from api.ingress.audience import ReaderDeps
from api.ingress.dependencies import Limit, Reader
from api.ingress.large_json import Route
from core.events.parsing import Name
from core.summaries import unit_links, units
from core.summaries.units import ConversationUnit
from core.types import Json

router = APIRouter(prefix="/v1", tags=["memory"], route_class=Route)

After = Annotated[int | None, Query(ge=1, description="`next` of the previous page")]
SeenBy = Annotated[Name | None, Query(description="Only units that this user heard; default: all")]


@router.get("/sessions/{session_id:path}/units", operation_id="listUnits", responses=answers(UnitPage))
def get_units(
    deps: ReaderDeps, caller: Reader, session_id: str, user_id: SeenBy = None, after: After = None, limit: Limit = 50
) -> Json:
    """List the units of a session, newest first.

    A unit has subject, summary, narrative, participants, keywords and dated facts.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        page = units.of_session(tx, session_id, user_id, before=after, limit=limit)
    following = str(page[-1].from_position) if len(page) == limit else None
    return {"items": [unit_json(unit) for unit in page], "next": following}


@router.get("/units/{unit_id}", operation_id="getUnit", responses=answers(UnitWithLinks))
def get_unit(deps: ReaderDeps, caller: Reader, unit_id: UUID, user_id: SeenBy = None) -> Json:
    """Return a unit with the ids of the memories and episodes that rest on its messages."""
    with deps.db.tenant(caller.tenant_id) as tx:
        unit = units.get(tx, unit_id, user_id)
        links = unit_links.of_unit(tx, unit_id, user_id)
    return unit_json(unit) | asdict(links)


def unit_json(unit: ConversationUnit) -> Json:
    """Return a unit; all of them are cut from conversations."""
    return {**asdict(unit), "source_type": "conversation"}
