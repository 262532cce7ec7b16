"""Messages as clients send them: OpenAI, Anthropic, Gemini, LangChain, AI SDK. Pure.

`read` takes a message of any of them; `normalized` the payload of a `message.added`, which is one message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from core.events import message_parts
from core.events.message_parts import MessageParts, UnreadableMessage
from core.types import Json

__all__ = ["ClientMessage", "UnreadableMessage", "normalized", "normalized_result", "read"]

Role = Literal["user", "assistant", "system", "tool"]

ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "chatbot": "assistant",
    "gpt": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
"""Roles by the names that clients give them, in lower case."""

DESCRIBED: Final = "content_parts"
"""Key in the metadata of a message: its parts that are no text."""

SPEAKER_CHARACTERS: Final = 200
"""Longest `name` that becomes the speaker of a message."""

_NATIVE: Final = frozenset(ROLES.values())

_SHAPED: Final = frozenset(
    {"parts", "name", "function_call", "toolInvocations", "experimental_attachments", "refusal", "audio"}
)
"""Fields beside role and content that say or name something."""

_SAID: Final = frozenset({"content", "tool_calls", *_SHAPED} - {"name"})
"""Fields of which a message has at least one; none of them is copied as it is."""

_ITEM: Final = frozenset({"type", "call_id", "output", "arguments", "input", "summary", "encrypted_content"})
"""Fields of an item of OpenAI's Responses, which is a part that stands alone."""


@dataclass(frozen=True, slots=True)
class ClientMessage:
    """A message in the service's own terms.

    `tool_calls`: in OpenAI's form. `parts`: what is no text, by type, name, address or size. `extra`: all other fields,
    as they were sent.
    """

    role: Role
    text: str
    speaker: str | None = None
    tool_calls: tuple[Json, ...] = ()
    tool_call_id: str | None = None
    tool_name: str | None = None
    parts: tuple[Json, ...] = ()
    extra: Json = field(default_factory=dict)

    @property
    def is_blank(self) -> bool:
        """Whether it has no word."""
        return not self.text.strip()


def read(message: Mapping[str, Any], default_role: Role | None = None) -> list[ClientMessage]:
    """Return the messages in what a client calls one: results of tools become messages of their own.

    `default_role`: of a message that names none. UnreadableMessage: its role is unknown, or it has no content.
    """
    flat = _unwrapped(message)
    role = _role(flat, default_role)
    parts = _parts(flat, role)
    dropped = _SAID | {"role"} | (_ITEM if _is_item(flat) else {"type"} if _names_role(flat) else set())
    extra = {name: value for name, value in flat.items() if name not in dropped}
    if role == "tool" and not parts.results:
        return [_of_tool(flat, parts, extra)]
    own = ClientMessage(role, parts.text, _speaker(flat), tuple(parts.calls), parts=tuple(parts.described), extra=extra)
    results = [
        ClientMessage("tool", result.text, None, (), result.call_id, result.tool, tuple(result.described))
        for result in parts.results
    ]
    if results and own.is_blank and not own.tool_calls and not own.parts:
        return [replace(results[0], extra=extra), *results[1:]]
    # A user's message brings the results of earlier calls; an assistant's calls first.
    return [*results, own] if role == "user" else [own, *results]


def normalized(payload: Json) -> Json:
    """Return the payload of a `message.added` with role and content as the service has them; most have them already.

    One payload stays one message: results of tools beside words are kept in its metadata. UnreadableMessage.
    """
    role = payload.get("role")
    if type(payload.get("content")) is str and type(role) is str and role in _NATIVE and _SHAPED.isdisjoint(payload):
        return payload
    message = _merged(read(payload))
    given: Json = {
        "speaker": payload.get("speaker") or message.speaker,
        "tool_calls": list(message.tool_calls),
        "tool_call_id": message.tool_call_id,
        "tool_name": message.tool_name,
    }
    own = {**message.extra, **{name: value for name, value in given.items() if value}}
    return _with_parts({**own, "role": message.role, "content": message.text}, message.parts)


def normalized_result(payload: Json) -> Json:
    """Return the payload of a `tool.result.added` with a text as its content. UnreadableMessage."""
    if type(payload.get("content")) is str or "content" not in payload:
        return payload
    text, described = message_parts.output_text(payload["content"])
    return _with_parts({**payload, "content": text}, described)


def _role(message: Json, default: Role | None) -> Role:
    """Return the role of a message; LangChain has it in the type, and so have the items of OpenAI's Responses."""
    if _is_item(message):
        return "tool" if message_parts.is_result(message) else "assistant"
    name, given = next(((n, message[n]) for n in ("role", "type") if message.get(n) is not None), ("role", default))
    if name == "type" and given == "message":
        name, given = "role", default
    if given is None:
        raise UnreadableMessage("/role", "is required")
    role = ROLES.get(_role_name(given))
    if role is None:
        raise UnreadableMessage(f"/{name}", f"{str(given)[:50]!r} is no role; use user, assistant, system or tool")
    return role


def _role_name(given: object) -> str:
    """Return a role in lower case; that of LangChain's class `AIMessageChunk` is `ai`."""
    return str(given).strip().lower().removesuffix("chunk").removesuffix("message")


