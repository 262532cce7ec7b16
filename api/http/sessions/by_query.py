"""Sessions identified in the query: ids of older installations that would be read as another path."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from api.http.sessions import sessions
from api.http.sessions.answers import ErasedSession, MessagePage, SessionWithUsers, WorkingPage
from api.http.sessions.sessions import Around, Keys, Put
from api.ingress.answers import answers, refuses
from api.ingress.audience import ReaderDeps
from api.ingress.dependencies import Deps, Limit, Reader, Writer
from api.ingress.large_json import Route
from api.ingress.raw_access import Raw
from core.events.parsing import Name
from core.sessions import working_memory
from core.sessions.working_memory import WorkingValue
from core.types import Json

router = APIRouter(prefix="/v1/session", tags=["sessions"], route_class=Route)

SessionId = Annotated[Name, Query(description="Session id; may contain any characters")]
Key = Annotated[Name, Query(description="Key in the working memory")]


@router.get("", operation_id="getSessionByQuery", responses=answers(SessionWithUsers, refusals=(404,)))
def get_session(deps: Deps, caller: Reader, session_id: SessionId) -> Json:
    """Return a session with its state, counters and users."""
    return sessions.get_session(deps, caller, session_id)


@router.delete("", operation_id="eraseSessionByQuery", responses=answers(ErasedSession, refusals=(404,)))
def delete_session(deps: Deps, caller: Writer, session_id: SessionId) -> Json:
    """Erase a session permanently, like `DELETE /v1/sessions/{session_id}`."""
    return sessions.delete_session(deps, caller, session_id)


@router.get("/messages", operation_id="listMessagesByQuery", responses=answers(MessagePage, refusals=(404,)))
def get_messages(
    deps: ReaderDeps,
    caller: Reader,
    session_id: SessionId,
    after: int = 0,
    limit: Limit = 100,
    raw: Raw = False,
    around: Around = None,
) -> Json:
    """List the messages of a session in order; `after` is a position."""
    return sessions.get_messages(deps, caller, session_id, after, limit, None, raw=raw, around=around)


@router.get("/working", operation_id="listWorkingMemoryByQuery", responses=answers(WorkingPage, refusals=(404,)))
def get_working(
    deps: Deps, caller: Reader, session_id: SessionId, after: str = "", limit: Keys = working_memory.KEYS
) -> Json:
    """List the working memory of the session by key."""
    return sessions.get_all_working(deps, caller, session_id, after, limit)


@router.put("/working", operation_id="putWorkingValueByQuery", responses=answers(WorkingValue, refusals=(404, 409)))
def put_working(deps: Deps, caller: Writer, session_id: SessionId, key: Key, request: Put) -> Json:
    """Store any JSON under a key until it expires or the session ends."""
    return sessions.put_working(deps, caller, session_id, key, request)


@router.delete("/working", status_code=204, operation_id="deleteWorkingValueByQuery", responses=refuses(404))
def delete_working(deps: Deps, caller: Writer, session_id: SessionId, key: Key) -> Response:
    """Delete a key from the working memory; no effect if it does not exist."""
    return sessions.delete_working(deps, caller, session_id, key)
