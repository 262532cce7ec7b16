"""The table of tools: tool name → endpoint."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import Request, Response
from pydantic import AwareDatetime, BaseModel, Field

from api.http.erasure import erasure, forgettings
from api.http.log import events
from api.http.memories import decisions, entities, reading, writing
from api.http.memories.decisions import UndoLatestRequest
from api.http.memories.entities import MergeNamesRequest, PersonName
from api.http.memories.reading import MemoryListRequest
from api.http.memories.requests import Patch, StatementRequest
from api.http.search import answering, context, search
from api.http.search.answering import AnswerRequest
from api.http.search.context import ContextRequest
from api.http.search.request import SearchRequest
from api.http.sessions import sessions
from api.http.sessions.sessions import HideRequest
from api.ingress import audience
from api.ingress.audience import ReaderLabels
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Dependencies
from api.ingress.field_filters import ANY_OF, FieldFilter
from core.browsing.listing import Order
from core.errors import Invalid, NotFound, Problem
from core.events.parsing import Content, Name, NativeEvent, unstorable
from core.tenancy.tenants import Caller
from core.types import Category, Json

MOST_LISTED: Final = 500
"""Open requests of a user among which an undo looks for its id."""

MemoryId = Annotated[UUID, Field(description="The `id` of a memory, as returned by memory_search and memory_add")]


class Adding(StatementRequest):
    """Arguments of `POST /v1/memories`, including its `Idempotency-Key`."""

    idempotency_key: Annotated[
        Name | None, Field(description="Identifies this call: repeated with the same key, it has no effect")
    ] = None


class Updating(Patch):
    """Arguments of `PATCH /v1/memories/{id}`, and the memory."""

    memory_id: MemoryId


class ForgetArguments(RequestBody):
    """Arguments of `DELETE /v1/memories/{id}`."""

    memory_id: MemoryId
    evidence: Annotated[bool, Field(description="Also blank the text of the messages it cites")] = False


class Unforgetting(RequestBody):
    """Arguments of `POST /v1/forgettings/{id}/undo`; without an id, the user's latest request."""

    user_id: Name
    forgetting_id: Annotated[
        UUID | None, Field(description="The `forgetting_id` of `memory.forgotten`; left out: the user's latest request")
    ] = None


class Listing(RequestBody):
    """Arguments of `GET /v1/memories` that a model has use for."""

    user_id: Name | None = None
    group_id: Name | None = None
    category: Category | None = None
    q: Annotated[Content | None, Field(min_length=1, max_length=200, description="Part of the content")] = None
    since: Annotated[AwareDatetime | None, Field(alias="from", description="Happened or said then or later")] = None
    until: Annotated[AwareDatetime | None, Field(alias="to", description="Happened or said before")] = None
    structured: Annotated[FieldFilter | None, Field(description=f"Fields of `structured`; {ANY_OF}")] = None
    metadata: Annotated[
        FieldFilter | None, Field(description=f"Fields of the metadata of the messages it cites; {ANY_OF}")
    ] = None
    order: Annotated[Order, Field(description="What comes first; `said`: what was said or happened last")] = "newest"
    after: Annotated[str | None, Field(max_length=100, description="`next` of the previous page")] = None
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    reader_labels: ReaderLabels = None


class AboutRequest(RequestBody):
    """Arguments of `GET /v1/entities/about`."""

    user_id: Name
    name: PersonName
    after: Annotated[str | None, Field(max_length=100, description="`next` of the previous page")] = None
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    reader_labels: ReaderLabels = None


class Undoing(UndoLatestRequest):
    """Arguments of `POST /v1/memories/{id}/undo`, and the memory."""

    memory_id: MemoryId


class Asking(RequestBody):
    """The memory asked about."""

    memory_id: MemoryId


class Showing(RequestBody):
    """The message to show again."""

    session_id: Name
    message_id: Name


class Hiding(HideRequest, Showing):
    """The message to hide, and the reason."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: description for models, required scope, arguments, and function that answers.

    `labelled`: it enforces audience labels, so that keys with labels may use it.
    """

    name: str
    title: str
    scope: str
    takes: type[BaseModel]
    answer: Callable[[Dependencies, Caller, Any], Json | Response]
    description: str
    reads: bool = False
    destroys: bool = False
    repeatable: bool = False
    reaches_out: bool = False
    labelled: bool = False

    def allows(self, caller: Caller) -> bool:
        """Return whether a key may use the tool; one with audience labels only if the tool enforces them."""
        return caller.may(self.scope) and (caller.labels is None or self.labelled)


def _add(deps: Dependencies, caller: Caller, request: Adding) -> Json:
    return writing.remember(deps, caller, request, request.idempotency_key, "mcp")


def _update(deps: Dependencies, caller: Caller, request: Updating) -> Json:
    audience.require_memories(deps, caller, [request.memory_id])
    patch = Patch.model_validate(request.model_dump(exclude={"memory_id"}, exclude_unset=True))
    return writing.patch_memory(deps, caller, request.memory_id, patch, Response())


