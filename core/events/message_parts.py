"""Parts of a message as OpenAI, Anthropic, Gemini, LangChain and the AI SDK write them. Pure.

Texts are kept. Tool calls and tool results are told apart from them. Any other part, such as a picture, is described by
type, name, address and size; bytes are dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from core.types import Json

Part = Mapping[str, Any]

DESCRIBED_CHARACTERS: Final = 2_000
"""Longest name or address that is kept of a part: a longer text in its place is the file itself."""

DEPTH: Final = 4
"""Levels of a part in which its name and address are looked for: `source.content` of Anthropic is the deepest."""

_TEXTS: Final = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
"""Parts of text, and the field that holds it."""

_KEYED: Final = (
    "function_call",
    "function_response",
    "inline_data",
    "file_data",
    "executable_code",
    "code_execution_result",
)
"""Parts without a type, which Gemini names by the key of their value."""

_THOUGHTS: Final = ("reason", "think", "thought")
_CALLS: Final = ("tool_use", "_call")
_RESULTS: Final = ("tool_result", "_output", "function_response", "code_execution_result")
"""Endings or, for thoughts, substrings of the types of parts."""

_UI_TOOL: Final = "tool-"
_UI_RESERVED: Final = frozenset({"tool-call", "tool-result", "tool-invocation", "tool-error"})
"""The AI SDK puts the name of a tool into the type of a part; these are types of its own."""

_IDS: Final = ("tool_use_id", "tool_call_id", "toolCallId", "call_id", "id")
_TOOL_NAMES: Final = ("name", "toolName", "tool_name")
_ARGUMENTS: Final = ("arguments", "input", "args", "code", "action")
_OUTPUTS: Final = ("content", "output", "result", "response", "outputs", "errorText", "error")

_NAMES: Final = frozenset({"filename", "file_name", "name", "title", "displayname", "display_name"})
_MEDIA_TYPES: Final = frozenset(
    {"media_type", "mediatype", "mime_type", "mimetype", "contenttype", "content_type", "format"}
)
_ADDRESSES: Final = frozenset(
    {"url", "image_url", "image", "fileuri", "file_uri", "uri", "file_id", "fileid", "audio_url", "href"}
)
_BYTES: Final = frozenset({"data", "file_data", "base64", "b64_json", "bytes", "result", "encrypted_content"})


class UnreadableMessage(ValueError):
    """A message that cannot be read: where (a JSON pointer into the message), and what to send."""

    def __init__(self, pointer: str, reason: str) -> None:
        self.pointer, self.reason = pointer, reason
        super().__init__(f"{pointer or '/'}: {reason}")


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Result of a tool as text, with descriptions of parts that are no text."""

    text: str
    call_id: str | None = None
    tool: str | None = None
    described: Sequence[Json] = ()


