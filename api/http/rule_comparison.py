"""Two rules side by side, such as one in shadow mode and the one that it may replace."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from fastapi import APIRouter, Path, Query
from pydantic import Field

from api.http.answers.rules import RuleComparison
from api.http.memory_requests import Time
from api.ingress.answers import answers
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Reader, WholeDeps
from api.ingress.large_json import Route
from core.errors import Invalid, Problem
from core.types import Json
from rules.registry import comparison

router = APIRouter(prefix="/v1/rules", tags=["rules"], route_class=Route)

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
