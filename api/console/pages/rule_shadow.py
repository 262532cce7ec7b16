"""A rule in shadow mode beside the live one: running an edit there, comparing the two, and putting it in force."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, Literal
from urllib.parse import quote

from fastapi import Query
from fastapi.responses import Response

from api.console import drafts, rule_names
from api.console.calls import Api, ApiCalls, together
from api.console.routing import Form, Rendering, at, go_to, page
from core.types import Json

Text = Annotated[str, Query(max_length=100)]

OFFERED: Final = 200
"""Rules to compare with that are offered."""

Span = Literal["1d", "7d", "30d"]

SPANS: Final[Mapping[Span, timedelta]] = {"1d": timedelta(days=1), "7d": timedelta(days=7), "30d": timedelta(days=30)}
"""Time spans of a comparison."""


@page("/rules/{name}/beside")
async def get_beside(api: ApiCalls, pages: Rendering, name: str, other: Text = "", span: Span = "7d") -> Response:
    """Show what a rule and one of the other mode made of the same events, as a part of its page."""
    rule = await api.get(at("rules", name))
    others = await _others(api, rule)
    chosen = other or next(iter(others), "")
    until = datetime.now(UTC)
    between = {"from": (until - SPANS[span]).isoformat(), "to": until.isoformat()}
    comparison = await api.get(f"{at('rules', name, 'beside', chosen)}", **between) if chosen else None
    return pages.page(
        "rule_beside.html",
        name=name,
        others=others,
        chosen=chosen,
        found=comparison,
        spans=list(SPANS),
        span=span,
        replaces=rule_names.original_of(name) in others,
    )


async def _others(api: Api, rule: Json) -> list[str]:
    state = "live" if rule["rule"].get("action_mode") == "shadow" else "shadow"
    listing = await api.get("/v1/rules", state=state, limit=OFFERED)
    return rule_names.counterparts_first(rule["name"], (counterpart["name"] for counterpart in listing["items"]))


@page("/rules/{name}/shadow", method="POST")
async def post_shadow(api: ApiCalls, pages: Rendering, form: Form, name: str) -> Response:
    """Run an edited text beside the rule in force, in shadow mode: decided and recorded, not done."""
    rule, fault = drafts.read(form.get("rule", ""))
    shadow = rule_names.shadow_of(name)
    if fault is not None or not isinstance(rule, dict) or shadow is None:
        return pages.notice("shadow.impossible", bad=True)
    document = {**rule, "name": shadow, "action_mode": "shadow", "enabled": True}
    await api.put(at("rules", shadow), document, comment=form.get("comment") or f"beside {name}")
    return go_to(f"/console/rules/{quote(shadow, safe='')}")


@page("/rules/{name}/promote", method="POST")
async def post_promote(api: ApiCalls, pages: Rendering, name: str) -> Response:
    """Put the text of a rule in shadow mode in force in place of the rule beside which it ran, and delete it."""
    original = rule_names.original_of(name)
    if original is None:
        return pages.notice("shadow.impossible", bad=True)
    shadow, live = await together(api.get(at("rules", name)), api.get(at("rules", original)))
    mode = live["rule"].get("action_mode", "auto")
    comment = f"from {name} v{shadow['version']}"
    await api.put(at("rules", original), {**shadow["rule"], "name": original, "action_mode": mode}, comment=comment)
    await api.delete(at("rules", name), comment=comment)
    return go_to(f"/console/rules/{quote(original, safe='')}")
