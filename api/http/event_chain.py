"""All that followed from an event: down to the memories and to what was sent."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from api.http.answers.events import EventChain
from api.ingress.answers import answers
from api.ingress.dependencies import Reader, WholeDeps
from api.ingress.large_json import Route
from api.serializers import dispatch_json, sent_to
from core.events import chains, log
from core.types import Json

router = APIRouter(prefix="/v1", tags=["events"], route_class=Route)

SHOWN = ("id", "rule", "rule_version", "action_type", "target", "status", "hold", "attempt", "error", "wake_at")


@router.get("/events/{event_id}/chain", operation_id="getEventChain", responses=answers(EventChain))
def get_chain(deps: WholeDeps, caller: Reader, event_id: str) -> Json:
    """Return the actions that an event caused, the events that followed from it, their actions, and so on.

    At most 200 events and 500 actions, the nearest first; `truncated` says that there are more. Replays are left out.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        event = log.get(tx, event_id)
        chain = chains.of(tx, event)
    return {
        "dispatches": [_dispatch(row) for row in chain.dispatches.get(event.seq, ())],
        "followed_by": [_link(row, chain.dispatches.get(row.seq, ())) for row in chain.links],
        "truncated": chain.truncated,
    }


def _link(row: Any, dispatches: Any) -> Json:
    names = ("depth", "id", "event_type", "subject", "time", "causation_id", "dispatch_id")
    return {name: getattr(row, name) for name in names} | {
        "dispatches": [_dispatch(dispatch) for dispatch in dispatches]
    }


def _dispatch(row: Any) -> Json:
    dispatch = dispatch_json(row)
    return {name: dispatch[name] for name in SHOWN} | {"to": sent_to(dispatch["params"])}
