"""Sessions, their messages, and their working memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Response
from fastapi import Body as JsonBody
from pydantic import AwareDatetime, Field

from api.http import retrying
from api.http.sessions.answers import (
    ErasedSession,
    FullMessage,
    MessagePage,
    SessionInfo,
    SessionPage,
    SessionWithUsers,
    WorkingPage,
)
from api.ingress import audience, paging
from api.ingress import raw_access as unscreened
from api.ingress.answers import answers
from api.ingress.audience import ReaderDeps
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Deps, Limit, Reader, Writer, author
from api.ingress.large_json import Route
from api.ingress.raw_access import Raw
from api.serializers import message_json
from core.browsing import drawn
from core.erasure import session
from core.events.parsing import Content, KeepDays, Name, SessionState
from core.language.terms import token_estimate
from core.screening import output
from core.sessions import hidden_messages, sessions, state, transcripts, working_memory
from core.sessions.sessions import Session
from core.sessions.transcripts import SessionFilter
from core.sessions.working_memory import WorkingValue
from core.storage.db import Tx
from core.summaries import rolling
from core.types import Json, Message

router = APIRouter(prefix="/v1", tags=["sessions"], route_class=Route)

Around = Annotated[
    Name | None, Query(description="Return the messages before and after this one, `limit` in all, instead of a page")
]

Since = Annotated[AwareDatetime | None, Query(alias="from", description="Messages said then or later")]
Until = Annotated[AwareDatetime | None, Query(alias="to", description="Messages said before")]

Keys = Annotated[int, Query(ge=1, le=working_memory.KEYS)]

LONGEST_TTL: Final = 366 * 86_400
"""Seconds; longer than this is not working memory."""


class SessionListRequest(RequestBody):
    """Filter for a list of sessions."""

    user_id: Annotated[Name | None, Field(description="Owner of the session: the first user named in it")] = None
    group_id: Name | None = None
    open: Annotated[bool | None, Field(description="true: open sessions; false: ended ones")] = None
    after: Annotated[str | None, Field(max_length=300, description="`next` of the previous page")] = None
    limit: Annotated[int, Field(ge=1, le=500)] = 50


class HideRequest(RequestBody):
    """Request to hide a message from contexts."""

    reason: Annotated[Content | None, Field(max_length=2_000)] = None


class Put(RequestBody):
    """A value for the working memory, and its lifetime."""

    value: Annotated[Any, Field(description="Any JSON value")]
    ttl_seconds: Annotated[
        float | None, Field(gt=0, le=LONGEST_TTL, description="Lifetime; default: until the session ends")
    ] = None


class RetentionPut(RequestBody):
    """How long the conversation of a session is kept."""

    keep_days: Annotated[
        KeepDays | None,
        Field(
            description="Days after the end of the session for which it is kept; 0: it leaves at the end; "
            "null: as long as the tenant keeps sessions and messages, which it never exceeds"
        ),
    ]


@router.get("/sessions", operation_id="listSessions", responses=answers(SessionPage))
def get_sessions(deps: Deps, caller: Reader, request: Annotated[SessionListRequest, Query()]) -> Json:
    """List sessions, most recently active first."""
    after = None if request.after is None else paging.after_moment(request.after)
    session_filter = SessionFilter(request.user_id, request.group_id, request.open, after, request.limit)
    with deps.db.tenant(caller.tenant_id) as tx:
        rows = transcripts.find(tx, session_filter)
    following = paging.moment_cursor(rows[-1].last_at, rows[-1].id) if len(rows) == request.limit else None
    return {"items": [asdict(row) for row in rows], "next": following}


@router.get("/sessions/{session_id:path}/messages", operation_id="listMessages", responses=answers(MessagePage))
def get_messages(
    deps: ReaderDeps,
    caller: Reader,
    session_id: str,
    after: int = 0,
    limit: Limit = 100,
    last: Annotated[
        int | None, Query(ge=1, le=500, description="Return this many of the newest messages instead of a page")
    ] = None,
    memories: Annotated[
        bool, Query(description=f"Also the ids of the memories drawn from each message, at most {drawn.MOST}")
    ] = False,
    raw: Raw = False,
    around: Around = None,
    since: Since = None,
    until: Until = None,
) -> Json:
    """List the messages of a session in order, each with its tokens and hidden flag; `after` is a position."""
    if raw:
        unscreened.allow(deps, caller, "messages", session_id=session_id)
    with deps.db.tenant(caller.tenant_id) as tx:
        sessions.get(tx, session_id)
        hidden = hidden_messages.hidden_ids(tx, session_id)
        if last is not None:
            page, following = transcripts.latest(tx, session_id, last), None
        else:
            if around is not None:
                middle = sessions.message(tx, session_id, around).position
                after = max(0, middle - 1 - limit // 2)
            page, position = transcripts.page(tx, session_id, after=after, limit=limit, time=(since, until))
            following = None if position is None else str(position)
        ids_of = drawn.memories_of(tx, session_id, [m.id for m in page]) if memories else {}
        metadata = transcripts.metadata_of(tx, [(session_id, m.id) for m in page])
    items = [_message_json(m, hidden=m.id in hidden, raw=raw) for m in page]
    files = [transcripts.attachments(metadata.get((session_id, m.id), {})) for m in page]
    files = files if raw else output.value(files)
    items = [{**item, "attachments": names} if names else item for item, names in zip(items, files, strict=True)]
    if memories:
        items = [{**item, "memory_ids": ids_of.get(item["id"], [])} for item in items]
    return {"items": items, "next": following}


@router.post(
    "/sessions/{session_id:path}/messages/{message_id:path}/hide",
    dependencies=audience.READABLE_MESSAGE,
    operation_id="hideMessage",
    responses=answers(FullMessage),
)
def post_hide(
    deps: Deps,
    caller: Writer,
    session_id: str,
    message_id: str,
    asked: Annotated[HideRequest | None, JsonBody()] = None,
) -> Json:
    """Hide a message from contexts. It stays stored, and searches still find it. Repeated requests have no effect."""
    reason = asked.reason if asked else None
    with deps.db.tenant(caller.tenant_id) as tx:
        hidden_messages.hide(tx, caller.tenant_id, session_id, message_id, author(caller), reason)
        rolling.forget_messages(tx, caller.tenant_id, [(session_id, message_id)])
        message = _full_message_json(tx, session_id, message_id)
    deps.bell.notify()
    return message


@router.post(
    "/sessions/{session_id:path}/messages/{message_id:path}/restore",
    dependencies=audience.READABLE_MESSAGE,
    operation_id="restoreMessage",
    responses=answers(FullMessage),
)
def post_restore(deps: Deps, caller: Writer, session_id: str, message_id: str) -> Json:
    """Show a hidden message in contexts again. No effect on a message that is not hidden."""
    with deps.db.tenant(caller.tenant_id) as tx:
        hidden_messages.restore(tx, caller.tenant_id, session_id, message_id, author(caller))
        rolling.forget_messages(tx, caller.tenant_id, [(session_id, message_id)])
        message = _full_message_json(tx, session_id, message_id)
    deps.bell.notify()
    return message


@router.get(
    "/sessions/{session_id:path}/messages/{message_id:path}", operation_id="getMessage", responses=answers(FullMessage)
)
def get_message(deps: ReaderDeps, caller: Reader, session_id: str, message_id: str, raw: Raw = False) -> Json:
    """Return a message with its full text and metadata, who hid it, and the events that repeated it."""
    if raw:
        unscreened.allow(deps, caller, "message", session_id=session_id)
    with deps.db.tenant(caller.tenant_id) as tx:
        return _full_message_json(tx, session_id, message_id, raw=raw)


@router.get("/sessions/{session_id:path}/working", operation_id="listWorkingMemory", responses=answers(WorkingPage))
def get_all_working(
    deps: Deps,
    caller: Reader,
    session_id: str,
    after: Annotated[str, Query(description="`next` of the previous page")] = "",
    limit: Keys = working_memory.KEYS,
) -> Json:
    """List the working memory of the session by key."""
    with deps.db.tenant(caller.tenant_id) as tx:
        sessions.get(tx, session_id)
        kept, following = working_memory.of_session(tx, session_id, after=after, limit=limit)
    return {"items": [asdict(value) for value in kept], "next": following}


@router.put(
    "/sessions/{session_id:path}/working/{key}",
    operation_id="putWorkingValue",
    responses=answers(WorkingValue, refusals=(409,)),
)
def put_working(deps: Deps, caller: Writer, session_id: str, key: Name, request: Put) -> Json:
    """Store any JSON under a key until it expires or the session ends; replaces the previous value."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return asdict(working_memory.put(tx, caller.tenant_id, session_id, key, request.value, request.ttl_seconds))