def _names_role(message: Json) -> bool:
    """Return whether `type` says only who speaks, or that this is a message."""
    return _role_name(message.get("type")) in {"", "chat", *ROLES}


def _is_item(message: Json) -> bool:
    """Return whether this is an item of OpenAI's Responses without a role: a call, a result, or reasoning."""
    return message.get("role") is None and isinstance(message.get("type"), str) and message_parts.is_item(message)


def _unwrapped(message: Mapping[str, Any]) -> Json:
    """Return a message without its wrapper: LangChain's `{type, data}` and `{lc, id, kwargs}`, Gemini's `{content}`."""
    content = message.get("content")
    if isinstance(content, Mapping) and isinstance(content.get("parts"), list):
        return {**{name: value for name, value in message.items() if name != "content"}, **content}
    key = "kwargs" if "lc" in message else "data"
    inner = message.get(key)
    if not isinstance(inner, Mapping) or "content" not in inner or "content" in message:
        return dict(message)
    outer = {name: value for name, value in message.items() if name not in {key, "lc"}}
    if key == "kwargs":
        path = outer.pop("id", None)
        outer["type"] = path[-1] if isinstance(path, list) and path else inner.get("type")
    if inner.get("role") is not None:
        outer.pop("type", None)  # `chat` with a role of its own.
    return {**inner, **outer}


def _parts(message: Json, role: Role) -> MessageParts:
    """Return what a message says, from all fields that may hold it. UnreadableMessage."""
    parts = MessageParts()
    if _is_item(message):
        parts.add_part(message)
        return parts
    if _SAID.isdisjoint(message):
        raise UnreadableMessage("/content", "is required; send null or an empty text where there are no words")
    _add_calls(parts, message)
    parts.add_content(message.get("parts"), "/parts")
    spoken = parts.text.strip()
    content = message.get("content")
    if role == "tool":
        parts.add_output(content)
    elif not (isinstance(content, str) and content.strip() in spoken):  # The AI SDK repeats the words of its parts.
        parts.add_content(content)
    _add_fields(parts, message)
    return parts


def _add_calls(parts: MessageParts, message: Json) -> None:
    """Add the tool calls that have a field of their own; those in the content repeat them."""
    beside = message.get("additional_kwargs")
    older = beside.get("tool_calls") if isinstance(beside, Mapping) else None
    calls = message.get("tool_calls") or older or []
    if not isinstance(calls, list) or not all(isinstance(call, Mapping) for call in calls):
        raise UnreadableMessage("/tool_calls", "must be a list of objects")
    for call in calls:
        parts.add_call(message_parts.call_of(call))
    if isinstance(message.get("function_call"), Mapping):
        parts.add_call(message_parts.call_of(message["function_call"], "function_call"))


def _add_fields(parts: MessageParts, message: Json) -> None:
    """Add a refusal, spoken words, attachments, and the tool calls of older versions of the AI SDK."""
    if isinstance(message.get("refusal"), str):
        parts.texts.append(message["refusal"])
    if isinstance(message.get("audio"), Mapping):
        parts.add_part({"type": "audio", **message["audio"]})
    for name, kind in (("experimental_attachments", "file"), ("toolInvocations", "tool-invocation")):
        for item in message[name] if isinstance(message.get(name), list) else []:
            if isinstance(item, Mapping):
                parts.add_part({"type": kind, **item})


def _of_tool(message: Json, parts: MessageParts, extra: Json) -> ClientMessage:
    identity, name = (_text(message, key) for key in ("tool_call_id", "tool_name"))
    return ClientMessage(
        "tool", parts.text, None, (), identity, name or _text(message, "name"), tuple(parts.described), extra
    )


def _merged(messages: Sequence[ClientMessage]) -> ClientMessage:
    """Return one message: that of the person or model with the results beside it, or all results together."""
    if len(messages) == 1:
        return messages[0]
    own = next((message for message in messages if message.role != "tool"), None)
    results = [message for message in messages if message is not own]
    parts = [*(own.parts if own else ()), *(part for result in results for part in _as_parts(result, own is not None))]
    if own is not None:
        return replace(own, parts=tuple(parts))
    return replace(results[0], text="\n\n".join(result.text for result in results), parts=tuple(parts))


def _as_parts(result: ClientMessage, with_text: bool) -> list[Json]:
    """Return the result of a tool as a part of another message, with its own parts."""
    text = result.text if with_text else None
    given = {"type": "tool_result", "id": result.tool_call_id, "name": result.tool_name, "text": text}
    return [{name: value for name, value in given.items() if value}, *result.parts]


def _with_parts(payload: Json, parts: Sequence[Json]) -> Json:
    """Return a payload with descriptions of its parts in the metadata; a client's own key of that name stays."""
    metadata = payload.get("metadata") or {}
    if not parts or not isinstance(metadata, dict):
        return payload
    return {**payload, "metadata": {DESCRIBED: list(parts), **metadata}}


def _speaker(message: Json) -> str | None:
    name = _text(message, "name")
    return name if name and len(name) <= SPEAKER_CHARACTERS and name.isprintable() else None


def _text(message: Json, name: str) -> str | None:
    value = message.get(name)
    return value if isinstance(value, str) and value else None
