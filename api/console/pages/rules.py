"""Rules: what each has done, its text and versions, pausing, and testing it on a past event."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import Query, Request
from fastapi.responses import Response

from api.console.calls import Api, ApiCalls, ApiProblem, together
from api.console.charts import day_chart
from api.console.routing import Form, Rendering, at, page
from core.types import Json

Text = Annotated[str, Query(max_length=300)]

TESTED: Final = 200
"""Rules of the list; a tenant may have more, which the API lists page by page."""

COUNTED: Final = 5_000
"""Newest decisions and dispatches of a rule that its figures are made of."""

SPAN: Final = timedelta(days=7)
STEP: Final = timedelta(hours=6)
"""Time that the chart of a rule shows, and that one of its bars stands for."""


@page("/rules")
async def get_rules(request: Request, api: ApiCalls, pages: Rendering) -> Response:
    rules, stats = await together(api.get("/v1/rules", limit=TESTED), api.get("/v1/stats"))
    verdicts: dict[str, dict[str, int]] = {}
    for one in stats["decisions"]:
        verdicts.setdefault(one["rule"], {})[one["verdict"]] = one["count"]
    return pages.page(request, "rules.html", rules=rules["items"], verdicts=verdicts)


@page("/rules/{name}")
async def get_rule(request: Request, api: ApiCalls, pages: Rendering, name: str, event: Text = "") -> Response:
    place = at("rules", name)
    rule, stats, versions = await together(
        api.get(place), api.get(f"{place}/stats", most=COUNTED), api.get(f"{place}/versions", limit=20)
    )
    sample = await _sample(api, event) if event else None
    tested = await _test(api, name, sample) if sample else None
    return pages.page(
        request,
        "rule.html",
        rule=rule,
        stats=stats,
        versions=versions["items"],
        tested=tested,
        event=event,
        sample=sample,
        fault=None,
    )


@page("/rules/{name}/activity")
async def get_activity(request: Request, api: ApiCalls, pages: Rendering, name: str) -> Response:
    """Show what a rule decided over the last days, as a part of its page."""
    until = datetime.now(UTC)
    span = {"from": (until - SPAN).isoformat(), "to": until.isoformat()}
    found = await api.get("/v1/rules/activity", buckets=SPAN // STEP, limit=100, **span)
    begins = datetime.fromisoformat(found["from"])
    return pages.page(
        request,
        "rule_activity.html",
        lane=next((one for one in found["items"] if one["rule"] == name), None),
        times=[(begins + step * STEP).isoformat() for step in range(found["buckets"])],
    )


@page("/rules/{name}/pause", method="POST")
async def post_pause(api: ApiCalls, form: Form, name: str) -> Response:
    enabled = form.get("enabled") == "true"
    await api.patch(at("rules", name), {"enabled": enabled})
    return Response(status_code=204, headers={"HX-Refresh": "true"})


@page("/rules/{name}/rollback", method="POST")
async def post_rollback(api: ApiCalls, form: Form, name: str) -> Response:
    await api.post(f"{at('rules', name)}/rollback", {"version": int(form["version"])})
    return Response(status_code=204, headers={"HX-Refresh": "true"})


@page("/rules/{name}/validate", method="POST")
async def post_validate(request: Request, api: ApiCalls, pages: Rendering, form: Form) -> Response:
    """Say what is wrong with an edited rule, while it is typed."""
    rule, fault = _read(form.get("rule", ""))
    report, problems = (None, ()) if fault is not None else await _validate(api, rule)
    return pages.page(request, "rule_report.html", report=report, problems=problems, fault=fault)


@page("/rules/{name}/save", method="POST")
async def post_save(request: Request, api: ApiCalls, pages: Rendering, form: Form, name: str) -> Response:
    rule, fault = _read(form.get("rule", ""))
    if fault is not None:
        return pages.notice_of(request, {"detail": fault})
    await api.put(at("rules", name), rule, comment=form.get("comment", ""))
    return Response(status_code=204, headers={"HX-Refresh": "true"})


@page("/rules/{name}/backtest", method="POST")
async def post_backtest(request: Request, api: ApiCalls, pages: Rendering, form: Form) -> Response:
    """Show what the edited rule would have done with the stored log, before it is saved."""
    rule, fault = _read(form.get("rule", ""))
    result = await api.post("/v1/rules/backtest", {"rule": rule}) if fault is None else {"by_day": []}
    chart = day_chart(result["by_day"], "fired")
    return pages.page(request, "backtest.html", result=result, chart=chart, fault=fault)


@page("/rules/{name}/test", method="POST")
async def post_test(request: Request, api: ApiCalls, pages: Rendering, form: Form, name: str) -> Response:
    """Test the rule on an event whose values a person has edited."""
    event, fault = _read(form.get("event", ""))
    tested = None
    if fault is None:
        [tested] = await api.post("/v1/rules/test", {"names": [name], "event": event})
    return pages.page(request, "rule_test.html", tested=tested, fault=fault)


def _read(text: str) -> tuple[Any, str | None]:
    try:
        return json.loads(text), None
    except ValueError as error:
        return None, str(error)


async def _validate(api: Api, rule: Any) -> tuple[Any, Sequence[Json]]:
    """Return the report on a rule that is valid, else its problems."""
    try:
        return await api.post("/v1/rules/validate", rule), ()
    except ApiProblem as refusal:
        if refusal.status != HTTPStatus.UNPROCESSABLE_ENTITY:
            raise
        return None, refusal.problem["errors"]


async def _sample(api: Api, event_id: str) -> Json:
    """Return a stored event as it could be published again."""
    event = await api.get(at("events", event_id))
    return {name: event[name] for name in ("id", "event_type", "source", "subject", "time", "payload")}


async def _test(api: Api, name: str, event: Json) -> Any:
    [found] = await api.post("/v1/rules/test", {"names": [name], "event": event})
    return found
