"""`POST /v1/hooks/claude-code`: hooks of coding agents, recorded and answered with what is remembered."""

from __future__ import annotations

import asyncio
from operator import attrgetter
from typing import Annotated, Final

import structlog
from fastapi import APIRouter, Header, Query, Response
from fastapi.concurrency import run_in_threadpool

from api.http.log import events, hook_payloads
from api.http.log.answers import HookAnswer
from api.http.log.hook_payloads import HookPayload, HookReport
from api.http.search import context
from api.ingress import audience
from api.ingress.answers import answers
from api.ingress.dependencies import Dependencies, Deps, Publisher, json_response
from api.ingress.large_json import Route
from api.ingress.route_bounds import Bounds, with_bounds
from core import logs
from core.context import builder
from core.context.budget import Budget
from core.context.builder import BuiltContext, ContextDeps, ContextQuery
from core.context.sections import SectionName
from core.errors import NotFound
from core.events import parsing, projects
from core.events.parsing import Name, Place
from core.search.recall_log import Asker
from core.sessions import sessions
from core.tenancy.tenants import Caller
from core.types import Json

log = structlog.get_logger()

router = APIRouter(prefix="/v1", tags=["coding agents"], route_class=Route)

DEADLINE_SECONDS: Final = 1.2
"""Of the context; what is not there then is left out, so that the whole answer takes at most 1.5 seconds."""

LIMIT_TOKENS: Final = 2_000

LONGEST: Final = 9_500
"""Characters of an answer: Claude Code shows the model only the beginning of 10,000 and more."""

SHARES: Final = Budget(0.35, 0.5, 0.05, 0.1)
"""The agent has its own conversation, so next to nothing is for that."""

SHOWN: Final = (
    SectionName.INSTRUCTIONS,
    SectionName.PROFILE,
    SectionName.MEMORIES,
    SectionName.SINCE,
    SectionName.FOCUS,
    SectionName.KNOWLEDGE,
)

OPENING: Final = "What was decided, how is the work done, and what does the user prefer?"
"""Question of a session that begins without one."""

HEADING: Final = "Known from earlier conversations with this user and about this project:"


@router.post(
    "/hooks/claude-code",
    response_model=Json,
    operation_id="reportHook",
    responses=answers(
        HookAnswer, description="The context for the model as the hook expects it; empty if there is nothing to say"
    ),
)
@with_bounds(Bounds(body=attrgetter("event_bytes")))
async def post_hook(
    deps: Deps,
    caller: Publisher,
    payload: HookPayload,
    user_id: Annotated[Name, Query(description="Whose memory it is")],
    agent: Annotated[Place, Query(description="Name of the agent: it begins the ids of its sessions")] = "claude-code",
    event: Annotated[str | None, Query(max_length=100, description="Name of the hook, if the payload lacks it")] = None,
    project: Annotated[
        str | None,
        Query(max_length=1_000, description="Name of the project; default: that of the session, or `cwd`. Empty: none"),
    ] = None,
    x_imprint_project: Annotated[str | None, Header(description="As `project`: a path or address")] = None,
) -> Response:
    """Record what a hook of Claude Code or Copilot CLI reports, and answer a prompt with what is remembered.

    Prompts, answers, compactions and the end of a session become events. The answer to `UserPromptSubmit` and
    `SessionStart` is `additionalContext` of less than 10,000 characters; it is empty if nothing is known, if it takes
    too long, or if the key lacks the scope `read`.
    """
    report = HookReport(
        hook=payload.hook(event),
        payload=payload,
        user_id=user_id,
        agent=agent,
        folder=x_imprint_project or payload.cwd,
        project=project,
    )
    group_id = await run_in_threadpool(_group, deps, caller, report)
    # Before the prompt is recorded: it must not find itself.
    text = await _within_deadline(deps, caller, report, group_id)
    reported = hook_payloads.events(report, group_id)
    if reported:
        await run_in_threadpool(events.accept, deps, caller, parsing.check(reported))
    if not text:
        return Response()
    return json_response({"hookSpecificOutput": {"hookEventName": report.hook, "additionalContext": text}})


def _group(deps: Dependencies, caller: Caller, report: HookReport) -> str | None:
    """Return the group of the project: the one asked for, else that of the session so far, else that of its folder."""
    if report.project is not None:
        return projects.group_of(report.project)
    with deps.db.tenant(caller.tenant_id) as tx:
        try:
            return sessions.get(tx, report.session_id).group_id
        except NotFound:
            return projects.group_of(report.folder)


async def _within_deadline(deps: Dependencies, caller: Caller, report: HookReport, group_id: str | None) -> str:
    """Return the context for the model, or nothing if it fails or takes too long: the agent must go on."""
    if report.hook not in hook_payloads.ANSWERED or not caller.may("read"):
        return ""
    context_query = ContextQuery(
        user_id=report.user_id,
        group_id=group_id,
        session_id=report.session_id,
        query=report.payload.prompt[-builder.LONGEST_QUESTION :] or OPENING,
        limit=LIMIT_TOKENS,
        budget=SHARES,
        audience="private",
        at_work=group_id is not None,
        format="text",
    )
    building = asyncio.ensure_future(run_in_threadpool(_context, deps, caller, context_query))
    done, _ = await asyncio.wait({building}, timeout=DEADLINE_SECONDS)
    if not done:
        building.add_done_callback(lambda late: late.cancelled() or late.exception())
        log.warning("hook.late", tenant=caller.tenant_id, seconds=DEADLINE_SECONDS)
        return ""
    if error := building.exception():
        log.warning("hook.without_context", tenant=caller.tenant_id, **logs.fault(error))
        return ""
    return building.result()


def _context(deps: Dependencies, caller: Caller, context_query: ContextQuery) -> str:
    at = audience.for_reader(deps, caller, None)
    reads = ContextDeps(at.db, at.embedder, at.settings, at.recent, at.retrievers)
    built = builder.build(reads, caller.tenant_id, context_query)
    text = _shortened(built)
    if text:
        served = context.served_texts(built)
        asker = Asker(caller.tenant_id, context_query.user_id, context_query.group_id)
        at.recalls.note(
            asker,
            served,
            announced=at.settings.announce_recalls,
            query=context_query.query,
            session_id=context_query.session_id,
        )
    return text


def _shortened(built: BuiltContext) -> str:
    """Return the sections about the user and the project, cut at the end of a line."""
    by_part = {section.part: section.text for section in built.sheet.sections if section.text}
    text = "\n\n".join(by_part[part] for part in SHOWN if part in by_part)
    if not text:
        return ""
    text = f"{HEADING}\n\n{text}"
    return text if len(text) <= LONGEST else text[: text.rfind("\n", 0, LONGEST)]
