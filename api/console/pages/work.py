"""Work for a person: an overview, approvals, deliveries, and the page of one dispatch with retrying it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from fastapi.responses import JSONResponse, Response

from api.console import drafts
from api.console.calls import ApiCalls, together
from api.console.needs import LISTED, After, outcome, with_shared
from api.console.routing import Form, Rendering, at, go_to, page, refresh
from core.events.reserved import SERVICE
from core.types import Json

RECENT: Final = 20
ACTIONS: Final = frozenset({"approve", "reject", "retry", "cancel"})


@page("/badge")
async def get_badge(api: ApiCalls, pages: Rendering) -> Response:
    """Return the number beside the area in the navigation."""
    needs = (await api.get("/v1/now"))["needs_person"]
    counts = [needs[name] for name in ("approvals", "dead", "disputed", "quarantined")]
    number = {"count": sum(need["count"] for need in counts), "more": any(need["more"] for need in counts)}
    return pages.page("badge.html", number=number)


@page("/work")
async def get_work(api: ApiCalls, pages: Rendering) -> Response:
    shared, (waiting, decided) = await with_shared(
        api,
        api.get("/v1/dispatches", status="retrying", limit=RECENT),
        api.get("/v1/events", type="approval.decided", limit=RECENT),
    )
    own = [event for event in decided["items"] if event["source"] == SERVICE]  # An old log may hold those of others.
    return pages.page("work.html", **shared, waiting=waiting["items"], decided=own)


@page("/work/approvals")
async def get_approvals(api: ApiCalls, pages: Rendering, after: After = "", rule: str = "") -> Response:
    shared, (held,) = await with_shared(
        api, api.get("/v1/dispatches", hold="approval", status="held", limit=LISTED, after=after, rule=rule)
    )
    effects = await together(*(api.find(f"{at('dispatches', dispatch['id'])}/effect") for dispatch in held["items"]))
    rules: dict[str, list[Json]] = {}
    for dispatch, effect in zip(held["items"], effects, strict=True):
        rules.setdefault(dispatch["rule"] or "", []).append(dispatch | {"effect": effect})
    return pages.page("approvals.html", **shared, rules=rules, following=held["next"])


@page("/work/approvals", method="POST")
async def post_approvals(api: ApiCalls, pages: Rendering, form: Form) -> Response:
    """Decide about all that one rule asks for."""
    waiting = await api.get("/v1/dispatches", hold="approval", status="held", rule=form.get("rule", ""), limit=200)
    ids = [dispatch["id"] for dispatch in waiting["items"]]
    body: Json = {"verdict": form.get("verdict", ""), "ids": ids, "comment": form.get("comment") or None}
    if str(len(ids)) != form.get("confirm"):
        return pages.notice("work.changed", bad=True)
    return outcome(pages, await api.post("/v1/dispatches/decide", body))


@page("/work/deliveries")
async def get_deliveries(
    api: ApiCalls, pages: Rendering, after: After = "", status: str = "", rule: str = ""
) -> Response:
    shared, (sent,) = await with_shared(
        api, api.get("/v1/endpoints/deliveries", status=status, rule=rule, after=after, limit=LISTED)
    )
    chosen = {"status": status, "rule": rule}
    return pages.page("deliveries.html", **shared, items=sent["items"], following=sent["next"], chosen=chosen)


@page("/work/deliveries/{dispatch_id}", method="POST")
async def post_redeliver(api: ApiCalls, dispatch_id: str) -> Response:
    await api.post(f"{at('endpoints', 'deliveries', dispatch_id)}/redeliver")
    return refresh()


@page("/work/{dispatch_id}")
async def get_dispatch(api: ApiCalls, pages: Rendering, dispatch_id: str) -> Response:
    path = at("dispatches", dispatch_id)
    shared, (dispatch, params, effect) = await with_shared(
        api, api.get(path), api.get(f"{path}/params"), api.get(f"{path}/effect")
    )
    return pages.page("dispatch.html", **shared, dispatch=dispatch, params=params, effect=effect)


@page("/work/{dispatch_id}/words.json")
async def get_words(api: ApiCalls, dispatch_id: str) -> Response:
    """Return the JSON Schema of the parameters, for the editor."""
    params = await api.get(f"{at('dispatches', dispatch_id)}/params")
    return JSONResponse({"schema": params["params_schema"], "events": {}})


@page("/work/{dispatch_id}/check", method="POST")
async def post_check(api: ApiCalls, pages: Rendering, form: Form, dispatch_id: str) -> Response:
    """Say what is wrong with edited parameters, while they are typed."""
    params, fault = _read(form.get("params", ""))
    problems: Sequence[Json] = ()
    if fault is None:
        path = f"{at('dispatches', dispatch_id)}/retry-edited"
        _, problems = await drafts.checked(api.post(path, {"params": params, "dry_run": True}))
        problems = [problem | {"pointer": problem["pointer"].removeprefix("/params")} for problem in problems]
    return pages.page("params_report.html", problems=problems, fault=fault)


@page("/work/{dispatch_id}/edited", method="POST")
async def post_edited(api: ApiCalls, pages: Rendering, form: Form, dispatch_id: str) -> Response:
    """Retry a dispatch with the parameters of the editor, and show the retry."""
    params, fault = _read(form.get("params", ""))
    if fault is not None:
        return pages.notice_of({"detail": fault})
    made = await api.post(f"{at('dispatches', dispatch_id)}/retry-edited", {"params": params})
    return go_to(f"/console/work/{made['id']}")


@page("/work/{dispatch_id}/{action}", method="POST")
async def post_action(api: ApiCalls, pages: Rendering, form: Form, dispatch_id: str, action: str) -> Response:
    if action not in ACTIONS:
        return pages.notice("work.unknown", bad=True)
    body = None if action == "retry" else {"comment": form.get("comment") or None}
    await api.post(f"{at('dispatches', dispatch_id)}/{action}", body)
    return refresh()


def _read(text: str) -> tuple[Any, str | None]:
    """Return the JSON object of a text, or why it is none."""
    params, fault = drafts.read(text)
    return (params, fault) if fault or isinstance(params, dict) else (None, "It must be an object: {…}")
