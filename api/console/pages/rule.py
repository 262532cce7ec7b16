"""One rule: its text and versions, what it did lately, saving and rolling back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from fastapi.responses import Response

from api.console import drafts, rule_names
from api.console.calls import ApiCalls, together
from api.console.diffs import DiffRow, side_by_side
from api.console.routing import Form, Rendering, Text, at, page, refresh
from core.types import Json
from rules.document import formatting

SPAN: Final = timedelta(days=7)
STEP: Final = timedelta(hours=6)
"""Time that the chart of a rule shows, and that one of its bars stands for."""

VERSIONS: Final = 20
"""Versions of a page."""

COUNTED: Final = 5_000
"""Newest decisions and dispatches of a rule that its figures are made of."""


@page("/rules/{name}")
async def get_rule(api: ApiCalls, pages: Rendering, name: str, event: Text = "", before: int | None = None) -> Response:
    path = at("rules", name)
    rule, history, sample = await together(
        api.get(path), api.get(f"{path}/versions", limit=VERSIONS, after=before), drafts.sample(api, event)
    )
    tested = await drafts.test(api, name, sample) if sample else None
    return pages.page(
        "rule.html",
        rule=rule,
        text=formatting.canonical_text(rule["rule"]),
        versions=partial(_with_rows, history["items"]),
        older=history["next"],
        shadow=rule_names.shadow_of(name),
        tested=tested,
        event=event,
        sample=sample,
        fault=None,
    )


@page("/rules/{name}/activity")
async def get_activity(api: ApiCalls, pages: Rendering, name: str) -> Response:
    """Show what a rule decided over the last days, as a part of its page."""
    until = datetime.now(UTC)
    span = {"from": (until - SPAN).isoformat(), "to": until.isoformat()}
    activity = await api.get("/v1/rules/activity", rule=name, buckets=SPAN // STEP, **span)
    begins = datetime.fromisoformat(activity["from"])
    lane = next(iter(activity["items"]), None)
    times = [(begins + step * STEP).isoformat() for step in range(activity["buckets"])]
    return pages.page("rule_activity.html", lane=lane, times=times)


@page("/rules/{name}/figures")
async def get_figures(api: ApiCalls, pages: Rendering, name: str) -> Response:
    """Show what came of a rule in the last days, as a part of its page: counting takes longer than the page may."""
    since = (datetime.now(UTC) - SPAN).isoformat()
    stats = await api.get(f"{at('rules', name)}/stats", most=COUNTED, **{"from": since})
    return pages.page("rule_figures.html", stats=stats)


@page("/rules/{name}/review", method="POST")
async def post_review(api: ApiCalls, pages: Rendering, form: Form, name: str) -> Response:
    """Show what a draft would change in the rule in force, before it is saved."""
    draft, fault = drafts.read(form.get("rule", ""))
    if fault is not None:
        return pages.notice_of({"detail": fault})
    rule, _ = await together(api.get(at("rules", name)), api.post("/v1/rules/validate", draft))
    rows = partial(_difference, rule["rule"], draft, f"v{rule['version']}", "draft")
    comment = form.get("comment", "")
    return pages.page("rule_review.html", rule=rule, rows=rows, draft=form["rule"], comment=comment)


@page("/rules/{name}/save", method="POST")
async def post_save(api: ApiCalls, pages: Rendering, form: Form, name: str) -> Response:
    rule, fault = drafts.read(form.get("rule", ""))
    if fault is not None:
        return pages.notice_of({"detail": fault})
    await api.put(at("rules", name), rule, if_version=form.get("version", ""), comment=form.get("comment", ""))
    return refresh()


@page("/rules/{name}/rollback/{version}")
async def get_rollback(api: ApiCalls, pages: Rendering, name: str, version: int) -> Response:
    """Show what going back to a version would change, before it is done."""
    path = at("rules", name)
    rule, history = await together(api.get(path), api.get(f"{path}/versions", limit=1, after=version + 1))
    earlier = history["items"][0]
    labels = f"v{rule['version']}", f"v{earlier['version']}"
    rows = partial(_difference, rule["rule"], earlier["rule"], *labels)
    return pages.page("rule_rollback.html", rule=rule, earlier=earlier, rows=rows)


def _with_rows(versions: Sequence[Json]) -> list[Json]:
    return [{**version, "rows": side_by_side(version["diff"])} for version in versions]


def _difference(current: Json, earlier: Json, *labels: str) -> list[DiffRow]:
    return side_by_side(formatting.diff(current, earlier, *labels))


@page("/rules/{name}/rollback", method="POST")
async def post_rollback(api: ApiCalls, form: Form, name: str) -> Response:
    body = {"version": int(form["version"]), "comment": form.get("comment") or None}
    await api.post(f"{at('rules', name)}/rollback", body)
    return refresh()
