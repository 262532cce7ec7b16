"""Parses and validates native events and CloudEvents."""

from __future__ import annotations

import difflib
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Literal
from urllib.parse import unquote
from uuid import UUID

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails, to_json
from uuid_utils import uuid7

from core.errors import Invalid, Problem
from core.events import identifiers, reserved
from core.types import LABEL, Json

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

PROBLEMS = 100
"""Faults listed for one batch; with more than that, one of them repeats."""

EXTENSIONS = ("traceparent", "tracestate", "partitionkey")


class Payload(BaseModel):
    """Fields of a payload that are checked; others are allowed."""

    model_config = ConfigDict(extra="allow")


class SessionPayload(Payload):
    session_id: Place
    user_id: Who
    group_id: Who | None = None


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


class SessionEnded(SessionPayload):
    message_count: int | None = Field(None, ge=0)


class MessageAdded(SessionPayload):
    role: Literal["user", "assistant", "system", "tool"]
    content: Content
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


class ToolResultAdded(SessionPayload):
    content: Content
    message_id: Place | None = None
    agent_id: Name | None = None
    tool_name: Name | None = None
    tool_call_id: Name | None = None
    tags: list[Name] | None = None
    audience_labels: AudienceLabels | None = None
    metadata: Json | None = None


class PlanUpdated(SessionPayload):
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


class NativeEvent(BaseModel):
    """An event as a client sends it."""

    model_config = ConfigDict(extra="forbid")

    id: Name | None = None
    event_type: EventType
    source: Name
    subject: Name | None = None
    time: AwareDatetime | None = None
    payload: Json = Field(default_factory=dict)
    correlation_id: Name | None = None
    causation_id: Name | None = None
    traceparent: Name | None = None
    tracestate: Name | None = None
    partitionkey: Name | None = None

    @field_validator("time")
    @classmethod
    def _within_reach(cls, time: datetime | None) -> datetime | None:
        if time is not None and time.year not in YEARS:
            raise ValueError(f"must lie in the years {YEARS[0]} to {YEARS[-1]}")
        return time


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


def parse(body: bytes, headers: Mapping[str, str], *, batch: int, event_bytes: int) -> list[Incoming]:
    """Parse every event in a request or bus message; Invalid names each fault with the event's index.

    `headers` decides the form: `application/x-ndjson`, `application/cloudevents+json`,
    `application/cloudevents-batch+json`, binary CloudEvents (`ce-*` headers), else JSON (one or an array).
    """
    documents = _documents(body, headers)
    if len(documents) > batch:
        raise Invalid([Problem("", f"{len(documents)} events in one batch; send at most {batch}")])
    if len(body) > event_bytes:
        _refuse_large(documents, event_bytes)
    return check(documents)


def check_one(document: object, event_bytes: int) -> Incoming:
    """Check one parsed event that is only inspected, so that it may also be one of the service's own.

    The pointers of Invalid lead into the event itself.
    """
    try:
        _refuse_large([document], event_bytes)
        return check([document], may_be_own=True)[0]
    except Invalid as error:
        raise Invalid([Problem(p.pointer.removeprefix("/0"), p.detail) for p in error.problems]) from None


def check(documents: Sequence[object], *, may_be_own: bool = False) -> list[Incoming]:
    """Turn parsed documents into events; Invalid lists everything that is wrong with them.

    `may_be_own`: the events are only inspected, so that they may also be the service's own.
    """
    events = _check_together(documents, may_be_own=may_be_own)
    if events is None:
        events = _check_each(documents, may_be_own=may_be_own)
    _refuse_unstorable(events)
    return events


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
    except (ValidationError, Invalid):
        return None
    if not may_be_own and any(map(reserved.is_of_service, {native.source for native in natives})):
        return None
    if not may_be_own and any(map(reserved.is_own_type, {native.event_type for native in natives})):
        return None
    return [_incoming(native) for native in natives]


@cache
def _list_of(model: type[BaseModel]) -> TypeAdapter[list[Any]]:
    return TypeAdapter(list[model])  # type: ignore[valid-type]


def _check_each(documents: Sequence[object], *, may_be_own: bool) -> list[Incoming]:
    problems: list[Problem] = []
    events: list[Incoming] = []
    for index, document in enumerate(documents):
        try:
            events.append(_event(document, may_be_own=may_be_own))
        except ValidationError as error:
            problems += [Problem(f"/{index}{_pointer(e)}", _advice(e)) for e in error.errors(include_url=False)]
        except Invalid as error:
            problems += [Problem(f"/{index}{p.pointer}", p.detail) for p in error.problems]
        if len(problems) > PROBLEMS:
            raise Invalid([*problems[:PROBLEMS], Problem("", f"more than {PROBLEMS} problems; the rest is not listed")])
    if problems:
        raise Invalid(problems)
    return events


