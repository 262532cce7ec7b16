"""Approvals: what a held action would do, and deciding about several at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field

from api.http.work.answers import DecidedDispatches, DispatchEffect
from api.http.work.dispatches import dispatch_with_event
from api.ingress.answers import answers
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Deps, Reader, RuleEditor, author
from api.ingress.large_json import Route
from api.serializers import event_json
from core.consolidation import dispute_resolution
from core.dispatches import control as dispatch_control
from core.dispatches import queries as dispatch_queries
from core.dispatches.control import SignedRemark, Verdict
from core.dispatches.queries import DispatchFilter
from core.errors import Conflict, Forbidden, Invalid, NotFound, Problem
from core.events import log
from core.events.parsing import Name
from core.forgetting import forget
from core.memory import memories
from core.remembering import feedback
from core.storage.db import Tx
from core.types import Json

router = APIRouter(prefix="/v1/dispatches", tags=["dispatches"], route_class=Route)

ROWS: Final = 200
"""Dispatches of one request."""

_EXTENT: Final = ("scope", "messages", "memories", "session_id", "message_id")
"""Fields of a request to forget that say how much it covers, and where it was made."""

VERDICTS: Final[dict[str, Verdict]] = {"approve": "approved", "reject": "rejected"}


class DecisionOnMany(RequestBody):
    """A verdict on several held dispatches: those with these ids, or all of one rule."""

    verdict: Literal["approve", "reject"]
    ids: Annotated[list[UUID] | None, Field(min_length=1, max_length=ROWS)] = None
    rule: Annotated[Name | None, Field(description="All that its actions wait for, at most 200 a request")] = None
    confirm: Annotated[int | None, Field(description="With `rule`: how many wait; another number is refused")] = None
    comment: Annotated[str | None, Field(max_length=2_000)] = None


@router.post("/decide", operation_id="decideDispatches", responses=answers(DecidedDispatches, refusals=(409,)))
def post_decide(deps: Deps, caller: RuleEditor, request: DecisionOnMany) -> Json:
    """Approve or reject several held dispatches, each by the rules of the single route and with a result of its own."""
    if (request.ids is None) == (request.rule is None):
        raise Invalid([Problem("/ids", "give either `ids` or a `rule`")])
    ids: Sequence[UUID] = list(dict.fromkeys(request.ids or ()))
    more = False
    if request.rule is not None:
        ids, more = _held_of_rule(deps.db.tenant(caller.tenant_id), request)
    remark = SignedRemark(author(caller), request.comment)
    items = []
    for dispatch_id in ids:
        try:
            with deps.db.tenant(caller.tenant_id) as tx:
                dispatch_control.decide(
                    tx, dispatch_id, VERDICTS[request.verdict], remark, four_eyes=deps.settings.four_eyes
                )
            items.append({"id": dispatch_id, "outcome": "done"})
        except (NotFound, Conflict, Forbidden) as error:
            items.append({"id": dispatch_id, "outcome": "refused", "detail": error.detail})
    deps.bell.notify()
    done = sum(item["outcome"] == "done" for item in items)
    return {"done": done, "refused": len(items) - done, "more": more, "items": items}


@router.get("/{dispatch_id}/effect", operation_id="previewDispatch", responses=answers(DispatchEffect))
def get_effect(deps: Deps, caller: Reader, dispatch_id: UUID) -> Json:
    """Show what a dispatch would do, where that can be told before: the request it sends, or what it decides.

    `effect` is null for agents whose work can only be known by doing it; their parameters say what they are given.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        row = dispatch_queries.get(tx, dispatch_id)
        kind, effect = _effect(tx, row, deps.settings.secrets)
    return {"kind": kind, "target": row.target, "effect": effect}


def _held_of_rule(transaction: Any, request: DecisionOnMany) -> tuple[Sequence[UUID], bool]:
    """Return what waits for an approval of a rule. Conflict: it is not the number that the caller has seen."""
    with transaction as tx:
        dispatch_filter = DispatchFilter(status="held", hold="approval", rule=request.rule)
        rows = dispatch_queries.find(tx, dispatch_filter, limit=ROWS + 1)
    ids = [row.id for row in rows[:ROWS]]
    if request.confirm != len(ids):
        raise Conflict(f"{len(ids)} actions of this rule wait now, and `confirm` says {request.confirm}. Look again.")
    return ids, len(rows) > ROWS


def _effect(tx: Tx, row: Any, secrets: str) -> tuple[str, Json | None]:
    """Return the kind of what a dispatch does, and what that is."""
    params = dispatch_with_event(row)["params"]
    if row.action_type == "webhook":
        body = params.get("payload")
        sent_body = body if body is not None or row.event_seq is None else event_json(log.at(tx, row.event_seq))
        return "request", {"method": "POST", "url": params.get("url"), "body": sent_body}
    if row.action_type == "notify":
        return "notice", {"channel": params.get("channel"), "text": params.get("template")}
    if row.action_type == "emit":
        return "event", {"event_type": params.get("event_type"), "payload": params.get("payload")}
    if row.action_type == "celery":
        return "task", {"task": params.get("task"), "queue": params.get("queue"), "kwargs": params.get("kwargs")}
    return _agent_effect(tx, row, secrets)


def _agent_effect(tx: Tx, row: Any, secrets: str) -> tuple[str, Json | None]:
    if row.target == "conflict_resolver":
        return "ruling", _ruling(tx, row)
    if row.event_seq is None:
        return "agent", None
    cause = log.at(tx, row.event_seq)
    if row.target == "feedback_taker":
        return "feedback", feedback.preview(tx, cause, secrets)
    if cause.event_type == forget.REQUESTED:
        return "forgetting", {name: cause.payload.get(name) for name in _EXTENT}
    return "agent", None


def _ruling(tx: Tx, row: Any) -> Json | None:
    """Return which of two disputed memories would stay; None: they are not in dispute any more."""
    given = {**(log.at(tx, row.event_seq).payload if row.event_seq is not None else {}), **row.params}
    try:
        memory_id, other = (UUID(str(given.get(name))) for name in ("memory_id", "with"))
        keep = UUID(str(given["keep"])) if given.get("keep") else None
    except ValueError:
        return None
    case = dispute_resolution.find(tx, memory_id, other, keep)
    if case is None:
        return None
    rows = memories.of_ids(tx, [memory_id, other])
    return case.ruling.as_json() | {"memories": {str(row_id): rows[row_id].content for row_id in rows}}
