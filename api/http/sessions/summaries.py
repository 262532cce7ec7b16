"""The rolling summary of a long session, and its plans."""

from __future__ import annotations

from operator import attrgetter

from fastapi import APIRouter

from api.http import retrying
from api.http.sessions.answers import Plan, PlanPage, SessionSummary
from api.ingress import paging
from api.ingress.answers import answers, shown
from api.ingress.audience import ReaderDeps
from api.ingress.dependencies import Deps, Reader, Writer, author
from api.ingress.large_json import Route
from api.ingress.paging import After, WholeLimit
from core.errors import Conflict, NotFound
from core.plans import tracker
from core.plans.tracker import SessionPlan
from core.sessions import sessions
from core.summaries import rolling
from core.summaries.rolling import Summary
from core.types import Json

router = APIRouter(prefix="/v1", tags=["sessions"], route_class=Route)


@router.get("/sessions/{session_id:path}/summary", operation_id="getSummary", responses=answers(SessionSummary))
def get_summary(deps: ReaderDeps, caller: Reader, session_id: str) -> Json:
    """Return the summary of the messages up to `to_position`, with the key messages."""
    with deps.db.tenant(caller.tenant_id) as tx:
        sessions.get(tx, session_id)
        summary = rolling.latest(tx, session_id)
    if summary is None:
        limits = deps.settings
        raise NotFound(
            f"Session {session_id!r} has no summary yet: it gets one at {limits.summarize_messages} messages or "
            f"{limits.summarize_tokens} tokens. Read its messages, or write one now: POST to this address."
        )
    return _summary(summary)


@router.post(
    "/sessions/{session_id:path}/summary",
    operation_id="summarizeSession",
    responses=answers(SessionSummary, refusals=(409,)),
)
def post_summary(deps: Deps, caller: Writer, session_id: str) -> Json:
    """Summarise all messages of the session now, by rules, however few there are; the next summary builds on this one.

    Repeated without new messages, it returns the same summary.
    """
    for left in reversed(range(retrying.ATTEMPTS)):
        try:
            summary = rolling.now(deps.db, caller.tenant_id, session_id, author(caller))
            break
        except Conflict:
            if not left:
                raise
    if summary is None:
        raise Conflict(
            f"Session {session_id!r} has no message to summarise: nobody has said anything, or all is hidden."
        )
    deps.bell.notify()
    return _summary(summary)


@router.get("/sessions/{session_id:path}/plans", operation_id="listPlans", responses=answers(PlanPage))
def get_plans(
    deps: Deps, caller: Reader, session_id: str, after: After = None, limit: WholeLimit = paging.MOST
) -> Json:
    """List the plans of a session, most recently mentioned first, including finished ones."""
    with deps.db.tenant(caller.tenant_id) as tx:
        plans = tracker.find(tx, session_id)
        if not plans:
            sessions.get(tx, session_id)
    return paging.cut(plans, _plan, attrgetter("id"), after, limit)


def _summary(summary: Summary) -> Json:
    key_messages = [key.as_json() for key in summary.key_messages]
    return shown(SessionSummary, summary, key_messages=key_messages, at=summary.at.isoformat())


def _plan(plan: SessionPlan) -> Json:
    updated_at = plan.updated_at and plan.updated_at.isoformat()
    return shown(Plan, plan, steps=[step.as_json() for step in plan.steps], updated_at=updated_at)
