"""The lines of Imprint's own archive, checked as strictly as what comes from anybody. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar, Final, Literal, Self, get_type_hints

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic_core import from_json

from core.documents.chunking import MediaType
from core.errors import Invalid, Problem
from core.events import parsing
from core.events.parsing import Content, Label, Name, SessionState, Share, Time, within_reach
from core.plans.parsing import DEPTH, ID, STEPS, TITLE
from core.types import Category, Json, Kind, Relation, Topic, Trust

LINE_BYTES: Final = 16 * 1024**2
"""Longest line: a document of the largest size that the settings offer, escaped."""

LABELS: Final = 256

STATE_BYTES: Final = 64 * 1024

CLOCK_AHEAD: Final = timedelta(days=1)
"""Latest plausible time of recording from now; a later one comes from a wrong clock, or from nobody."""


def _past(time: datetime) -> datetime:
    if within_reach(time) > datetime.now(UTC) + CLOCK_AHEAD:
        raise ValueError("lies in the future")
    return time


def _state(state: Json) -> Json:
    SessionState.model_validate(state)
    if len(parsing.ENCODER.encode(state).encode()) > STATE_BYTES:
        raise ValueError(f"has over {STATE_BYTES} bytes")
    return state


def _attributes(attributes: Json) -> Json:
    AttributesLine.model_validate_json(parsing.ENCODER.encode(attributes))
    return attributes


Past = Annotated[AwareDatetime, AfterValidator(_past)]
"""Time when something was recorded."""

Count = Annotated[int, Field(ge=1, le=1_000_000_000)]
Version = Annotated[int, Field(ge=1, le=1_000_000)]
Short = Annotated[str, StringConstraints(max_length=2_000, pattern=r"^[^\x00]*$")]
Said = Annotated[str, StringConstraints(max_length=100_000, pattern=r"^[^\x00]*$")]
Labels = Annotated[list[Label], Field(max_length=LABELS)]


class ArchiveLine(BaseModel):
    """A line of an archive. Fields that this release does not know are left out: a later one may have added them."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    ORDER: ClassVar[tuple[str, ...]] = ()
    """Fields by which the lines of a file are ordered, without two alike; none if they are not."""

    @property
    def place(self) -> tuple[Any, ...]:
        values = [getattr(self, name) for name in self.ORDER]
        return tuple(value.encode() if isinstance(value, str) else value for value in values)


class Manifest(ArchiveLine):
    format: Literal["imprint-archive"]
    version: int
    user_id: Name
    raw: bool
    counts: dict[str, Annotated[int, Field(ge=0)]]


class SessionLine(ArchiveLine):
    id: Name
    group_id: Name | None
    started_at: Time
    ended_at: Time | None
    state: Annotated[Json, AfterValidator(_state)]

    ORDER = ("id",)


class MessageLine(ArchiveLine):
    session_id: Name
    ordinal: Count
    id: Name
    group_id: Name | None
    agent_id: Name | None
    role: Literal["user", "assistant", "system", "tool"]
    speaker: Name | None
    content: Content
    occurred_at: Time
    importance: Share | None
    extras: Json | None
    audience_labels: Labels
    hidden: bool

    ORDER = ("session_id", "ordinal")


class Statement(ArchiveLine):
    """Fields of a memory that its earlier versions have as well."""

    group_id: Name | None
    session_id: Name | None
    subject: Short
    kind: Kind
    category: Category
    topic: Topic
    content: Said
    structured: Json
    attribute: Short | None
    value: Short | None
    importance: Share
    confidence: Share
    trust: Trust
    status: Literal["active", "superseded", "archived"]
    occurred_at: Time
    said_at: Time | None
    valid_from: Time | None
    valid_to: Time | None
    recorded_at: Past
    updated_at: Past
    expires_at: Time | None
    half_life_days: Annotated[float, Field(gt=0, le=36_500)] | None
    last_used_at: Past | None
    uses: Annotated[int, Field(ge=0, le=1_000_000_000)]
    pinned: bool
    tags: Annotated[list[Name], Field(max_length=200)]
    level: Annotated[int, Field(ge=0, le=100)]
    audience_labels: Labels


Snapshot = create_model(  # type: ignore[call-overload]
    "Snapshot",
    __config__=ConfigDict(extra="ignore", strict=True, frozen=True),
    **{
        name: (hint, None)
        for name, hint in get_type_hints(Statement, include_extras=True).items()
        if name in Statement.model_fields
    },
)
"""Those of these fields that an earlier version has: an older release wrote fewer."""


class VersionLine(ArchiveLine):
    version: Version
    change: Annotated[str, StringConstraints(min_length=1, max_length=50, pattern=r"^[a-z_-]+$")]
    at: Past
    author: Short | None
    rule: Short | None
    reason: Content
    snapshot: Snapshot


class EvidenceLine(ArchiveLine):
    session_id: Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00-\x1f]*$")]
    ordinal: Count | None
    quote: Content
    at: Past

    @model_validator(mode="after")
    def _names_a_message(self) -> Self:
        if bool(self.session_id) != (self.ordinal is not None):
            raise ValueError("names a message by `session_id` and `ordinal`, or none")
        return self


