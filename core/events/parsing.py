"""Parses and validates native events and CloudEvents."""

from __future__ import annotations

import difflib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeGuard, TypeVar
from urllib.parse import unquote
from uuid import UUID, uuid5

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import ErrorDetails, to_json
from uuid_utils import uuid7

from core.baton import REQUESTS
from core.errors import Invalid, Problem
from core.events import identifiers, message_shapes, reserved
from core.events.message_shapes import UnreadableMessage
from core.types import LABEL, UTC_OFFSET, Json

AT_A_TIME: Final = 20
"""Events after which other requests may compute: some milliseconds of the largest."""

WHOLE_BYTES: Final = 256 * 1024
"""Bytes up to which a body is parsed at once."""

Item = TypeVar("Item")

NAME_CHARACTERS = 200
"""Longest name, characters: two of them, in any script, fit into one index entry."""

_PLAIN = re.compile("[A-Za-z0-9_:@-][A-Za-z0-9_:@.-]*").fullmatch
"""Match an id in which nothing can be wrong, as nearly all are: checked in a fifth of the time."""


def _name(value: str) -> str:
    return value if _PLAIN(value) else _faultless(value, identifiers.fault_of_name(value))


def _place(value: str) -> str:
    return value if _PLAIN(value) else _faultless(value, identifiers.fault_of_place(value))


def _faultless(value: str, fault: str | None) -> str:
    if fault is not None:
        raise ValueError(fault)
    return value


def _uuid(value: str) -> str:
    try:
        return str(UUID(value))
    except ValueError:
        raise ValueError("must be the id of a memory") from None


Name = Annotated[str, StringConstraints(min_length=1, max_length=NAME_CHARACTERS, pattern=r"^[^\x00-\x1f]+$")]
EventType = Annotated[
    str, StringConstraints(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$")
]
Who = Annotated[Name, AfterValidator(_name)]
"""Id of a user or group in an incoming event; in queries an older id (`Name`) is allowed."""

Place = Annotated[Name, AfterValidator(_place)]
"""Id of a session or message, likewise."""

Label = Annotated[str, StringConstraints(pattern=f"^{LABEL}$")]
"""An audience label: a compartment that a reader must hold."""

AudienceLabels = Annotated[list[Label], Field(max_length=16)]

Content = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]
Share = Annotated[float, Field(ge=0, le=1)]

NESTING = 100
"""Levels of lists and objects in a payload: later readers must not run out of stack."""

YEARS = range(1900, 3000)
"""Years in which a time may lie: far from the ends of the calendar, so that it can be converted to any zone."""


def within_reach(time: datetime) -> datetime:
    """Return a time that can be converted to any zone. ValueError: its year is out of reach."""
    if time.year not in YEARS:
        raise ValueError(f"must lie in the years {YEARS[0]} to {YEARS[-1]}")
    return time


Time = Annotated[AwareDatetime, AfterValidator(within_reach)]

NAIVE_TIME = "needs a time zone, such as 2026-11-21T10:00:00Z"
"""Advice for a time without a time zone."""

PROBLEMS = 100
"""Faults listed for one batch; with more than that, one of them repeats."""

EXTENSIONS = ("traceparent", "tracestate", "partitionkey")

_CONTENT: Json = {
    "title": "Content",
    "anyOf": [{"type": "string"}, {"type": "null"}, {"type": "object"}, {"type": "array", "items": {}}],
    "description": "A text, or what clients of models send: null, or parts such as {type, text}",
}


class Payload(BaseModel):
    """Fields of a payload that are checked; others are allowed."""

    model_config = ConfigDict(extra="allow")


class OfSession(Payload):
    session_id: Place
    group_id: Who | None = None


class SessionPayload(OfSession):
    user_id: Who


class LaterPayload(OfSession):
    """Payload of an event that follows the messages of its session."""

    user_id: Annotated[Who | None, Field(description="Default: the user of the session's messages")] = None


