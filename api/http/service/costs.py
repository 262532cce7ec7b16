"""Cost of model calls."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, Field

from api.http.service.answers import Costs, CostsByDay, SpendingToday
from api.ingress.answers import answers
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Deps, Reader
from api.ingress.large_json import Route
from core.errors import Invalid, Problem
from core.events.parsing import Time
from core.inference import costs
from core.types import Json, SpendKey

router = APIRouter(prefix="/v1", tags=["service"], route_class=Route)

After = Annotated[int, Query(ge=0, le=100_000, description="`next` of the previous page")]
By = Annotated[SpendKey, Query(description="Dimension by which calls are aggregated")]
Since = Annotated[AwareDatetime | None, Query(alias="from", description="Start of the period; default: the first call")]
Until = Annotated[AwareDatetime | None, Query(alias="to", description="End of the period, exclusive; default: now")]
Most = Annotated[int | None, Field(ge=1, le=1_000_000, description="The period begins later if more calls are in it")]
Limit = Annotated[
    int, Query(ge=1, le=500, description="Maximum number of items, most expensive first; `total` covers all")
]

LONGEST: Final = timedelta(days=92)
"""Time span of costs by day: a quarter."""


class DaysRequest(RequestBody):
    """Time span and grouping of costs by day."""

    by: Annotated[SpendKey, Field(description="Dimension by which calls are aggregated")] = "model"
    since: Annotated[Time | None, Field(alias="from", description="Default: 30 days before `to`")] = None
    until: Annotated[Time | None, Field(alias="to", description="Exclusive; default: now")] = None
    limit: Annotated[int, Field(ge=1, le=20, description="Groups, most expensive first; `rest` has the others")] = 5
    most: Most = None

    def span(self, now: datetime) -> tuple[datetime, datetime]:
        """Return the beginning and the end. Invalid: there is nothing between them, or too much."""
        until = self.until or now
        since = self.since or until - timedelta(days=30)
        if not timedelta() < until - since <= LONGEST:
            raise Invalid([Problem("/from", f"must be before `to`, and at most {LONGEST.days} days")])
        return since, until


@router.get("/costs", operation_id="getCosts", responses=answers(Costs))
def get_costs(
    deps: Deps,
    caller: Reader,
    by: By = "model",
    since: Since = None,
    until: Until = None,
    after: After = 0,
    limit: Limit = 100,
    most: Annotated[Most, Query()] = None,
) -> Json:
    """List model calls with tokens, cost and 95th percentile of latency, most expensive first.

    `from`: when the period began; null: with the first call. `key` is null for calls that belong to no rule, or to an
    event without a user.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        page = costs.of(tx, by, since, until, after + limit + 1, most)
    more = len(page["items"]) > after + limit
    return page | {"items": page["items"][after : after + limit], "next": str(after + limit) if more else None}


@router.get("/costs/days", operation_id="getCostsByDay", responses=answers(CostsByDay))
def get_costs_by_day(deps: Deps, caller: Reader, request: Annotated[DaysRequest, Query()]) -> Json:
    """Sum up model calls by day (UTC): those of the most expensive groups, and all others together.

    `from`: when the period began.
    """
    since, until = request.span(datetime.now(UTC))
    with deps.db.tenant(caller.tenant_id) as tx:
        return {"to": until, **costs.by_day(tx, request.by, since, until, request.limit, request.most)}


@router.get("/costs/today", operation_id="getSpendingToday", responses=answers(SpendingToday))
def get_spending_today(deps: Deps, caller: Reader) -> Json:
    """Return what model calls have used since midnight UTC, and what they may use in a day."""
    with deps.db.tenant(caller.tenant_id) as tx:
        spent = costs.spent_today(tx)
    budget = {"tokens_per_day": deps.settings.llm_tokens_per_day, "cost_per_day": deps.settings.llm_cost_per_day}
    return {**asdict(spent), **budget}