@router.get(
    "/sessions/{session_id:path}/working/{key}", operation_id="getWorkingValue", responses=answers(WorkingValue)
)
def get_working(deps: Deps, caller: Reader, session_id: str, key: Name) -> Json:
    """Return the value of a key; 404 after it has expired or the session has ended."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return asdict(working_memory.get(tx, session_id, key))


@router.delete("/sessions/{session_id:path}/working/{key}", status_code=204, operation_id="deleteWorkingValue")
def delete_working(deps: Deps, caller: Writer, session_id: str, key: Name) -> Response:
    """Delete a key from the working memory; no effect if it does not exist."""
    with deps.db.tenant(caller.tenant_id) as tx:
        sessions.get(tx, session_id)
        working_memory.drop(tx, session_id, key)
    return Response(status_code=204)


@router.patch("/sessions/{session_id:path}/state", operation_id="changeSessionState", responses=answers(SessionInfo))
def patch_state(deps: Deps, caller: Writer, session_id: str, patch: SessionState) -> Json:
    """Merge an object into the session state (RFC 7396), such as topic, intent or progress; null removes a key.

    `pinned` has the agent's system prompt and the task, which contexts of the session show whole.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        state.merge(tx, session_id, patch.model_dump(exclude_unset=True))
        return asdict(sessions.get(tx, session_id))