class PinnedTexts(BaseModel):
    """Texts that the contexts of a session show whole; null removes one."""

    model_config = ConfigDict(extra="forbid")

    system_prompt: Content | None = None
    task: Content | None = None


class SessionState(Payload):
    """State of a session, or a patch of it: any fields, of which `pinned` is checked."""

    pinned: PinnedTexts | None = None


KeepDays = Annotated[int, Field(strict=True, ge=0, le=36_500)]
"""Days after its end for which a conversation is kept; 0: it leaves at the end. At most a hundred years."""


class SessionStarted(SessionPayload):
    state: SessionState | None = None
    keep_days: KeepDays | None = None


class SessionEnded(LaterPayload):
    message_count: int | None = Field(None, ge=0)


class MessageAdded(SessionPayload):
    role: Annotated[
        Literal["user", "assistant", "system", "tool"],
        Field(description="Also by the names of other clients, such as human, ai, model, developer, function"),
    ]
    content: Annotated[Content, WithJsonSchema(_CONTENT, mode="validation")]
    message_id: Place | None = None
    speaker: Name | None = None
    agent_id: Name | None = None
    participants: list[Who] | None = None
    audience: Literal["group", "private"] | list[Who] | None = None
    importance: Share | None = None
    tool_calls: list[Json] | None = None
    tool_name: Name | None = None
    tool_call_id: Name | None = None
    tags: list[Name] | None = None
    audience_labels: AudienceLabels | None = None
    metadata: Json | None = None


class ToolResultAdded(LaterPayload):
    content: Annotated[Content, WithJsonSchema(_CONTENT, mode="validation")]
    message_id: Place | None = None
    agent_id: Name | None = None
    tool_name: Name | None = None
    tool_call_id: Name | None = None
    tags: list[Name] | None = None
    audience_labels: AudienceLabels | None = None
    metadata: Json | None = None


class PlanUpdated(LaterPayload):
    plan: Json | list[Any] | str


class TaskCompleted(Payload):
    user_id: Who


class SkillPayload(Payload):
    user_id: Who
    skill: Name


class MemoryRequested(Payload):
    user_id: Who
    group_id: Who | None = None
    content: Annotated[str, StringConstraints(min_length=1, max_length=10_000, pattern=r"^[^\x00]*$")]
    audience_labels: AudienceLabels | None = None


class FeedbackGiven(Payload):
    """Feedback of any kind; with a `memory_id` it is on that memory, and says what is to become of it."""

    user_id: Who
    group_id: Who | None = None
    memory_id: Annotated[str, AfterValidator(_uuid)] | None = None
    verdict: Any = None
    content: Any = None
    comment: Content | None = None

    @model_validator(mode="after")
    def _is_complete(self) -> FeedbackGiven:
        if self.memory_id is None:
            return self
        if self.verdict not in VERDICTS:
            raise ValueError(f"feedback on a memory needs `verdict`: {', '.join(VERDICTS)}")
        if self.verdict == "correct" and not (isinstance(self.content, str) and self.content.strip()):
            raise ValueError("a correction needs `content`, the statement as it should be")
        if isinstance(self.content, str) and len(self.content) > STATEMENT_CHARACTERS:
            raise ValueError(f"`content` has more than {STATEMENT_CHARACTERS:,} characters; keep to one statement")
        return self


VERDICTS = ("confirm", "weaken", "correct")
"""Verdicts of feedback on a memory."""

STATEMENT_CHARACTERS = 2_000
"""Longest correction of a memory."""

PAYLOADS: Mapping[str, type[Payload]] = {
    "session.started": SessionStarted,
    "message.added": MessageAdded,
    "tool.result.added": ToolResultAdded,
    "plan.updated": PlanUpdated,
    "session.ended": SessionEnded,
    "task.completed": TaskCompleted,
    "skill.succeeded": SkillPayload,
    "skill.failed": SkillPayload,
    "memory.requested": MemoryRequested,
    "feedback.given": FeedbackGiven,
}
"""Event types whose payload is checked. Others are accepted with any JSON object."""

