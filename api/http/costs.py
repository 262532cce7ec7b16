"""The cost of model calls, for one tenant."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AwareDatetime

from api.ingress.dependencies import Deps, Reader
from api.ingress.large_json import Route
from core.inference import costs
from core.types import Json, SpendKey

router = APIRouter(prefix="/v1", tags=["service"], route_class=Route)

By = Annotated[SpendKey, Query(description="What the calls are added up by")]
Since = Annotated[AwareDatetime | None, Query(alias="from", description="Default: since ever")]
Until = Annotated[AwareDatetime | None, Query(alias="to", description="Before this time; default: now")]
Limit = Annotated[int, Query(ge=1, le=500, description="The dearest so many; `total` is of all")]


@router.get("/costs")
def get_costs(
    deps: Deps, caller: Reader, by: By = "model", since: Since = None, until: Until = None, limit: Limit = 100
) -> Json:
    """Calls of models with their tokens, their cost and how long 95 of 100 took, the dearest first.

    `key` is null for calls on account of no rule, or of an event without a user.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        return costs.of(tx, by, since, until, limit)