@router.put("/sessions/{session_id:path}/retention", operation_id="putSessionRetention", responses=answers(SessionInfo))
def put_session_retention(deps: Deps, caller: Writer, session_id: str, request: RetentionPut) -> Json:
    """Set how long the conversation is kept after its end. What was learnt from it stays."""
    with deps.db.tenant(caller.tenant_id) as tx:
        sessions.keep(tx, session_id, request.keep_days)
        return asdict(sessions.get(tx, session_id))


@router.get("/sessions/{session_id:path}", operation_id="getSession", responses=answers(SessionWithUsers))
def get_session(deps: Deps, caller: Reader, session_id: str) -> Json:
    """Return a session with its state, counters and users."""
    with deps.db.tenant(caller.tenant_id) as tx:
        row, users = sessions.get(tx, session_id), transcripts.speakers(tx, session_id)
    return asdict(row) | {"users": users, "warnings": _warnings(row, users)}


def _warnings(row: Session, users: Sequence[str]) -> list[str]:
    if row.group_id is not None or len(users) <= 1:
        return []
    named = f"{', '.join(users[:3])}{', …' if len(users) > 3 else ''}"  # noqa: PLR2004
    advice = "give each user a session of their own, or send `group_id` with what is said in a group"
    return [f"It has messages of several users ({named}) and no group, so that nobody is shown all of it: {advice}."]


@router.delete("/sessions/{session_id:path}", operation_id="eraseSession", responses=answers(ErasedSession))
def delete_session(deps: Deps, caller: Writer, session_id: str) -> Json:
    """Erase a session permanently: messages, summaries, working memory, and its text in the log.

    Memories learned from it stay, without their quotes; episodes, which retell it, are erased. Repeated: 404.
    """
    counts = retrying.run_with_retries(
        deps.db, caller.tenant_id, lambda tx: session.erase(tx, caller.tenant_id, session_id, author(caller))
    )
    deps.recent.forget(caller.tenant_id, [session_id])
    deps.bell.notify()
    return {"session_id": session_id, "erased": dict(sorted(counts.items()))}


def _full_message_json(tx: Tx, session_id: str, message_id: str, *, raw: bool = False) -> Json:
    message = sessions.message(tx, session_id, message_id)
    mark = hidden_messages.find_mark(tx, session_id, message_id)
    extras = transcripts.extras(tx, session_id, message_id)
    hiding = None if mark is None else {"reason": mark.reason, "by": mark.author, "at": mark.at}
    return {
        **_message_json(message, hidden=mark is not None, raw=raw),
        "hidden_by": hiding,
        "extras": extras if raw else output.value(extras),
        "repeats": [asdict(repeat) for repeat in transcripts.repeats(tx, message)],
    }


def _message_json(message: Message, *, hidden: bool, raw: bool) -> Json:
    return message_json(message, raw=raw) | {"hidden": hidden, "token_count": token_estimate(message.content)}
