"""What a tenant allows its rules."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field

from api.http.door import At, Reader, scope
from core import tenants
from core.tenants import Caller
from core.types import Json

router = APIRouter(prefix="/v1", tags=["tenant"])

Admin = Annotated[Caller, Depends(scope("admin"))]


class TenantPatch(BaseModel):
    """What is to be changed of a tenant."""

    model_config = ConfigDict(extra="forbid")

    allow_high_risk: bool = Field(description="Let rules of high risk run as `auto`, without anyone's approval")


@router.get("/tenant")
def get_tenant(at: At, who: Reader) -> Json:
    """The tenant of the key."""
    with at.db.tenant(who.tenant_id) as tx:
        return _json(who, allows=tenants.allows_high_risk(tx, who.tenant_id))


@router.patch("/tenant")
def patch_tenant(at: At, who: Admin, patch: TenantPatch) -> Json:
    """Allow rules of high risk to run without approval, or no longer; every router knows within a second."""
    with at.db.tenant(who.tenant_id) as tx:
        tenants.allow_high_risk(tx, who.tenant_id, allowed=patch.allow_high_risk)
    return _json(who, allows=patch.allow_high_risk)


def _json(who: Caller, *, allows: bool) -> Json:
    return {"id": who.tenant_id, "allow_high_risk": allows}
