"""Trying a rule before it is saved: while it is typed, on one event, on the stored log."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from fastapi.responses import Response

from api.console import drafts
from api.console.calls import ApiCalls
from api.console.routing import Form, Rendering, page
from core.types import Json

SAMPLES: Final = 10
"""Events of each kind that a backtest lists."""

DAYS: Final = 400
"""Days of a chart; of a longer backtest it shows the last ones."""


@page("/rules/{name}/validate", method="POST")
async def post_validate(api: ApiCalls, pages: Rendering, form: Form) -> Response:
    """Say what is wrong with an edited rule, while it is typed."""
    rule, fault = drafts.read(form.get("rule", ""))
    report, problems = (None, ()) if fault is not None else await drafts.checked(api.post("/v1/rules/validate", rule))
    return pages.page("rule_report.html", report=report, problems=problems, fault=fault)


@page("/rules/{name}/backtest", method="POST")
async def post_backtest(api: ApiCalls, pages: Rendering, form: Form) -> Response:
    """Show what the edited rule would have done with the stored log, before it is saved."""
    rule, fault = drafts.read(form.get("rule", ""))
    if fault is not None:
        return pages.page("backtest.html", fault=fault)
    result = await api.post("/v1/rules/backtest", {"rule": rule, "limit_samples": SAMPLES})
    days = _days(result)
    fired = {side: _by_day(of, days) for side, of in (("draft", result), ("in_force", result["compared"] or {}))}
    times = [datetime(day.year, day.month, day.day, tzinfo=UTC).isoformat() for day in days]
    return pages.page("backtest.html", result=result, times=times, fired=fired, fault=None)


def _days(result: Json) -> list[date]:
    """Return the days of a backtest from the first on which a version fires to the last."""
    both = [*result["by_day"], *(result["compared"] or {"by_day": []})["by_day"]]
    days = sorted({date.fromisoformat(row["day"]) for row in both})
    if not days:
        return []
    first = max(days[0], days[-1] - timedelta(days=DAYS))
    return [first + timedelta(days=number) for number in range((days[-1] - first).days + 1)]


def _by_day(of: Json, days: list[date]) -> list[int]:
    numbers = {row["day"]: row["fired"] for row in of.get("by_day", ())}
    return [numbers.get(day.isoformat(), 0) for day in days]


@page("/rules/{name}/test", method="POST")
async def post_test(api: ApiCalls, pages: Rendering, form: Form, name: str) -> Response:
    """Test the rule in force, or an edited text of it, on an event whose values a person may have edited."""
    event, fault = drafts.read(form.get("event", ""))
    tested: Any = None
    if fault is None and form.get("rule"):
        rule, fault = drafts.read(form["rule"])
        tested = (
            None
            if fault is not None
            else await api.post("/v1/rules/test", {"rule": rule, "event": event, "warnings": False})
        )
    elif fault is None:
        tested = await drafts.test(api, name, event)
    return pages.page("rule_test.html", tested=tested, fault=fault)