SHAPES: Mapping[str, Callable[[Json], Json]] = {
    "message.added": message_shapes.normalized,
    "tool.result.added": message_shapes.normalized_result,
}
"""How the payload of a message is brought into the service's own form, by event type."""

OF_SESSIONS: frozenset[str] = frozenset(kind for kind, model in PAYLOADS.items() if issubclass(model, OfSession))
"""Event types whose `subject` may name the session, as `session:ID`."""

_OF_SESSION = "session:"


class NativeEvent(BaseModel):
    """An event as a client sends it."""

    model_config = ConfigDict(extra="forbid")

    id: Name | None = None
    event_type: EventType
    source: Name
    subject: Name | None = None
    time: Time | None = None
    payload: Json = Field(default_factory=dict)
    correlation_id: Name | None = None
    causation_id: Name | None = None
    traceparent: Name | None = None
    tracestate: Name | None = None
    partitionkey: Name | None = None


@dataclass(slots=True)
class Incoming:
    """An event that passed every check and can be accepted as it is. Frozen, it would take four times as long."""

    id: str
    source: str
    event_type: str
    subject: str | None
    time: datetime
    payload: Json
    correlation_id: str
    causation_id: str | None = None
    extensions: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Checked:
    """The events of a batch that can be accepted, with their positions in it, and what is wrong with the others."""

    events: list[Incoming]
    positions: Sequence[int]
    problems: list[Problem] = field(default_factory=list)


def parse(body: bytes, headers: Mapping[str, str], *, batch: int, event_bytes: int) -> list[Incoming]:
    """Parse every event in a request or bus message; Invalid names each fault with the event's index.

    `headers` decides the form: `application/x-ndjson`, `application/cloudevents+json`,
    `application/cloudevents-batch+json`, binary CloudEvents (headers of HTTP, Kafka or AMQP), else JSON (one or an
    array).
    """
    return _all_of(parse_each(body, headers, batch=batch, event_bytes=event_bytes))


def parse_delivery(
    body: bytes, headers: Mapping[str, str], identity: str, *, batch: int, event_bytes: int
) -> list[Incoming]:
    """Parse a message that may be delivered again: as `parse`, but an id that is missing is derived from `identity`."""
    return check(_identified(_batch(body, headers, batch=batch, event_bytes=event_bytes), identity))


def parse_each(body: bytes, headers: Mapping[str, str], *, batch: int, event_bytes: int) -> Checked:
    """Parse as `parse` does, but return the good events beside the faults of the others. Invalid: it is no batch."""
    return check_each(_batch(body, headers, batch=batch, event_bytes=event_bytes))


def _batch(body: bytes, headers: Mapping[str, str], *, batch: int, event_bytes: int) -> list[object]:
    """Return the documents of a batch, a fault in the place of each that is too large. Invalid: there are too many."""
    documents = _documents(body, headers)
    if len(documents) > batch:
        raise Invalid([Problem("", f"{len(documents)} events in one batch; send at most {batch}")])
    if len(body) > event_bytes:
        return [_bounded(document, event_bytes) for part in _parts(documents) for document in part]
    return documents


def _identified(documents: Sequence[object], identity: str) -> list[object]:
    """Return the documents, each event of which has an id: its own, or one of the message's identity and its index."""
    return [
        {**document, "id": str(uuid5(_DELIVERED, f"{identity}/{index}"))}
        if isinstance(document, dict) and document.get("id") is None
        else document
        for index, document in enumerate(documents)
    ]


def check_one(document: object, event_bytes: int) -> Incoming:
    """Check one parsed event that is only inspected, so that it may also be one of the service's own.

    The pointers of Invalid lead into the event itself.
    """
    try:
        return check([_bounded(document, event_bytes)], may_be_own=True)[0]
    except Invalid as error:
        raise Invalid([Problem(p.pointer.removeprefix("/0"), p.detail) for p in error.problems]) from None


