"""Dry run of extraction: from a pasted conversation to what would be remembered, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field, ValidationError

from api.http.memories.requests import CHARACTERS as STATEMENT_CHARACTERS
from api.ingress import dependencies, messages
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Deps, Reader
from api.ingress.error_responses import detail_of
from api.ingress.large_json import Route
from api.ingress.messages import CONVERSATION, MessageOutcome
from api.ingress.route_bounds import Bounds, with_bounds
from core.errors import Invalid, Misconfigured, Problem
from core.events.message_shapes import ClientMessage
from core.events.parsing import Content, Name, Time, Who
from core.extraction import extractor_setting
from core.extraction.session import FailedWindow, PostponedWindow
from core.remembering import preview
from core.remembering.preview import Bench, Preview, PreviewedVerdict
from core.screening import output, screen
from core.types import Category, Json, Kind, Message, Topic, Trust
from rules.engine.similarity import Meanings
from rules.registry import extraction_rules
from rules.registry.extraction_rules import ReadingRule

router = APIRouter(prefix="/v1/extraction", tags=["memory"], route_class=Route)

MESSAGES: Final = 50
"""Messages of one dry run: a page of a conversation."""

CHARACTERS: Final = 50_000
"""Characters of all of them."""

SESSION: Final = "preview"


class PreviewFields(BaseModel):
    """Fields of a message that are checked."""

    content: Annotated[Content, Field(max_length=STATEMENT_CHARACTERS)]
    speaker: Name | None = None
    occurred_at: Time | None = None


class PreviewRequest(RequestBody):
    """A conversation to read without storing anything."""

    user_id: Who
    group_id: Who | None = None
    messages: Annotated[
        list[Any],
        Field(
            min_length=1,
            max_length=MESSAGES,
            description=f"{CONVERSATION}. Each may have `speaker` and `occurred_at` (default: now)",
        ),
    ]
    extractor: Annotated[
        Literal["auto", "offline", "llm", "both"] | None,
        Field(description="Default: that of the installation; `llm` and `both` ask its model"),
    ] = None


class Quote(BaseModel):
    """Evidence of a statement: the message by its place in the request, from 0."""

    message: int
    quote: str


class Statement(BaseModel):
    """A statement as it would be stored."""

    content: str
    subject: str
    kind: Kind
    category: Category
    topic: Topic
    attribute: str | None
    value: str | None
    importance: float
    confidence: float
    trust: Trust
    occurred_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    tags: list[str]


class KnownStatement(BaseModel):
    """A stored memory that a statement was judged against."""

    id: UUID
    content: str
    similarity: float | None


class PreviewedStatement(BaseModel):
    """A statement, what would become of it, and why. `stored`: it would be a memory, or part of one."""

    verdict: Literal[
        "add", "confirm", "merge", "replace", "supersede", "predates", "contradict", "quarantine", "ignore"
    ]
    stored: bool
    reason: str
    user_id: str
    group_id: str | None
    statement: Statement
    evidence: list[Quote]
    against: list[KnownStatement]


class ScreenedMessage(BaseModel):
    """What screening finds in a message. `hostile`: a statement from it would be quarantined. No secret is quoted."""

    message: int
    kind: str
    detail: str
    hostile: bool


class LeftOutWindows(BaseModel):
    """Windows of messages that no statement was read from, with the reason."""

    windows: int
    skipped: dict[str, int]
    refused: Annotated[int, Field(description="Statements that the extractor gave and that rest on no message")]
    failed: list[str]
    postponed: list[str]


class ModelUse(BaseModel):
    """Calls of the model, which are counted like any other."""

    calls: int
    model: str | None
    input_tokens: int
    output_tokens: int


class ExtractionPreview(BaseModel):
    """Result of a dry run. `rules`: which of the rules in force would have such a conversation read, and by whom."""

    extractor: str
    messages: list[MessageOutcome]
    items: list[PreviewedStatement]
    screened: list[ScreenedMessage]
    left_out: LeftOutWindows
    rules: list[ReadingRule]
    model: ModelUse


@router.post("/preview", operation_id="previewExtraction")
@with_bounds(Bounds(counted="backtests"))
def post_preview(deps: Deps, caller: Reader, request: PreviewRequest) -> ExtractionPreview:
    """Show what a conversation would become: statements with verdict and reason, what is dropped, and by which rules.

    Nothing is stored, and no event is written. A model, if the extractor asks one, is paid for: the key then also needs
    the scope `write`.
    """
    taken, positions, faults = _read(request, datetime.now(UTC))
    if sum(len(message.content) for message in taken) > CHARACTERS:
        raise Invalid(
            [Problem("/messages", f"have more than {CHARACTERS:,} characters together; paste a part of them")]
        )
    bench, now = Bench(deps.db, deps.embedder, deps.settings, deps.model), datetime.now(UTC)
    if preview.chosen(bench, request.extractor) != extractor_setting.BY_RULES:
        dependencies.require_scope(caller, "write")
    try:
        previewed = preview.of(bench, caller.tenant_id, taken, request.extractor)
    except Misconfigured as error:
        raise Invalid([Problem("/extractor", str(error))]) from None
    meanings = Meanings(deps.embedder)
    with deps.db.tenant(caller.tenant_id) as tx:
        conversation = extraction_rules.read(tx, caller.tenant_id, _payload(taken[-1]), len(taken), now)
    return ExtractionPreview(
        extractor=previewed.extractor,
        messages=[MessageOutcome(**outcome) for outcome in messages.outcomes(len(request.messages), faults)],
        items=[_preview_of(verdict, positions) for verdict in previewed.verdicts],
        screened=list(_screened(taken, positions)),
        left_out=_left_out(previewed, positions),
        rules=extraction_rules.explain(conversation, meanings),
        model=ModelUse(
            calls=len(previewed.calls),
            model=previewed.calls[0].model if previewed.calls else None,
            input_tokens=sum(call.input_tokens for call in previewed.calls),
            output_tokens=sum(call.output_tokens for call in previewed.calls),
        ),
    )


def _read(request: PreviewRequest, now: datetime) -> tuple[list[Message], list[int], dict[int, str]]:
    """Return the messages, the position of each in the request, and why others were left out. Invalid: all were."""
    numbered, faults = messages.read(request.messages, "user")
    taken: list[Message] = []
    positions: list[int] = []
    for position, message in numbered:
        try:
            taken.append(_message(request, message, len(taken), now))
            positions.append(position)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            faults[position] = Problem("".join(f"/{step}" for step in first["loc"]), detail_of(first))
    messages.require_some(taken, faults)
    return taken, positions, {n: fault.detail for n, fault in faults.items()}


def _message(request: PreviewRequest, message: ClientMessage, number: int, now: datetime) -> Message:
    """Return a message as it would be stored. ValidationError: it is too long, or its time or speaker is none."""
    checked = PreviewFields.model_validate({**message.extra, "content": message.text})
    return Message(
        session_id=SESSION,
        id=str(number),
        position=number + 1,
        event_id=f"{SESSION}-{number}",
        user_id=request.user_id,
        role=message.role,
        content=checked.content,
        occurred_at=checked.occurred_at or now,
        speaker=checked.speaker or message.speaker,
        group_id=request.group_id,
    )


def _payload(message: Message) -> Json:
    fields = ("session_id", "user_id", "group_id", "role", "content", "speaker")
    return {name: getattr(message, name) for name in fields if getattr(message, name) is not None}


def _preview_of(verdict: PreviewedVerdict, positions: Sequence[int]) -> PreviewedStatement:
    """Return a verdict without secrets: a refused statement still holds its own."""
    candidate = verdict.candidate
    fields: Json = {name: getattr(candidate, name) for name in Statement.model_fields}
    fields["valid_from"] = candidate.begins_at
    clean: Json = output.value({name: fields[name] for name in ("content", "subject", "value", "tags")})
    return PreviewedStatement(
        verdict=verdict.verdict,
        stored=verdict.verdict != "ignore",
        reason=verdict.reason,
        user_id=verdict.owner.user_id,
        group_id=verdict.owner.group_id,
        statement=Statement(**fields | clean),
        evidence=[
            Quote(message=positions[int(e.message_id)], quote=output.evidence(e).quote) for e in candidate.evidence
        ],
        against=[
            KnownStatement(id=memory.id, content=memory.content, similarity=memory.similarity)
            for memory in verdict.against
        ],
    )


def _screened(taken: Sequence[Message], positions: Sequence[int]) -> Iterator[ScreenedMessage]:
    for position, message in zip(positions, taken, strict=True):
        for finding in screen.screen(message.content).findings:
            hostile = finding.kind in screen.HOSTILE
            yield ScreenedMessage(message=position, kind=finding.kind, detail=finding.detail, hostile=hostile)


def _left_out(previewed: Preview, positions: Sequence[int]) -> LeftOutWindows:
    read = previewed.read
    return LeftOutWindows(
        windows=read.windows,
        skipped=dict(read.skipped),
        refused=read.refused,
        failed=[_why(window, positions) for window in read.failed],
        postponed=[_why(window, positions) for window in read.postponed],
    )


def _why(window: FailedWindow | PostponedWindow, positions: Sequence[int]) -> str:
    reason = window.reason if isinstance(window, FailedWindow) else window.cause.detail
    first, last = positions[window.where.first - 1], positions[window.where.last - 1]
    return f"Messages {first} to {last}: {reason}"
