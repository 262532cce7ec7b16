"""Addresses outside that have been failing, and calling them again."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import text

from api.ingress.dependencies import At, Reader, RuleEditor
from api.ingress.large_json import Route
from core.errors import NotFound
from core.types import Json

router = APIRouter(prefix="/v1", tags=["service"], route_class=Route)


class EnableRequest(BaseModel):
    """Which address shall be called again."""

    model_config = ConfigDict(extra="forbid")

    address: Annotated[str, Field(max_length=4_000, description="As the list names it")]


@router.get("/endpoints")
def get_endpoints(at: At, who: Reader) -> Json:
    """Webhooks and channels that failed when they were last called; those given up after days carry `disabled_at`."""
    with at.db.tenant(who.tenant_id) as tx:
        rows = tx.execute(_LIST).mappings().all()
    return {"items": [dict(row) for row in rows], "next": None}


@router.post("/endpoints/enable")
def post_enable(at: At, who: RuleEditor, asked: EnableRequest) -> Json:
    """Call an address again that was given up. What failed meanwhile is retried by `imprint dead replay`."""
    with at.db.tenant(who.tenant_id) as tx:
        if tx.execute(_ENABLE, {"address": asked.address}).rowcount == 0:
            raise NotFound(f"No address {asked.address!r} has been failing. GET /v1/endpoints lists those that have.")
    return {"address": asked.address, "enabled": True}


_LIST = text("SELECT address, failing_since, failures, disabled_at, error FROM endpoints ORDER BY failing_since DESC")

_ENABLE = text("DELETE FROM endpoints WHERE address = :address")
"""It begins anew: what it failed before counts no longer."""
