"""Addresses outside that have been failing, and calling them again."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Deps, Reader, RuleEditor
from api.ingress.large_json import Route
from core.tenancy import endpoints
from core.types import Json

router = APIRouter(prefix="/v1", tags=["service"], route_class=Route)


class EnableRequest(RequestBody):
    """Which address shall be called again."""

    address: Annotated[str, Field(max_length=4_000, description="As the list names it")]


@router.get("/endpoints")
def get_endpoints(deps: Deps, caller: Reader) -> Json:
    """Webhooks and channels that failed when they were last called; those given up after days carry `disabled_at`."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return {"items": endpoints.failing_endpoints(tx), "next": None}


@router.post("/endpoints/enable")
def post_enable(deps: Deps, caller: RuleEditor, asked: EnableRequest) -> Json:
    """Call an address again that was given up. What failed meanwhile is retried by `imprint dead replay`."""
    with deps.db.tenant(caller.tenant_id) as tx:
        endpoints.enable(tx, asked.address)
    return {"address": asked.address, "enabled": True}
