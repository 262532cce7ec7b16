"""Failing webhook and channel addresses, and enabling them again."""

from __future__ import annotations

from operator import itemgetter
from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from api.http.answers.service import EnabledEndpoint, EndpointPage
from api.ingress import paging
from api.ingress.answers import answers
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Deps, Reader, RuleEditor
from api.ingress.large_json import Route
from api.ingress.paging import After, WholeLimit
from core.tenancy import endpoints
from core.types import Json

router = APIRouter(prefix="/v1", tags=["service"], route_class=Route)


class EnableRequest(RequestBody):
    """The address to enable again."""

    address: Annotated[str, Field(max_length=4_000, description="Address as listed by `GET /v1/endpoints`")]


@router.get("/endpoints", operation_id="listFailingEndpoints", responses=answers(EndpointPage))
def get_endpoints(deps: Deps, caller: Reader, after: After = None, limit: WholeLimit = paging.MOST) -> Json:
    """List webhooks and channels whose last call failed; those disabled after days have `disabled_at`."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return paging.cut(endpoints.failing_endpoints(tx), dict, itemgetter("address"), after, limit)


@router.post("/endpoints/enable", operation_id="enableEndpoint", responses=answers(EnabledEndpoint, refusals=(404,)))
def post_enable(deps: Deps, caller: RuleEditor, asked: EnableRequest) -> Json:
    """Enable a disabled address again. `imprint dead replay` retries the calls that failed while it was disabled."""
    with deps.db.tenant(caller.tenant_id) as tx:
        endpoints.enable(tx, asked.address)
    return {"address": asked.address, "enabled": True}
