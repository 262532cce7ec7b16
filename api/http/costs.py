"""Cost of model calls."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AwareDatetime

from api.http.answers.service import Costs
from api.ingress.answers import answers
from api.ingress.dependencies import Deps, Reader
from api.ingress.large_json import Route
from core.inference import costs
from core.types import Json, SpendKey

router = APIRouter(prefix="/v1", tags=["service"], route_class=Route)

After = Annotated[int, Query(ge=0, le=100_000, description="`next` of the previous page")]
By = Annotated[SpendKey, Query(description="Dimension by which calls are aggregated")]
Since = Annotated[AwareDatetime | None, Query(alias="from", description="Start of the period; default: the first call")]
Until = Annotated[AwareDatetime | None, Query(alias="to", description="End of the period, exclusive; default: now")]
Limit = Annotated[
    int, Query(ge=1, le=500, description="Maximum number of items, most expensive first; `total` covers all")
]


@router.get("/costs", operation_id="getCosts", responses=answers(Costs))
def get_costs(
    deps: Deps,
    caller: Reader,
    by: By = "model",
    since: Since = None,
    until: Until = None,
    after: After = 0,
    limit: Limit = 100,
    most: Annotated[
        int | None, Query(ge=1, le=1_000_000, description="The period begins later if more calls are in it")
    ] = None,
) -> Json:
    """List model calls with tokens, cost and 95th percentile of latency, most expensive first.

    `from`: when the period began; null: with the first call. `key` is null for calls that belong to no rule, or to an
    event without a user.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        found = costs.of(tx, by, since, until, after + limit + 1, most)
    more = len(found["items"]) > after + limit
    return found | {"items": found["items"][after : after + limit], "next": str(after + limit) if more else None}