def _forget(deps: Dependencies, caller: Caller, request: ForgetArguments) -> Json:
    audience.require_memories(deps, caller, [request.memory_id])
    return erasure.delete_memory(deps, caller, request.memory_id, request.evidence)


def _unforget(deps: Dependencies, caller: Caller, request: Unforgetting) -> Json:
    open_forgettings = forgettings.get_forgettings(deps, caller, request.user_id, limit=MOST_LISTED)["items"]
    ids = [forgetting["id"] for forgetting in open_forgettings]
    chosen = str(request.forgetting_id) if request.forgetting_id else next(iter(ids), None)
    if chosen not in ids:
        raise NotFound(f"Nothing that {request.user_id!r} asked to forget can be undone under this id, or any more.")
    return forgettings.post_undo(deps, caller, UUID(chosen))


def _list(deps: Dependencies, caller: Caller, request: Listing) -> Json:
    if request.user_id is None and request.group_id is None:
        raise Invalid([Problem("/user_id", "say whose memories to list: `user_id`, `group_id` or both")])
    values = request.model_dump(exclude_none=True, by_alias=True)
    values |= {name: json.dumps(values[name]) for name in ("structured", "metadata") if name in values}
    return reading.get_memories(deps, caller, MemoryListRequest.model_validate(values))


def _undo(deps: Dependencies, caller: Caller, request: Undoing) -> Json:
    audience.require_memories(deps, caller, [request.memory_id])
    undo = UndoLatestRequest.model_validate(request.model_dump(exclude={"memory_id"}))
    return decisions.post_undo_latest(deps, caller, request.memory_id, undo)


def _why(deps: Dependencies, caller: Caller, request: Asking) -> Json:
    return reading.get_why(deps, caller, request.memory_id)


def _about(deps: Dependencies, caller: Caller, request: AboutRequest) -> Json:
    deps = audience.for_reader(deps, caller, request.reader_labels)
    return entities.get_entity(deps, caller, request.user_id, request.name, request.after, request.limit)


def _hide(deps: Dependencies, caller: Caller, request: Hiding) -> Json:
    audience.require_message(deps, caller, request.session_id, request.message_id)
    return sessions.post_hide(deps, caller, request.session_id, request.message_id, HideRequest(reason=request.reason))


def _restore(deps: Dependencies, caller: Caller, request: Showing) -> Json:
    audience.require_message(deps, caller, request.session_id, request.message_id)
    return sessions.post_restore(deps, caller, request.session_id, request.message_id)


def _publish(deps: Dependencies, caller: Caller, event: NativeEvent) -> Response:
    """Publish one event as a batch of one; error pointers have no index."""
    fault = unstorable(event.payload)
    if fault is not None:
        raise Invalid([Problem("/payload", fault)])
    raw = event.model_dump_json(exclude_unset=True).encode()
    plain = Request({"type": "http", "headers": [(b"content-type", b"application/json")]})
    try:
        return events.post_events(deps, caller, plain, raw)
    except Invalid as error:
        raise Invalid([Problem(p.pointer.removeprefix("/0"), p.detail) for p in error.problems]) from None


