"""Backtests: running a draft of a rule over the stored log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import structlog
from fastapi import APIRouter, Request, Response
from fastapi.concurrency import iterate_in_threadpool, run_in_threadpool
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import AwareDatetime, BaseModel, Field
from sqlalchemy.exc import OperationalError

from api.http.rules.answers import BacktestResult
from api.http.rules.rules import draft
from api.ingress.answers import answers
from api.ingress.dependencies import Dependencies, Reader, WholeDeps
from api.ingress.large_json import Route
from api.ingress.route_bounds import Bounds, with_bounds
from core.errors import ImprintError
from core.tenancy.tenants import Caller
from core.types import Json
from rules.backtest.backtest import Backtest, BacktestProgress, BacktestRequest, Result
from rules.engine.counts import DailyBudget
from rules.engine.similarity import Meanings
from rules.registry.limits import Allowed

log = structlog.get_logger()

router = APIRouter(prefix="/v1/rules/backtest", tags=["rules"], route_class=Route)

NDJSON = "application/x-ndjson"

GONE = 499
"""Status in the request log when the client did not wait for the answer."""


RESULT: Final = answers(BacktestResult, description="The result; as NDJSON, preceded by progress lines")
RESULT[200]["content"] = {NDJSON: {"schema": {"type": "string"}}}


class BacktestTrial(BaseModel):
    """A draft rule and the period of event time to test it on."""

    rule: dict[str, Any] = Field(description="The draft; it is compared with the rule in force of the same name")
    since: AwareDatetime | None = Field(
        None, alias="from", description="Start of the period, inclusive; default: the first event"
    )
    until: AwareDatetime | None = Field(None, alias="to", description="End of the period, exclusive; default: now")
    limit_samples: int = Field(5, ge=0, le=100, description="Number of firings to list from the start and from the end")


@router.post("", operation_id="backtestRule", responses=RESULT)
@with_bounds(Bounds(counted="backtests"))
async def post_backtest(deps: WholeDeps, caller: Reader, trial: BacktestTrial, request: Request) -> Response:
    """Backtest a draft rule against the stored log and the rules in force; nothing is written.

    Returns how often the rule would have acted, when and on which events; what held it back; which rules in force it
    would displace; the differences from the version in force; and the estimated cost. `concurrency` and the
    consequences of the draft's own actions are not simulated. With `Accept: application/x-ndjson` progress lines
    precede the result. A disconnect of the client aborts the backtest.
    """
    backtest = await run_in_threadpool(_prepare, deps, caller, trial)
    if NDJSON in request.headers.get("accept", ""):
        return StreamingResponse(_lines(backtest), media_type=NDJSON)
    async for step in iterate_in_threadpool(backtest.run()):
        if isinstance(step, Result):
            return JSONResponse(step.document)
        if await request.is_disconnected():
            break
    return Response(status_code=GONE)


def _prepare(deps: Dependencies, caller: Caller, trial: BacktestTrial) -> Backtest:
    """Prepare the backtest and validate the whole request before the first line is sent."""
    until = trial.until or datetime.now(UTC)
    characters = 2 * deps.settings.event_bytes
    with deps.db.tenant(caller.tenant_id) as tx:
        allowed = Allowed.to(tx, deps.settings, caller.tenant_id)
    request = BacktestRequest(draft(trial.rule, allowed), trial.since, until, trial.limit_samples, characters)
    meanings, budget = Meanings(deps.embedder), DailyBudget.of(deps.settings)
    return Backtest(deps.db, caller.tenant_id, request, meanings, max_hops=deps.settings.max_hops, budget=budget)


def _lines(backtest: Backtest) -> Iterator[str]:
    """Yield one JSON document per line. An error is sent as the last line, because the status has been sent."""
    try:
        for step in backtest.run():
            yield json.dumps(_line(step), ensure_ascii=False) + "\n"
    except ImprintError as error:
        yield _problem_line(error.kind, error.detail)
    except OperationalError as error:
        log.error("http.database", error=str(error).splitlines()[0])  # noqa: TRY400 - its parameters stay private
        yield _problem_line("Unavailable", "The database could not carry this out now. Ask again.")


def _line(step: BacktestProgress | Result) -> Json:
    if isinstance(step, Result):
        return {"result": step.document}
    return {"progress": {"events": step.events, "of": step.of, "fired": step.fired}}


def _problem_line(title: str, detail: str) -> str:
    return json.dumps({"problem": {"title": title, "detail": detail}}, ensure_ascii=False) + "\n"
