"""Webhooks: deliveries, sending one again, and addresses that fail."""

from __future__ import annotations

from datetime import datetime
from operator import itemgetter
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field

from api.http.work.answers import EnabledEndpoint, EndpointPage
from api.ingress import paging
from api.ingress.answers import answers, refuses, shown
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Deps, Limit, Reader, RuleEditor, Writer
from api.ingress.large_json import Route
from api.ingress.paging import After, WholeLimit
from api.serializers import dispatch_json, sent_to
from core.dispatches import queries as dispatch_queries
from core.dispatches import retries as dispatch_retries
from core.events.parsing import Name
from core.tenancy import endpoints
from core.types import DispatchStatus, Json

router = APIRouter(prefix="/v1", tags=["service"], route_class=Route)


class EnableRequest(RequestBody):
    """The address to enable again."""

    address: Annotated[str, Field(max_length=4_000, description="Address as listed by `GET /v1/endpoints`")]


@router.get("/endpoints", operation_id="listFailingEndpoints", responses=answers(EndpointPage))
def get_endpoints(deps: Deps, caller: Reader, after: After = None, limit: WholeLimit = paging.MOST) -> Json:
    """List webhooks and channels whose last call failed; those disabled after days have `disabled_at`."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return paging.cut(endpoints.failing_endpoints(tx), dict, itemgetter("address"), after, limit)


class Delivery(BaseModel):
    """Something that was sent, or is to be sent. `to`: address without its query, channel, or task.

    `next_at`: when it is tried again. `answer`: what the receiver said, as far as it is stored.
    """

    dispatch_id: UUID
    kind: Literal["webhook", "notify", "celery"]
    to: str | None
    rule: str | None
    event_id: str | None
    event_type: str | None
    status: str
    attempt: int
    error: str | None
    answer: Json | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    next_at: datetime | None


class Deliveries(BaseModel):
    """A page of deliveries."""

    items: list[Delivery]
    next: str | None


@router.get("/endpoints/deliveries", operation_id="listDeliveries")
def get_deliveries(
    deps: Deps,
    caller: Reader,
    rule: Name | None = None,
    status: DispatchStatus | None = None,
    after: UUID | None = None,
    limit: Limit = 50,
) -> Deliveries:
    """List what was sent to webhooks, channels and task queues, newest first.

    With a filter a page may be short, or empty, and yet have a `next`: each looks through 5,000 deliveries.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        rows, following = dispatch_queries.deliveries(tx, rule, status, after=after, limit=limit)
    return Deliveries(items=[_delivery(row) for row in rows], next=str(following) if following else None)


@router.post("/endpoints/deliveries/{dispatch_id}/redeliver", operation_id="redeliver", responses=refuses(404, 409))
def post_redeliver(deps: Deps, caller: Writer, dispatch_id: UUID) -> Delivery:
    """Send a delivery again under the same id, whether it arrived or was given up; workers send it within a second.

    A receiver that counts each `webhook-id` once takes it for a repeat.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        row = dispatch_retries.redeliver(tx, dispatch_id)
    deps.bell.notify()
    return _delivery(row)


def _delivery(row: Any) -> Delivery:
    dispatch = dispatch_json(row)
    fields = shown(
        Delivery,
        row,
        dispatch_id=row.id,
        kind=row.action_type,
        to=sent_to(dispatch["params"]),
        error=dispatch["error"],
        answer=dispatch["result"],
        next_at=row.wake_at,
    )
    return Delivery(**fields)


@router.post("/endpoints/enable", operation_id="enableEndpoint", responses=answers(EnabledEndpoint, refusals=(404,)))
def post_enable(deps: Deps, caller: RuleEditor, request: EnableRequest) -> Json:
    """Enable a disabled address again. `imprint dead replay` retries the calls that failed while it was disabled."""
    with deps.db.tenant(caller.tenant_id) as tx:
        endpoints.enable(tx, request.address)
    return {"address": request.address, "enabled": True}
