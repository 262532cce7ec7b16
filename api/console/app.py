"""Installation of the console in the application."""

from __future__ import annotations

from typing import Final

from fastapi import FastAPI, Request, Response

from api.console import calls, render
from api.console.calls import ApiProblem
from api.console.cookie import Sealer
from api.console.gate import Gate
from api.console.pages import (
    add,
    assist,
    bulk,
    conflicts,
    context,
    costs,
    dead_letters,
    documents,
    dry_run,
    entry,
    events,
    graph,
    health,
    imports,
    keys,
    memories,
    now,
    people,
    quarantine,
    rule,
    rule_shadow,
    rule_trials,
    rules,
    search,
    service,
    timeline,
    work,
)
from core.config import Settings
from core.storage import service_key

PAGES = (
    *(entry, assist, now, events, rules, rule, rule_trials, rule_shadow, costs, bulk, memories, graph, timeline),
    *(search, dry_run, people, context, documents, add, imports, dead_letters, conflicts, quarantine, work, keys),
    *(service, health),
)
"""Modules whose routes stand in `router`, in the order in which they are matched."""

RENDERER: Final = render.load()
"""Read before processes are forked, which share it."""


def install(app: FastAPI, settings: Settings) -> None:
    """Install what the pages share, their way of refusing, and the gate in front of all else."""
    sealer = Sealer(service_key.derive(settings, "console"))
    app.state.sealer, app.state.renderer, app.state.console = sealer, RENDERER, calls.client_of(app)
    app.add_exception_handler(ApiProblem, _on_problem)
    app.add_middleware(Gate, sealer=sealer)


def _on_problem(request: Request, error: Exception) -> Response:
    """Show a refusal by the API: as a page, or as a notice in the page that asked."""
    if not isinstance(error, ApiProblem):
        raise error
    pages: render.Renderer = request.app.state.renderer(request)
    if "hx-request" in request.headers:
        return pages.notice_of(error.problem)
    return pages.page("problem.html", error.status, problem=error.problem)
