"""Dry run of extraction: from a pasted conversation to what would be remembered, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Annotated, Final, Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field

from api.http.memory_requests import Content, Time
from api.ingress import dependencies
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Deps, Reader
from api.ingress.large_json import Route
from api.ingress.route_bounds import Bounds, with_bounds
from core.errors import Invalid, Misconfigured, Problem
from core.events.parsing import Name, Who
from core.extraction import extractor_setting, preview
from core.extraction.preview import Bench, Preview, Verdict
from core.extraction.session import FailedWindow, PostponedWindow
from core.inference.client import Call
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


class PreviewMessage(RequestBody):
    """A message that nobody has sent."""

    role: Literal["user", "assistant", "system", "tool"] = "user"
    content: Content
    speaker: Name | None = None
    occurred_at: Annotated[Time | None, Field(description="Default: now")] = None


class PreviewRequest(RequestBody):
    """A conversation to read without storing anything."""

    user_id: Who
    group_id: Who | None = None
    messages: Annotated[list[PreviewMessage], Field(min_length=1, max_length=MESSAGES)]
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
    items: list[PreviewedStatement]
    screened: list[ScreenedMessage]
    left_out: LeftOutWindows
    rules: list[ReadingRule]
    model: ModelUse


@router.post("/preview", operation_id="previewExtraction")
@with_bounds(Bounds(counted="backtests"))
def post_preview(deps: Deps, caller: Reader, asked: PreviewRequest) -> ExtractionPreview:
    """Show what a conversation would become: statements with verdict and reason, what is dropped, and by which rules.

    Nothing is stored, and no event is written. A model, if the extractor asks one, is paid for: the key then also needs
    the scope `write`.
    """
    if sum(len(one.content) for one in asked.messages) > CHARACTERS:
        raise Invalid(
            [Problem("/messages", f"have more than {CHARACTERS:,} characters together; paste a part of them")]
        )
    bench, now = Bench(deps.db, deps.embedder, deps.settings, deps.model), datetime.now(UTC)
    if preview.chosen(bench, asked.extractor) != extractor_setting.BY_RULES:
        dependencies.require_scope(caller, "write")
    messages = list(_messages(asked, now))
    try:
        found = preview.of(bench, caller.tenant_id, messages, asked.extractor)
    except Misconfigured as error:
        raise Invalid([Problem("/extractor", str(error))]) from None
    meanings = Meanings(deps.embedder)
    with deps.db.tenant(caller.tenant_id) as tx:
        conversation = extraction_rules.read(tx, caller.tenant_id, _payload(messages[-1]), len(messages), now)
    return ExtractionPreview(
        extractor=found.extractor,
        items=[_shown(verdict) for verdict in found.verdicts],
        screened=list(_screened(messages)),
        left_out=_left_out(found),
        rules=extraction_rules.explain(conversation, meanings),
        model=_model_use(found.calls),
    )


def _messages(asked: PreviewRequest, now: datetime) -> Iterator[Message]:
    for place, one in enumerate(asked.messages):
        yield Message(
            session_id=SESSION,
            id=str(place),
            position=place + 1,
            event_id=f"{SESSION}-{place}",
            user_id=asked.user_id,
            role=one.role,
            content=one.content,
            occurred_at=one.occurred_at or now,
            speaker=one.speaker,
            group_id=asked.group_id,
        )


def _payload(message: Message) -> Json:
    fields = ("session_id", "user_id", "group_id", "role", "content", "speaker")
    return {name: getattr(message, name) for name in fields if getattr(message, name) is not None}


def _shown(verdict: Verdict) -> PreviewedStatement:
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
        evidence=[Quote(message=int(e.message_id), quote=output.evidence(e).quote) for e in candidate.evidence],
        against=[
            KnownStatement(id=known.id, content=known.content, similarity=known.similarity) for known in verdict.against
        ],
    )


def _screened(messages: Sequence[Message]) -> Iterator[ScreenedMessage]:
    for place, one in enumerate(messages):
        for found in screen.screen(one.content).findings:
            hostile = found.kind in screen.HOSTILE
            yield ScreenedMessage(message=place, kind=found.kind, detail=found.detail, hostile=hostile)


def _left_out(found: Preview) -> LeftOutWindows:
    read = found.read
    return LeftOutWindows(
        windows=read.windows,
        skipped=dict(read.skipped),
        refused=read.refused,
        failed=list(map(_why, read.failed)),
        postponed=list(map(_why, read.postponed)),
    )


def _why(window: FailedWindow | PostponedWindow) -> str:
    reason = window.reason if isinstance(window, FailedWindow) else window.cause.detail
    return f"Messages {window.where.first - 1} to {window.where.last - 1}: {reason}"


def _model_use(calls: Sequence[Call]) -> ModelUse:
    return ModelUse(
        calls=len(calls),
        model=calls[0].model if calls else None,
        input_tokens=sum(call.input_tokens for call in calls),
        output_tokens=sum(call.output_tokens for call in calls),
    )
