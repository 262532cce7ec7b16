"""Requests about memories: statements, edits and reviews, with their validation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from api.ingress.bodies import RequestBody
from core.errors import Problem
from core.events.parsing import ENCODER, NESTING, NUL, AudienceLabels, Name, Time, Who, is_nested
from core.memory import typed_values
from core.memory.typed_values import TypedValue
from core.remembering import requests
from core.remembering.requests import Wish
from core.sessions.state import merge_patch
from core.types import Candidate, Category, Json, Kind, Topic, Trust

CHARACTERS: Final = 10_000
"""Characters of a statement or quote: a longer text is a document."""

STRUCTURED_CHARACTERS: Final = 20_000
"""Characters of `structured` as JSON."""

STATEMENTS: Final = 500
"""Statements of one request: they are judged at once, and written in one transaction."""


def _storable(value: Json) -> Json:
    """Validate JSON: storable in PostgreSQL, and bounded in depth and size."""
    if is_nested(value):
        raise ValueError(f"is nested deeper than {NESTING} levels; flatten it")
    try:
        text = ENCODER.encode(value)
        text.encode()
    except (ValueError, UnicodeEncodeError):
        raise ValueError("contains a number or character that UTF-8 JSON cannot represent") from None
    if NUL.search(text):
        raise ValueError("contains the character U+0000; remove it")
    if len(text) > STRUCTURED_CHARACTERS:
        raise ValueError(f"has {len(text)} characters as JSON; send at most {STRUCTURED_CHARACTERS}")
    return value


_NO_NUL = r"^[^\x00]*$"

_SAYS = r"^[^\x00]*[^\s\x00\x1c-\x1f][^\x00]*$"
"""At least one character that is no space; Python knows four more spaces than the pattern syntax."""

Content = Annotated[str, StringConstraints(min_length=1, max_length=CHARACTERS, pattern=_SAYS)]
Reason = Annotated[str, StringConstraints(max_length=2_000, pattern=_NO_NUL)]
Slot = Annotated[str, StringConstraints(max_length=200, pattern=r"^[\w-]+(\.[\w-]+)*$")]
Value = Annotated[str, StringConstraints(min_length=1, max_length=1_000, pattern=_NO_NUL)]
Share = Annotated[float, Field(ge=0, le=1)]
Days = Annotated[float, Field(gt=0, le=36_500)]
Tags = Annotated[list[Name], Field(max_length=50), AfterValidator(lambda names: list(dict.fromkeys(names)))]
Audience = Annotated[
    AudienceLabels,
    AfterValidator(lambda labels: sorted(set(labels))),
    Field(description="Audience labels: a reader must hold all of them"),
]
Structured = Annotated[Json, AfterValidator(_storable)]
Version = Annotated[int, Field(ge=1, description="The version you have seen; 409 if it has changed since")]


class CitedMessage(RequestBody):
    """A stored message as evidence; `quote` must occur in it and defaults to the whole text."""

    session_id: Name
    message_id: Name
    quote: Annotated[str, StringConstraints(min_length=1, max_length=CHARACTERS, pattern=_NO_NUL)] | None = None


class StatementRequest(RequestBody):
    """A statement to remember; missing fields are derived from its words where possible.

    Without `evidence`, the request itself is the evidence.
    """

    user_id: Who
    group_id: Who | None = None
    content: Content
    subject: Annotated[
        Name | None, Field(description="Person or thing that the statement is about; default: the user")
    ] = None
    kind: Annotated[Kind | None, Field(description="Default: the kind of the category")] = None
    category: Category | None = None
    topic: Topic | None = None
    attribute: Annotated[Slot | None, Field(description="A slot such as home.city; requires `value`")] = None
    value: Value | None = None
    typed: Annotated[
        TypedValue | None,
        Field(description="Value of the slot with its type, stored in `structured.typed`; `value` follows from it"),
    ] = None
    structured: Structured = Field(default_factory=dict)
    importance: Share | None = None
    confidence: Share | None = None
    tags: Tags = Field(default_factory=list)
    audience_labels: Audience = Field(default_factory=list)
    pinned: bool = False
    expires_at: Time | None = None
    half_life_days: Days | None = None
    valid_from: Time | None = None
    valid_to: Time | None = None
    occurred_at: Annotated[
        Time | None,
        Field(description="Default: the date named in the content, else the time of the evidence, else now"),
    ] = None
    evidence: list[CitedMessage] = Field([], max_length=50)

    @model_validator(mode="after")
    def _with_typed(self) -> Self:
        """Take the value, and what is stored of it, from the typed one."""
        if self.typed is not None:
            self.structured = {**self.structured, typed_values.FIELD: self.typed.as_json()}
            self.value = self.value if self.value is not None or self.attribute is None else self.typed.text
        return self

    def problems(self) -> Iterator[Problem]:
        """Yield contradictions between fields."""
        if self.typed is not None and self.attribute is None:
            yield Problem("/attribute", "is required with `typed`: name the slot, such as preference.volume")
        yield from span_problems(self.valid_from, self.valid_to)
        yield from slot_problems(self.attribute, self.value)

    def candidate(self, event_id: str, at: datetime) -> Candidate:
        """Return the statement as a candidate whose evidence is the request. Invalid: it has expired by then."""
        wish = Wish(**{name: getattr(self, name) for name in Wish.model_fields})
        read = requests.statement(wish, self.user_id, event_id, at)
        return read if self.confidence is None else replace(read, confidence=self.confidence)


class StatementBatch(RequestBody):
    """Statements to store in one transaction."""

    memories: Annotated[list[StatementRequest], Field(min_length=1, max_length=STATEMENTS)]


class Patch(RequestBody):
    """Edit of a memory: omitted fields stay unchanged; null clears an optional field."""

    content: Content | None = None
    subject: Name | None = None
    kind: Kind | None = None
    category: Category | None = None
    topic: Topic | None = None
    attribute: Slot | None = None
    value: Value | None = None
    typed: Annotated[TypedValue | None, Field(description="New typed value; `value` follows from it")] = None
    structured: Annotated[Structured | None, Field(description="JSON Merge Patch (RFC 7396): null removes a key")] = (
        None
    )
    importance: Share | None = None
    confidence: Share | None = None
    trust: Annotated[Trust | None, Field(description="Default: confirmed, because a person has seen it")] = None
    tags: Tags | None = None
    audience_labels: Audience | None = None
    pinned: bool | None = None
    occurred_at: Time | None = None
    valid_from: Time | None = None
    valid_to: Time | None = None
    expires_at: Time | None = None
    half_life_days: Days | None = None
    version: Version | None = None
    reason: Reason | None = None

    def fields(self, row: Any) -> Json:
        """Return the columns of the memory's row that change, with their new values."""
        names = self.model_fields_set - {"version", "reason", "typed"}
        columns = {name: getattr(self, name) for name in names} | {
            n: [] for n in names & {"tags", "audience_labels"} if getattr(self, n) is None
        }
        if "structured" in names:
            columns["structured"] = {} if self.structured is None else merge_patch(row.structured, self.structured)
        columns |= self._typed_fields(row, columns)
        return {name: value for name, value in columns.items() if value != getattr(row, name)}

    def _typed_fields(self, row: Any, columns: Mapping[str, Any]) -> Json:
        """Return what follows from a typed value; a value in words without its type makes the stored type obsolete."""
        structured = dict(columns.get("structured", row.structured))
        if self.typed is not None:
            structured[typed_values.FIELD] = self.typed.as_json()
            return {"structured": structured, "value": columns.get("value") or self.typed.text}
        if "value" in columns and columns["value"] != row.value and typed_values.FIELD in structured:
            del structured[typed_values.FIELD]
            return {"structured": structured}
        return {}

    def problems(self, row: Any, fields: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield the problems of the edited memory."""
        for name in sorted(self.model_fields_set - CLEARABLE - {"version", "reason", "typed"}):
            if getattr(self, name) is None:
                yield Problem(f"/{name}", "may not be null; leave it out to keep it")
        if "structured" in fields:
            try:
                _storable(fields["structured"])
            except ValueError as error:
                yield Problem("/structured", str(error))
        stands = {name: fields.get(name, getattr(row, name)) for name in ("valid_from", "valid_to", *SLOT)}
        if fields.keys() & {"valid_from", "valid_to"}:
            yield from span_problems(stands["valid_from"], stands["valid_to"])
        if fields.keys() & SLOT:
            yield from slot_problems(stands["attribute"], stands["value"])


class Review(RequestBody):
    """A person's verdict on a memory."""

    verdict: Annotated[
        Literal["confirm", "reject", "release"],
        Field(description="confirm: correct. release: unobjectionable, becomes a candidate. reject: no longer served"),
    ]
    reason: Reason | None = None
    version: Version | None = None


SLOT: Final = frozenset({"attribute", "value"})

CLEARABLE: Final = SLOT | {
    *("valid_from", "valid_to", "expires_at", "half_life_days", "tags", "structured", "audience_labels")
}
"""Fields of a memory that may be cleared."""


def span_problems(since: datetime | None, until: datetime | None) -> Iterator[Problem]:
    """Yield a problem if a validity ends before it begins."""
    if since is not None and until is not None and until < since:
        yield Problem("/valid_to", "is before `valid_from`; the memory is valid from `valid_from` to `valid_to`")


def slot_problems(attribute: str | None, value: str | None) -> Iterator[Problem]:
    """Yield a problem if an attribute has no value, or a value no attribute."""
    if (attribute is None) != (value is None):
        missing = "value" if value is None else "attribute"
        yield Problem(f"/{missing}", "is required: give `attribute` and `value` together, such as home.city and Lisbon")
