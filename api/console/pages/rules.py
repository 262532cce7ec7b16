"""Rules: the list with what each has done in the last seven days, and pausing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from fastapi.responses import Response

from api.console.calls import Api, ApiCalls, together
from api.console.charts import sparkline
from api.console.routing import Form, Rendering, Text, at, page, refresh
from core.types import Json

SHOWN: Final = 50
"""Rules of a page."""

COUNTED: Final = 20_000
"""Newest model calls that costs are summed up of."""

SPENT: Final = 500
"""Rules whose costs are read, the most expensive first."""

SPAN: Final = timedelta(days=7)
STEP: Final = timedelta(hours=12)
"""Time that the figures of the list are of, and that one bar stands for."""


@page("/rules")
async def get_rules(
    api: ApiCalls, pages: Rendering, q: Text = "", state: Literal["", "live", "shadow", "paused"] = "", after: Text = ""
) -> Response:
    listing = await api.get("/v1/rules", q=q, state=state, after=after, limit=SHOWN)
    rows = await _rows(api, listing["items"])
    return pages.page("rules.html", rows=rows, following=listing["next"])


@page("/rules/{name}/pause", method="POST")
async def post_pause(api: ApiCalls, pages: Rendering, form: Form, name: str) -> Response:
    """Pause or resume a rule; answer its row of the list, or have its own page read again."""
    await api.patch(at("rules", name), {"enabled": form.get("enabled") == "true"})
    if "row" not in form:
        return refresh()
    rows = await _rows(api, [await api.get(at("rules", name))])
    return pages.page("rule_rows.html", rows=rows)


async def _rows(api: Api, rules: Sequence[Json]) -> list[Json]:
    if not rules:
        return []
    until = datetime.now(UTC)
    span = {"from": (until - SPAN).isoformat(), "to": until.isoformat()}
    names = [rule["name"] for rule in rules]
    activity, costs = await together(
        api.get("/v1/rules/activity", rule=names, buckets=SPAN // STEP, **span),
        api.get("/v1/costs", by="rule", limit=SPENT, most=COUNTED, **span),
    )
    lanes = {lane["rule"]: lane for lane in activity["items"]}
    spent = {cost["key"]: cost for cost in costs["items"]}
    return [
        {
            **rule,
            "lane": lanes[rule["name"]],
            "spark": sparkline(lanes[rule["name"]], until - SPAN, STEP),
            "spent": spent.get(rule["name"]),
        }
        for rule in rules
        if rule["name"] in lanes
    ]
