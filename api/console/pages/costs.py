"""Costs of model calls by rule, agent, user or model, over time, beside what the tenant may spend."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, Literal

from fastapi import Query
from fastapi.responses import Response

from api.console.calls import ApiCalls, together
from api.console.routing import Rendering, page
from core.types import Json

Span = Literal["7d", "30d", "90d"]

SPANS: Final[Mapping[Span, timedelta]] = {"7d": timedelta(days=7), "30d": timedelta(days=30), "90d": timedelta(days=90)}

COUNTED: Final[Mapping[str, int]] = {"rule": 50_000, "agent": 50_000, "user": 5_000, "model": 50_000}
"""Model calls that the page sums up at most: the newest of the time span. A user is looked up for each of them."""

CHARTED: Final = 5
"""Rules, agents, users or models of the chart; it shows all others together."""


@page("/costs")
async def get_costs(
    api: ApiCalls,
    pages: Rendering,
    by: Literal["rule", "agent", "user", "model"] = "rule",
    span: Span = "30d",
    after: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    until = datetime.now(UTC)
    since = until - SPANS[span]
    between = {"from": since.isoformat(), "to": until.isoformat()}
    costs, days, today = await together(
        api.get("/v1/costs", by=by, limit=50, after=after, most=COUNTED[by], **between),
        api.get("/v1/costs/days", by=by, limit=CHARTED, most=COUNTED[by], **between),
        api.get("/v1/costs/today"),
    )
    priced = costs["total"]["cost"] > 0
    return pages.page(
        "costs.html",
        costs=costs,
        since=costs["from"] if datetime.fromisoformat(costs["from"]) > since else None,
        counted=COUNTED[by],
        times=[f"{day}T00:00:00+00:00" for day in days["days"]],
        items=[{"key": row["key"], "numbers": _numbers(row, priced=priced)} for row in days["series"]],
        rest=_numbers(days["rest"], priced=priced),
        priced=priced,
        today=today,
        by=by,
        span=span,
        spans=list(SPANS),
    )


def _numbers(of: Json, *, priced: bool) -> list[float]:
    """Return what a chart shows of each day: money if calls have a price, else tokens."""
    if priced:
        return [round(cost, 6) for cost in of["cost"]]
    return [put_in + out for put_in, out in zip(of["input_tokens"], of["output_tokens"], strict=True)]