_ALL: Final = (
    Tool(
        name="memory_search",
        title="Search memory",
        scope="read",
        labelled=True,
        takes=SearchRequest,
        answer=search.post_search,
        reads=True,
        description=(
            "Search the memory of a user or group: memories, messages of past conversations, and passages"
            " of documents, best first, each with its sources. Call it before you answer anything that "
            "may depend on what was said earlier: names, dates, preferences, plans, decisions. Ask in "
            "plain words, one question per call. No results mean that nothing is known; do not guess."
        ),
    ),
    Tool(
        name="memory_answer",
        title="Answer from memory",
        scope="read",
        labelled=True,
        takes=AnswerRequest,
        answer=answering.post_answer,
        reads=True,
        description=(
            "Answer one question about a user or group from memory, with what the answer rests on. The outcome "
            "`unknown` means that it was never told: say so, do not guess. Call it for a single fact (where, who, "
            "when, which); for several things at once, or to look around, use memory_search."
        ),
    ),
    Tool(
        name="memory_add",
        title="Remember",
        scope="write",
        labelled=True,
        takes=Adding,
        answer=_add,
        description=(
            "Remember one lasting statement about a user: a fact, a preference, an instruction, a plan. "
            "Call it when the user asks you to remember something, or tells you something that will "
            "matter in later conversations; not for small talk, and not for what memory_search already "
            "found. Write a full sentence that is understandable on its own. The statement is judged "
            "against stored memories: `verdict` says whether it was added, merged, replaced a memory or "
            "was not stored, and `reason` says why."
        ),
    ),
    Tool(
        name="memory_update",
        title="Correct a memory",
        scope="write",
        labelled=True,
        takes=Updating,
        answer=_update,
        repeatable=True,
        description=(
            "Correct a memory whose id you know, for instance from memory_search: its content, category, "
            "importance, tags, validity or pin. Only the fields you send change; earlier versions stay in"
            " its history. Call it when the user says that a memory is wrong or outdated."
        ),
    ),
    Tool(
        name="memory_list",
        title="List memories",
        scope="read",
        labelled=True,
        takes=Listing,
        answer=_list,
        reads=True,
        description=(
            "List the memories of a user or group, newest first, page by page. Call it when the user asks what you "
            "know about them, or to look for entries to correct; to answer a question use memory_search."
        ),
    ),
    Tool(
        name="memory_undo",
        title="Undo the latest change of a memory",
        scope="write",
        takes=Undoing,
        answer=_undo,
        description=(
            "Undo the latest change of a memory whose id you know: a correction, a merge, a replacement; repeated, the "
            "change before. Call it when the user says that a change was wrong. It does not undo memory_forget."
        ),
    ),
    Tool(
        name="memory_forget",
        title="Forget a memory permanently",
        scope="write",
        takes=ForgetArguments,
        answer=_forget,
        destroys=True,
        repeatable=True,
        description=(
            "Erase a memory permanently, with equivalent and derived memories. This cannot be undone. "
            "Call it only when the user asks for something to be forgotten; use memory_update to correct "
            "it. The answer is a signed receipt."
        ),
    ),
    Tool(
        name="memory_forget_undo",
        title="Bring back what was forgotten",
        scope="write",
        takes=Unforgetting,
        answer=_unforget,
        description=(
            "Undo a user's request to forget, made in a message, while its undo window is open: everything that it "
            "erased comes back. Call it only when that user asks for it. It does not undo memory_forget."
        ),
    ),
    Tool(
        name="memory_why",
        title="Why something is remembered",
        scope="read",
        takes=Asking,
        answer=_why,
        reads=True,
        description=(
            "Explain where a memory comes from: the messages that support it and, for each of its "
            "versions, the event, rule and model call behind it. Call it when the user asks how you know "
            "something, or to judge how far to trust a memory."
        ),
    ),
    Tool(
        name="memory_about",
        title="All about somebody",
        scope="read",
        labelled=True,
        takes=AboutRequest,
        answer=_about,
        reads=True,
        description=(
            "List what is remembered of a person in a user's life, the latest first, by whatever name it was said: "
            "`my mother`, `Evelyn`, `Mum`. Give the name or role as the user does. Call it when the user asks about "
            "somebody as a whole; for a single fact use memory_answer."
        ),
    ),
    Tool(
        name="memory_merge_names",
        title="Two names, one person",
        scope="write",
        takes=MergeNamesRequest,
        answer=entities.post_merge,
        repeatable=True,
        description=(
            "Record that several names or roles are one person's, for example `Caz` and `Caroline`, or `Evelyn` and "
            "`my mother`. Call it when the user says so, or confirms it when you ask; never on a guess."
        ),
    ),
    Tool(
        name="context_build",
        title="Build a context",
        scope="read",
        labelled=True,
        takes=ContextRequest,
        answer=context.post_context,
        reads=True,
        description=(
            "Build the context for the next answer within a token limit: standing instructions, profile, "
            "memories and documents relevant to the query, and the summary, plan and recent messages of "
            "the session. Call it at the beginning of a conversation or task; for a single question "
            "memory_search is enough. `format: text` returns one text to read."
        ),
    ),
    Tool(
        name="message_hide",
        title="Hide a message",
        scope="write",
        takes=Hiding,
        answer=_hide,
        repeatable=True,
        description=(
            "Exclude a message of a session from all contexts from now on, for example a failed attempt "
            "or an outdated tool result. It stays stored and searchable, and message_restore shows it "
            "again."
        ),
    ),
    Tool(
        name="message_restore",
        title="Show a hidden message again",
        scope="write",
        takes=Showing,
        answer=_restore,
        repeatable=True,
        description="Show a message hidden by message_hide in contexts again.",
    ),
    Tool(
        name="event_publish",
        title="Publish an event",
        scope="publish",
        labelled=True,
        takes=NativeEvent,
        answer=_publish,
        reaches_out=True,
        description=(
            "Record that something happened, so that rules can react: `message.added` for each message of"
            " a conversation to learn from, `session.ended` when it is over, `task.completed`, "
            "`skill.succeeded`, `skill.failed`, `plan.updated`, `feedback.given`, or a type of your own. "
            "Rules may notify people or call webhooks. Events with the same `source` and `id` count once,"
            " so send an `id` if you may have to repeat the call."
        ),
    ),
)

TOOLS: Final[Mapping[str, Tool]] = {tool.name: tool for tool in _ALL}
"""All tools by name."""