class ArchivedMemory(Statement):
    ordinal: Count
    version: Version
    versions: Annotated[list[VersionLine], Field(max_length=10_000)]
    evidence: Annotated[list[EvidenceLine], Field(max_length=100_000)]

    ORDER = ("ordinal",)

    @model_validator(mode="after")
    def _has_a_history(self) -> Self:
        numbers = [version.version for version in self.versions]
        if numbers != sorted(set(numbers)) or (numbers and numbers[-1] > self.version):
            raise ValueError("`versions` are not numbered up to `version`")
        return self


class RelationLine(ArchiveLine):
    from_: Annotated[Count, Field(alias="from")]
    relation: Relation
    to: Count
    strength: Annotated[float, Field(gt=0, le=1)]
    at: Past

    ORDER = ("from_", "relation", "to")

    @model_validator(mode="after")
    def _has_two_ends(self) -> Self:
        if self.from_ == self.to:
            raise ValueError("relates a memory to itself")
        return self


class DocumentLine(ArchiveLine):
    title: Annotated[str, StringConstraints(max_length=500, pattern=r"^[^\x00-\x1f]*$")]
    uri: Annotated[str, StringConstraints(min_length=1, max_length=1_000, pattern=r"^[^\x00-\x1f]+$")] | None
    group_id: Name | None
    media_type: MediaType
    content: Content
    metadata: Json
    version: Version
    created_at: Past
    updated_at: Past


Status = Literal["pending", "in_progress", "done", "failed", "skipped"]


class StepLine(ArchiveLine, extra="forbid"):
    id: Annotated[str, StringConstraints(max_length=ID, pattern=r"^[^\x00]*$")]
    title: Annotated[str, StringConstraints(max_length=TITLE, pattern=r"^[^\x00]*$")]
    status: Status
    steps: list[StepLine]


class PlanLine(ArchiveLine):
    session_id: Name
    id: Annotated[str, StringConstraints(min_length=1, max_length=ID, pattern=r"^[^\x00]+$")]
    group_id: Name | None
    goal: Annotated[str, StringConstraints(max_length=TITLE, pattern=r"^[^\x00]*$")]
    status: Status
    steps: list[StepLine]
    current: Annotated[str, StringConstraints(max_length=ID, pattern=r"^[^\x00]*$")] | None
    version: Version
    updated_at: Past

    ORDER = ("session_id", "id")

    @model_validator(mode="after")
    def _is_bounded(self) -> Self:
        level, total, depth = self.steps, 0, 0
        while level:
            total, depth = total + len(level), depth + 1
            level = [inner for step in level for inner in step.steps]
        if total > STEPS or depth > DEPTH:
            raise ValueError(f"a plan has at most {STEPS} steps on {DEPTH} levels")
        return self


class EntryLine(ArchiveLine, extra="forbid"):
    """A value or statement of a profile, with the ordinals of the memories that say so."""

    value: Content | None = None
    content: Content | None = None
    memories: Annotated[list[Count], Field(min_length=1, max_length=1_000)]
    confidence: Share
    since: Short | None = None
    category: Category | None = None
    disputed: bool = False
    negated: bool = False
    alternatives: list[EntryLine] = Field(default_factory=list)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if (self.value is None) == (self.content is None):
            raise ValueError("has either `value` or `content`")
        return self


Entries = dict[Short, EntryLine]
Lists = dict[Short, list[EntryLine]]


class PersonLine(ArchiveLine, extra="forbid"):
    slots: Entries = Field(default_factory=dict)
    lists: Lists = Field(default_factory=dict)
    statements: list[EntryLine] = Field(default_factory=list)


class AttributesLine(ArchiveLine, extra="allow"):
    """Attributes of a profile: slots, lists, people, topics, and sections of statements."""

    __pydantic_extra__: dict[str, list[EntryLine]]

    slots: Entries = Field(default_factory=dict)
    lists: Lists = Field(default_factory=dict)
    topics: Lists = Field(default_factory=dict)
    people: dict[Short, PersonLine] = Field(default_factory=dict)
    until: Time | None = None


class ArchivedProfile(ArchiveLine):
    attributes: Annotated[Json, AfterValidator(_attributes)]
    version: Version


class NameLine(ArchiveLine):
    form: Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
    other: Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00]*$")]
    same: bool
    at: Past

    ORDER = ("form", "other")


MODELS: Final[Mapping[str, type[ArchiveLine]]] = {
    "sessions": SessionLine,
    "messages": MessageLine,
    "memories": ArchivedMemory,
    "relations": RelationLine,
    "documents": DocumentLine,
    "plans": PlanLine,
    "profile": ArchivedProfile,
    "names": NameLine,
    "manifest": Manifest,
}
"""The model of a line of each file."""


def parse(file: str, raw: bytes) -> tuple[Any, Json]:
    """Parse a line; return it checked, and as it is. Invalid: it is none of this file, with pointers into the line."""
    try:
        checked = MODELS[file].model_validate_json(raw)
        plain = from_json(raw)
    except ValidationError as error:
        raise Invalid(list(_problems(error))) from None
    except ValueError as error:
        raise Invalid([Problem("", f"is not JSON: {error}")]) from None
    if (fault := parsing.unstorable(plain)) is not None:
        raise Invalid([Problem("", fault)])
    return checked, plain


def _problems(error: ValidationError) -> Iterator[Problem]:
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        pointer = "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in fault["loc"])
        yield Problem(
            pointer, "is required" if fault["type"] == "missing" else fault["msg"].removeprefix("Value error, ")
        )