def _event(document: object, *, may_be_own: bool) -> Incoming:
    native = NativeEvent.model_validate(_as_native(document))
    if not may_be_own:
        _refuse_own(native)
    checked = PAYLOADS.get(native.event_type)
    if checked is not None:
        _check_payload(checked, native.payload)
    return _incoming(native)


def _refuse_own(native: NativeEvent) -> None:
    """Invalid: only the service publishes under this source, or announces this type."""
    if reserved.is_of_service(native.source):
        raise Invalid([Problem("/source", f"`{reserved.SERVICE}` is reserved for the service; use your own name")])
    if reserved.is_own_type(native.event_type):
        raise Invalid([Problem("/event_type", reserved.refusal(native.event_type))])


def _as_native(document: object) -> object:
    return _from_cloud(document) if isinstance(document, dict) and "specversion" in document else document


def _incoming(native: NativeEvent) -> Incoming:
    event_id = native.id or str(uuid7())
    extensions: Json = {}
    if not native.model_fields_set.isdisjoint(EXTENSIONS):
        extensions = {name: value for name in EXTENSIONS if (value := getattr(native, name)) is not None}
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


def _check_payload(model: type[Payload], payload: Json) -> None:
    try:
        model.model_validate(payload, strict=True)
    except ValidationError as error:
        problems = [Problem(f"/payload{_pointer(e)}", _advice(e)) for e in error.errors(include_url=False)]
        raise Invalid(problems) from None


ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def _refuse_unstorable(events: Sequence[Incoming]) -> None:
    """Refuse what PostgreSQL cannot store. All payloads are checked together first, because nearly all are fine."""
    if _fault_of([event.payload for event in events], depth=len(events)) is None:
        return
    faults = ((index, unstorable(event.payload)) for index, event in enumerate(events))
    problems = [Problem(f"/{index}/payload", fault) for index, fault in faults if fault is not None]
    if problems:
        raise Invalid(problems)


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
    if text.count("[") + text.count("{") - depth > NESTING and _is_nested(value):
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


def _is_nested(payload: object) -> bool:
    """Return whether lists and objects are nested deeper than is allowed; iterative, without recursion."""
    level: list[Any] = [payload]
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


def _from_cloud(document: Json) -> Json:
    """Map CloudEvents 1.0 attributes to native names; unknown extensions are dropped, as that standard allows."""
    if document["specversion"] != "1.0":
        raise Invalid([Problem("/specversion", 'only CloudEvents 1.0 is supported; send "1.0"')])
    if "data_base64" in document:
        raise Invalid([Problem("/data_base64", "send the payload as a JSON object in `data`")])
    known = {"id", "source", "subject", "time", *CLOUD_NAMES, *EXTENSIONS}
    return {CLOUD_NAMES.get(name, name): value for name, value in document.items() if name in known}


def _documents(body: bytes, headers: Mapping[str, str]) -> list[object]:
    kind = headers.get("content-type", "").split(";")[0].strip().lower()
    if "ce-specversion" in headers:
        return [_binary(body, headers)]
    if kind == "application/x-ndjson":
        return list(_lines(body))
    parsed = _json(body, "")
    if isinstance(parsed, list):
        return parsed
    return [parsed]


def _binary(body: bytes, headers: Mapping[str, str]) -> Json:
    """Parse binary mode: attributes in `ce-` headers, the payload in the body."""
    attributes = {name[3:]: unquote(value) for name, value in headers.items() if name.startswith("ce-")}
    return {**attributes, "data": _json(body, "/payload") if body else {}}


def _lines(body: bytes) -> Iterable[object]:
    for index, line in enumerate(line for line in body.splitlines() if line.strip()):
        yield _json(line, f"/{index}")


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


def _refuse_large(documents: Sequence[object], event_bytes: int) -> None:
    sizes = ((i, _size(i, d)) for i, d in enumerate(documents))
    problems = [
        Problem(f"/{i}", f"{n} bytes; an event may have at most {event_bytes}") for i, n in sizes if n > event_bytes
    ]
    if problems:
        raise Invalid(problems)


def _size(index: int, document: object) -> int:
    try:
        return len(json.dumps(document, ensure_ascii=False).encode(errors="surrogatepass"))
    except RecursionError:
        raise Invalid([Problem(f"/{index}", _NESTED)]) from None


def _pointer(error: ErrorDetails) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in error["loc"])


def _advice(error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden":
        return _unknown_field(str(error["loc"][-1]))
    advice = {
        "missing": "is required",
        "timezone_aware": "needs a time zone, such as 2026-11-21T10:00:00Z",
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
