"""Decisions of the rules over time, for a chart, and those of two rules side by side."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from fastapi import APIRouter, Path, Query
from pydantic import AwareDatetime, BaseModel, Field, StringConstraints

from api.http.rules.answers import RuleComparison
from api.ingress.answers import answers
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Deps, Reader, WholeDeps
from api.ingress.large_json import Route
from core.errors import Invalid, Problem
from core.events.parsing import Time
from core.types import Json
from rules.registry import activity, comparison
from rules.registry.activity import RuleLane, Steps

router = APIRouter(prefix="/v1/rules", tags=["rules"], route_class=Route)

SHORTEST: Final = timedelta(minutes=15)
LONGEST: Final = timedelta(days=7)

SHOWN: Final = 100
"""Rules of one chart."""

RuleName = Annotated[str, StringConstraints(max_length=100)]


class ActivityRequest(RequestBody):
    """Time span of a chart, and its resolution."""

    since: Annotated[Time | None, Field(alias="from", description="Default: 24 hours before `to`")] = None
    until: Annotated[Time | None, Field(alias="to", description="Exclusive; default: now")] = None
    buckets: Annotated[int, Field(ge=1, le=200, description="Equal parts of the time span")] = 96
    rule: list[RuleName] = Field(
        default_factory=list, max_length=SHOWN, description="Only these; repeat it for several"
    )
    limit: Annotated[int, Field(ge=1, le=SHOWN, description="Rules, those first that met an event last")] = 50

    def steps(self, now: datetime) -> Steps:
        """Return the span in steps. Invalid: it is too short or too long."""
        until = self.until or now
        since = self.since or until - timedelta(days=1)
        if problems := list(_problems(since, until)):
            raise Invalid(problems)
        return Steps(since, until, self.buckets)


class ActivityChart(BaseModel):
    """Decisions by rule and bucket. `left_out`: rules beyond `limit`."""

    from_: Annotated[AwareDatetime, Field(serialization_alias="from")]
    to: AwareDatetime
    buckets: int
    bucket_seconds: float
    items: list[RuleLane]
    left_out: int


@router.get("/activity", response_model_by_alias=True, operation_id="getRuleActivity")
def get_activity(deps: Deps, caller: Reader, request: Annotated[ActivityRequest, Query()]) -> ActivityChart:
    """Count what each rule decided in equal parts of a time span: fired, gathered by flow control, held back.

    The rows read do not grow with the log: a bucket with too many decisions holds an estimate, and is named.
    """
    steps = request.steps(datetime.now(UTC))
    with deps.db.tenant(caller.tenant_id) as tx:
        lanes, left_out = activity.of(tx, steps, max(request.limit, len(request.rule)), request.rule or None)
    return ActivityChart(
        from_=steps.since,
        to=steps.until,
        buckets=steps.count,
        bucket_seconds=steps.seconds,
        items=lanes,
        left_out=left_out,
    )


def _problems(since: datetime, until: datetime) -> Iterator[Problem]:
    span = until - since
    if span < SHORTEST:
        yield Problem("/from", "must be at least 15 minutes before `to`")
    elif span > LONGEST:
        yield Problem("/from", "is more than 7 days before `to`; ask for a part of the time")


DEFAULT_SPAN: Final = timedelta(days=7)


class ComparisonRequest(RequestBody):
    """Time span of a comparison, and how much of it is listed."""

    since: Annotated[Time | None, Field(alias="from", description="Default: 7 days before `to`")] = None
    until: Annotated[Time | None, Field(alias="to", description="Exclusive; default: now")] = None
    limit: Annotated[int, Field(ge=0, le=200, description="Events that differ, the newest first")] = 20

    def span(self, now: datetime) -> tuple[datetime, datetime]:
        """Return the beginning and the end. Invalid: there is nothing between them."""
        until = self.until or now
        since = self.since or until - DEFAULT_SPAN
        if since >= until:
            raise Invalid([Problem("/from", "must be before `to`")])
        return since, until


@router.get("/{name}/beside/{other}", operation_id="compareRules", responses=answers(RuleComparison, refusals=(404,)))
def get_comparison(
    deps: WholeDeps,
    caller: Reader,
    name: str,
    other: Annotated[str, Path(description="The rule that it is compared with")],
    request: Annotated[ComparisonRequest, Query()],
) -> Json:
    """Compare what two rules decided on the same events, such as a rule in shadow mode and the live one.

    Compared are the versions in force, since both are, and at most the newest 5,000 decisions of each: `truncated` says
    that there are older ones, and `from` where the comparison begins. A rule acts if it fires or gathers.
    """
    since, until = request.span(datetime.now(UTC))
    with deps.db.tenant(caller.tenant_id) as tx:
        return comparison.of(tx, name, other, since, until, request.limit)