@dataclass(slots=True)
class MessageParts:
    """The parts of one message, by what they are."""

    texts: list[str] = field(default_factory=list)
    calls: list[Json] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    described: list[Json] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The texts that are not blank, one below the other; one alone as it is."""
        return "\n".join(text for text in self.texts if text.strip()) if len(self.texts) > 1 else "".join(self.texts)

    def add_content(self, content: object, pointer: str = "/content") -> None:
        """Add a content in any of its forms: text, nothing, one part, or a list. UnreadableMessage: none of them."""
        if isinstance(content, str):
            self.texts.append(content)
        elif isinstance(content, Mapping):
            self.add_part(content, pointer)
        elif isinstance(content, list):
            for index, part in enumerate(content):
                self._add_item(part, f"{pointer}/{index}")
        elif content is not None:
            raise UnreadableMessage(pointer, "must be a text, null, or a list of parts such as {type, text}")

    def _add_item(self, item: object, pointer: str) -> None:
        if isinstance(item, str):
            self.texts.append(item)
        elif isinstance(item, Mapping):
            self.add_part(item, pointer)
        else:
            raise UnreadableMessage(pointer, "must be a text, or a part such as {type, text}")

    def add_part(self, part: Part, pointer: str = "") -> None:
        """Add one part. UnreadableMessage: its text is no text."""
        kind = kind_of(part)
        if is_ui_tool(part) or kind in {"dynamic_tool", "tool_invocation"}:
            self._add_ui_tool(part)
        elif is_thought(part, kind):
            self.described.append(describe(part))
        elif kind.endswith(_RESULTS):
            self.add_result(result_of(part))
        elif kind.endswith(_CALLS):
            self._add_hosted_call(part, kind)
        elif kind in _TEXTS or isinstance(part.get("text"), str):
            self._add_text(part.get(_TEXTS.get(kind, "text")), pointer)
        else:
            self._add_other(part)

    def _add_text(self, text: object, pointer: str) -> None:
        if text is not None and not isinstance(text, str):
            raise UnreadableMessage(f"{pointer}/text", "must be a text")
        self.texts.append(text or "")

    def add_output(self, output: object) -> None:
        """Add the content of a tool's message: parts, or data, which becomes text. UnreadableMessage."""
        if output is None or _are_parts(output):
            self.add_content(output)
        else:
            self.texts.append(output_text(output)[0])

    def add_call(self, call: Json) -> None:
        """Add a tool call, unless it is already there under its id."""
        if call.get("id") is None or all(call["id"] != other.get("id") for other in self.calls):
            self.calls.append(call)

    def add_result(self, result: ToolResult) -> None:
        """Add the result of a call, unless it is already there under its id."""
        if result.call_id is None or all(result.call_id != other.call_id for other in self.results):
            self.results.append(result)

    def _add_hosted_call(self, part: Part, kind: str) -> None:
        """Add a call; of a tool that the provider ran, the result comes with it."""
        self.add_call(call_of(part, kind))
        if kind != "function_call" and any(part.get(key) for key in ("output", "outputs")):
            self.add_result(result_of(part))

    def _add_ui_tool(self, part: Part) -> None:
        """Add a call of the AI SDK with the result that it may have."""
        whole = part["toolInvocation"] if isinstance(part.get("toolInvocation"), Mapping) else part
        name = _first_text(whole, ("toolName",)) or str(part.get("type")).removeprefix(_UI_TOOL)
        call = {**whole, "name": name}
        self.add_call(call_of(call, "tool_call"))
        if any(whole.get(key) is not None for key in ("output", "result", "errorText")):
            self.add_result(result_of(call))

    def _add_other(self, part: Part) -> None:
        """Describe a picture, sound or file; spoken words that come with it as a transcript are text."""
        self.described.append(describe(part))
        transcript = _within(part, "transcript")
        if isinstance(transcript, str):
            self.texts.append(transcript)


def kind_of(part: Part) -> str:
    """Return the type of a part, in lower case with underscores: its own, or the key under which Gemini has it."""
    own = part.get("type")
    if isinstance(own, str):
        return _snake(own)
    named = next((key for key in part if _snake(str(key)) in _KEYED and part[key] is not None), None)
    return _snake(named) if named else "text" if isinstance(part.get("text"), str) else "part"


def is_item(part: Part) -> bool:
    """Return whether a part can stand alone, as an item of OpenAI's Responses: a call, a result, or reasoning."""
    kind = kind_of(part)
    return kind.endswith(("_call", "_call_output")) or kind == "reasoning"


def is_result(part: Part) -> bool:
    """Return whether a part is the result of a tool."""
    return kind_of(part).endswith(_RESULTS)


def is_ui_tool(part: Part) -> bool:
    """Return whether this is a tool's part of a message of the AI SDK's user interface."""
    own = part.get("type")
    return isinstance(own, str) and own.startswith(_UI_TOOL) and own not in _UI_RESERVED and "toolCallId" in part


def is_thought(part: Part, kind: str) -> bool:
    """Return whether a part is what a model thought, which nobody was told."""
    return part.get("thought") is True or any(marker in kind for marker in _THOUGHTS)


