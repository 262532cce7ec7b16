"""The state of a tenant now, for a page that is read again every few seconds."""

from __future__ import annotations

from fastapi import APIRouter

from api.ingress.dependencies import Reader, WholeDeps
from api.ingress.large_json import Route
from core.maintenance import glance
from core.maintenance.glance import Glance

router = APIRouter(prefix="/v1", tags=["service"], route_class=Route)


@router.get("/now", operation_id="getNow")
def get_now(deps: WholeDeps, caller: Reader) -> Glance:
    """Show lag, work under way, freshness, processes, and what needs a person.

    Counts end at 1,000 (`more`), so that the answer takes as long on any installation. `GET /v1/stats` counts all.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        return glance.of(tx)