def check(documents: Sequence[object], *, may_be_own: bool = False) -> list[Incoming]:
    """Turn parsed documents into events; Invalid lists everything that is wrong with them.

    `may_be_own`: the events are only inspected, so that they may also be the service's own.
    """
    return _all_of(check_each(documents, may_be_own=may_be_own))


def check_each(documents: Sequence[object], *, may_be_own: bool = False) -> Checked:
    """Turn parsed documents into events, and list what is wrong with the others; an Invalid among them is a fault."""
    events = _check_in_parts(documents, may_be_own=may_be_own)
    if events is not None:
        return Checked(events, range(len(events)))
    checked = Checked([], positions := [])
    for index, document in enumerate(document for part in _parts(documents) for document in part):
        try:
            checked.events.append(_event(document, may_be_own=may_be_own))
            positions.append(index)
        except Invalid as error:
            checked.problems.extend(error.below(f"/{index}").problems[: PROBLEMS + 1])
    return checked


def _all_of(checked: Checked) -> list[Incoming]:
    """Return the events of a batch without faults. Invalid: it has some."""
    if checked.problems:
        raise Invalid(listed(checked.problems))
    return checked.events


def listed(problems: list[Problem]) -> list[Problem]:
    """Return problems as they are listed in an answer: not more than can be read."""
    if len(problems) <= PROBLEMS:
        return problems
    return [*problems[:PROBLEMS], Problem("", f"more than {PROBLEMS} problems; the rest is not listed")]


def _check_in_parts(documents: Sequence[object], *, may_be_own: bool) -> list[Incoming] | None:
    """Return the events if nothing is wrong with any of them; other requests compute between the parts."""
    events: list[Incoming] = []
    for part in _parts(documents):
        checked = _check_together(part, may_be_own=may_be_own)
        if checked is None:
            return None
        events += checked
    return events