def call_of(part: Part, kind: str = "tool_call") -> Json:
    """Return a tool call in OpenAI's form; one that has that form already, or names its arguments so, as it is."""
    value = _value(part)
    if isinstance(value.get("function"), Mapping) or (value is part and kind == "tool_call" and "arguments" in part):
        return dict(part)
    name = _first_text(value, _TOOL_NAMES) or kind.removesuffix("_call")
    given: Any = next((value[key] for key in _ARGUMENTS if value.get(key) is not None), {})
    function = {"name": name, "arguments": given if isinstance(given, str) else _json(given)}
    identity = _first_text(value, ("call_id", "toolCallId", "tool_call_id", "id"))
    return ({"id": identity} if identity else {}) | {"type": "function", "function": function}


def result_of(part: Part) -> ToolResult:
    """Return the result in a part, or in a message of a tool."""
    value = _value(part)
    given = next((value[key] for key in _OUTPUTS if value.get(key) is not None), None)
    text, described = output_text(given)
    return ToolResult(text, _first_text(value, _IDS), _first_text(value, _TOOL_NAMES), described)


def output_text(given: object) -> tuple[str, list[Json]]:
    """Return what a tool gave as text, with descriptions of what is none; data is written as JSON."""
    if isinstance(given, Mapping) and "value" in given and isinstance(given.get("type"), str):
        given = given["value"]  # The AI SDK says beside the value whether it is text, JSON or parts.
    if given is None or isinstance(given, str):
        return given or "", []
    if not _are_parts(given):
        return _json(given), []
    inner = MessageParts()
    inner.add_content(given)
    return inner.text, inner.described


def describe(part: Part) -> Json:
    """Return what a part is: type, name, media type, address, and for bytes only their number."""
    described: Json = {"type": part["type"] if isinstance(part.get("type"), str) else kind_of(part)}
    for key, value in _leaves(part, DEPTH):
        name = key.lower()
        if name in _NAMES and len(value) <= DESCRIBED_CHARACTERS:
            described.setdefault("name", value)
        elif name in _MEDIA_TYPES and len(value) <= DESCRIBED_CHARACTERS:
            described.setdefault("media_type", value)
        elif name in _ADDRESSES and _is_address(value):
            described.setdefault("url", value)
        elif name in _ADDRESSES | _BYTES:
            described.setdefault("bytes", _size(value))
    return described


def _are_parts(given: object) -> bool:
    """Return whether a value is a part or a list of them, and no data of a tool."""
    items = given if isinstance(given, list) else [given]
    return bool(items) and all(
        isinstance(item, str) or (isinstance(item, Mapping) and kind_of(item) != "part") for item in items
    )


def _value(part: Part) -> Part:
    """Return the object that Gemini has under a key; else the part itself."""
    if isinstance(part.get("type"), str):
        return part
    return next((v for k, v in part.items() if _snake(str(k)) in _KEYED and isinstance(v, Mapping)), part)


def _first_text(value: Part, keys: Sequence[str]) -> str | None:
    return next((value[key] for key in keys if isinstance(value.get(key), str) and value[key]), None)


def _within(part: Part, key: str) -> object:
    return next((value for name, value in _leaves(part, DEPTH) if name == key), None)


def _leaves(value: object, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the texts in an object with their keys, those of its own level first."""
    if not isinstance(value, Mapping) or not depth:
        return
    yield from ((key, text) for key, text in value.items() if isinstance(text, str) and key != "type")
    for inner in value.values():
        yield from _leaves(inner, depth - 1)


def _is_address(value: str) -> bool:
    is_inline = value[:5].lower() == "data:"
    return not is_inline and len(value) <= DESCRIBED_CHARACTERS and (":" in value or len(value) <= _ID_CHARACTERS)


_ID_CHARACTERS: Final = 200
"""Longest id of an uploaded file; a longer text without a scheme is its content."""


def _size(value: str) -> int:
    """Return the number of bytes in base64, with or without `data:…,` before it."""
    head, _, tail = value.partition(",")
    body = tail if head[:5].lower() == "data:" else value
    return len(body) * 3 // 4 - body[-2:].count("=")


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        raise UnreadableMessage("/content", "is nested too deeply; flatten it") from None