def _parts(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Yield a few at a time, and give way to other requests in between."""
    for begin in range(0, len(items), AT_A_TIME):
        if begin:
            REQUESTS.give_way()
        yield items[begin : begin + AT_A_TIME]


def require_held_labels(batch: Sequence[Incoming], held: Collection[str] | None) -> None:
    """Refuse events with audience labels that a key with labels lacks; None: the key is not limited. Invalid."""
    if held is None:
        return
    problems = []
    for index, event in enumerate(batch):
        labels = event.payload.get("audience_labels")
        missing = sorted({str(label) for label in labels} - set(held)) if isinstance(labels, list) else []
        if missing:
            detail = f"this key lacks {', '.join(missing)}; use a label that it has"
            problems.append(Problem(f"/{index}/payload/audience_labels", detail))
    if problems:
        raise Invalid(problems)


def _check_together(documents: Sequence[object], *, may_be_own: bool) -> list[Incoming] | None:
    """Return the events if nothing is wrong with any of them, without a call for each; None: something is."""
    try:
        natives = _list_of(NativeEvent).validate_python([_as_native(document) for document in documents])
        payloads = defaultdict[type[Payload], list[Json]](list)
        for native in natives:
            if native.event_type in PAYLOADS:
                payloads[PAYLOADS[native.event_type]].append(native.payload)
        for model, some in payloads.items():
            _list_of(model).validate_python(some, strict=True)
    except (ValidationError, Invalid, UnreadableMessage):
        return None
    if not may_be_own and any(map(reserved.is_of_service, {native.source for native in natives})):
        return None
    if not may_be_own and any(map(reserved.is_own_type, {native.event_type for native in natives})):
        return None
    if _fault_of([native.payload for native in natives], depth=len(natives)) is not None:
        return None
    return [_incoming(native) for native in natives]


@cache
def _list_of(model: type[BaseModel]) -> TypeAdapter[list[Any]]:
    return TypeAdapter(list[model])  # type: ignore[valid-type]


def _event(document: object, *, may_be_own: bool) -> Incoming:
    """Turn one document into an event. Invalid: it has faults; their pointers lead into what was sent."""
    try:
        return _native_event(document, may_be_own=may_be_own)
    except Invalid as error:
        if not _is_cloud(document):
            raise
        raise Invalid([Problem(_cloud_pointer(p.pointer), p.detail) for p in error.problems]) from None


def _native_event(document: object, *, may_be_own: bool) -> Incoming:
    try:
        shaped, unreadable = _as_native(document), None
    except UnreadableMessage as error:
        shaped, unreadable = _as_envelope(document), error
    try:
        native = NativeEvent.model_validate(shaped)
    except ValidationError as error:
        raise Invalid(_problems(error)) from None
    if not may_be_own:
        _refuse_own(native)
    if native.event_type in PAYLOADS:
        _check_payload(PAYLOADS[native.event_type], native.payload, unreadable)
    fault = unstorable(native.payload)
    if fault is not None:
        raise Invalid([Problem("/payload", fault)])
    return _incoming(native)


def _refuse_own(native: NativeEvent) -> None:
    """Invalid: only the service publishes under this source, or announces this type."""
    if reserved.is_of_service(native.source):
        raise Invalid([Problem("/source", f"`{reserved.SERVICE}` is reserved for the service; use your own name")])
    if reserved.is_own_type(native.event_type):
        raise Invalid([Problem("/event_type", reserved.refusal(native.event_type))])


def _problems(error: ValidationError, above: str = "") -> list[Problem]:
    return [Problem(f"{above}{_pointer(e)}", _advice(e)) for e in error.errors(include_url=False)]


def _as_native(document: object) -> object:
    """Return a document as a native event, whose payload is in the service's own form. Invalid, UnreadableMessage."""
    document = _as_envelope(document)
    if not isinstance(document, dict) or not isinstance(payload := document.get("payload"), dict):
        return document
    kind = document.get("event_type")
    if type(kind) is not str or kind not in OF_SESSIONS:
        return document
    shape = SHAPES.get(kind)
    own = payload if shape is None else shape(payload)
    if own.get("session_id") is None and isinstance(subject := document.get("subject"), str):
        own = _of_subject(own, subject)
    return document if own is payload else {**document, "payload": own}


def _of_subject(payload: Json, subject: str) -> Json:
    """Return a payload with the session that its event's subject names, if it names one."""
    session = subject.removeprefix(_OF_SESSION)
    return {**payload, "session_id": session} if session and session != subject else payload


def _as_envelope(document: object) -> object:
    """Return a document with the names of a native event. Invalid: its line is no JSON, or it is too large."""
    if isinstance(document, Invalid):
        raise Invalid(document.problems)  # Raised itself, it would hold the batch by its traceback.
    return _from_cloud(document) if _is_cloud(document) else document


def _is_cloud(document: object) -> TypeGuard[Json]:
    return isinstance(document, dict) and "specversion" in document


def _cloud_pointer(pointer: str) -> str:
    """Return a pointer into a native event as one into the CloudEvent that it was."""
    first, slash, rest = pointer.removeprefix("/").partition("/")
    return f"/{NATIVE_NAMES.get(first, first)}{slash}{rest}" if pointer else pointer


def _incoming(native: NativeEvent) -> Incoming:
    event_id = native.id or str(uuid7())
    extensions: Json = {}
    if not native.model_fields_set.isdisjoint(EXTENSIONS):
        extensions = {name: value for name in EXTENSIONS if (value := getattr(native, name)) is not None}
    if native.time is not None and (minutes := offset_minutes(native.time)):
        extensions[UTC_OFFSET] = minutes
    return Incoming(
        id=event_id,
        source=native.source,
        event_type=native.event_type,
        subject=native.subject,
        time=native.time or datetime.now(UTC),
        payload=native.payload,
        correlation_id=native.correlation_id or event_id,
        causation_id=native.causation_id,
        extensions=extensions,
    )


def offset_minutes(time: datetime) -> int:
    """Return the UTC offset of a time; 0 says nothing about the clock of whoever sent it."""
    return int((time.utcoffset() or timedelta()).total_seconds()) // 60


def _check_payload(model: type[Payload], payload: Json, unreadable: UnreadableMessage | None) -> None:
    """Refuse a payload with a fault; `unreadable`: what is already known to be wrong with its message. Invalid."""
    problems = [] if unreadable is None else [Problem(f"/payload{unreadable.pointer}", unreadable.reason)]
    try:
        model.model_validate(payload, strict=True)
    except ValidationError as error:
        # Of a message that cannot be read, role and content are still those of the client.
        unshaped = () if unreadable is None else ("/payload/role", "/payload/content")
        problems = [*(p for p in _problems(error, "/payload") if not p.pointer.startswith(unshaped)), *problems]
    if problems:
        raise Invalid(problems)


ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def unstorable(value: object) -> str | None:
    """Return why PostgreSQL cannot store a value as JSON; None if it can."""
    return _fault_of(value, depth=0)


def _fault_of(value: object, depth: int) -> str | None:
    """Return why a value cannot be stored as JSON; its first `depth` levels are known to be harmless."""
    if _is_plain(value, depth):
        return None
    try:
        text = ENCODER.encode(value)
        text.encode()
    except (ValueError, UnicodeEncodeError):
        return "contains a number or character that UTF-8 JSON cannot represent"
    except RecursionError:
        return _NESTED
    if text.count("[") + text.count("{") - depth > NESTING and is_nested(value):
        return _NESTED
    if "\\u0000" in text and NUL.search(text):
        return "contains the character U+0000; remove it"
    return None


def _is_plain(value: object, depth: int) -> bool:
    """Return whether nothing in a value could be at fault, as in nearly all: in a third of the time."""
    try:
        text = to_json(value)
    except ValueError:  # Half a surrogate pair, or more levels than it takes.
        return False
    is_flat = text.count(b"[") + text.count(b"{") - depth <= NESTING
    return is_flat and b"\\u0000" not in text and b"NaN" not in text and b"Infinity" not in text


_NESTED = f"nested deeper than {NESTING} levels; flatten it"


def is_nested(value: object) -> bool:
    """Return whether lists and objects are nested deeper than `NESTING`; without recursion, for any depth."""
    level: list[Any] = [value]
    for _ in range(NESTING):
        within = (v.values() if isinstance(v, dict) else v for v in level)
        level = [v for values in within for v in values if isinstance(v, dict | list)]
        if not level:
            return False
    return True


CLOUD_NAMES = {
    "type": "event_type",
    "data": "payload",
    "correlationid": "correlation_id",
    "causationid": "causation_id",
}

NATIVE_NAMES = {native: name for name, native in CLOUD_NAMES.items()}

HEADER_PREFIXES = ("ce-", "ce_", "cloudevents:", "cloudevents_")
"""Beginnings of the headers of binary CloudEvents, in lower case: over HTTP, Kafka and AMQP (two spellings)."""


def _from_cloud(document: Json) -> Json:
    """Map CloudEvents 1.0 attributes to native names; unknown extensions are dropped, as that standard allows."""
    if document["specversion"] != "1.0":
        raise Invalid([Problem("/specversion", 'only CloudEvents 1.0 is supported; send "1.0"')])
    if "data_base64" in document:
        raise Invalid([Problem("/data_base64", "send the payload as a JSON object in `data`")])
    known_names = {"id", "source", "subject", "time", *CLOUD_NAMES, *EXTENSIONS}
    native = {CLOUD_NAMES.get(name, name): value for name, value in document.items() if name in known_names}
    if native.get("payload", ...) is None:
        del native["payload"]  # `data` may be null, which says no more than its absence.
    return native


def _documents(body: bytes, headers: Mapping[str, str]) -> list[object]:
    kind = headers.get("content-type", "").split(";")[0].strip().lower()
    prefix = next((prefix for prefix in HEADER_PREFIXES if f"{prefix}specversion" in headers), None)
    if prefix is not None:
        return [_binary(body, headers, prefix)]
    if kind == "application/x-ndjson":
        return [_line(line) for line in body.splitlines() if line.strip()]
    if len(body) > WHOLE_BYTES and (items := _items(body)) is not None:
        return items
    parsed = _json(body, "")
    if isinstance(parsed, list):
        return parsed
    return [parsed]


def _binary(body: bytes, headers: Mapping[str, str], prefix: str) -> Json:
    """Parse binary mode: attributes in the headers, the payload in the body. Only HTTP percent-encodes headers."""
    decode = unquote if prefix == "ce-" else str
    attributes = {name[len(prefix) :]: decode(value) for name, value in headers.items() if name.startswith(prefix)}
    return {**attributes, "data": _json(body, "/0/data") if body else None}


def _items(body: bytes) -> list[object] | None:
    """Return the items of a list, each parsed alone, so that other requests compute in between.

    None: it is no list that can be read so; what is wrong with it shows as a whole.
    """
    try:
        text = body.decode()
        position, items = _after_spaces(text, 0), list[object]()
        if text[position] != "[":
            return None
        while text[position] != "]":
            item, position = _DECODER.raw_decode(text, _after_spaces(text, position + 1))
            position = _after_spaces(text, position)
            if text[position] not in ",]":
                return None
            items.append(item)
            if not len(items) % AT_A_TIME:
                REQUESTS.give_way()
        return items if _after_spaces(text, position + 1) == len(text) else None
    except (ValueError, IndexError, RecursionError):
        return None


def _after_spaces(text: str, position: int) -> int:
    spaces = _SPACES.match(text, position)
    return spaces.end() if spaces else position


def _line(line: bytes) -> object:
    """Parse a line of NDJSON; a fault takes the place of its event."""
    try:
        return _json(line, "")
    except Invalid as error:
        return Invalid(error.problems)  # Without the traceback, which would stay as long as the batch.


def _json(raw: bytes, pointer: str) -> Any:
    try:
        return json.loads(raw, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise Invalid([Problem(pointer, f"not UTF-8 at byte {error.start}")]) from None
    except ValueError as error:
        raise Invalid([Problem(pointer, f"not JSON: {error}")]) from None
    except RecursionError:
        raise Invalid([Problem(pointer, "nested too deeply; flatten the payload")]) from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number; use null")


_DELIVERED: Final = UUID("6f0c2a52-8d0b-5c5e-9d36-1b7f7a1f4c11")
"""Namespace of ids derived from a message's identity. Another one would make redelivered events new events."""

_DECODER: Final = json.JSONDecoder(parse_constant=_no_constant)

_SPACES: Final = re.compile(r"[ \t\n\r]*")


def _bounded(document: object, event_bytes: int) -> object:
    """Return a document, or the fault that it is too large."""
    try:
        size = len(json.dumps(document, ensure_ascii=False).encode(errors="surrogatepass"))
    except RecursionError:
        return Invalid([Problem("", _NESTED)])
    except TypeError:
        return document  # A line that is no JSON.
    if size > event_bytes:
        return Invalid([Problem("", f"{size} bytes; an event may have at most {event_bytes}")])
    return document


def _pointer(error: ErrorDetails) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in error["loc"])


def _advice(error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden":
        return _unknown_field(str(error["loc"][-1]))
    advice = {
        "missing": "is required",
        "timezone_aware": NAIVE_TIME,
        "model_type": "must be a JSON object",
        "model_attributes_type": "must be a JSON object",
    }
    return advice.get(error["type"], error["msg"].removeprefix("Value error, "))


def _unknown_field(name: str) -> str:
    if name in CLOUD_NAMES:
        native = CLOUD_NAMES[name]
        return f"is a field of CloudEvents, which also say `specversion`; a native event has `{native}` in its place"
    near = difflib.get_close_matches(name, NativeEvent.model_fields, 1, 0.7)
    return f"is not a field of an event; {f'did you mean `{near[0]}`?' if near else 'put it into `payload`'}"
