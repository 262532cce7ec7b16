"""Conversations in requests: each message is taken, or left out with the reason, and none refuses the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import Field

from api.ingress.answers import Answer
from core.errors import Invalid, Problem
from core.events import message_shapes
from core.events.message_shapes import ClientMessage, Role, UnreadableMessage
from core.types import Json

CONVERSATION: Final = (
    "Messages as OpenAI, Anthropic, Gemini, LangChain or the AI SDK have them, such as "
    '`{"role": "user", "content": "Hi."}`; of pictures and files only name and address are kept'
)

Numbered = tuple[int, ClientMessage]
"""A message with its position in the request; several may be of one position."""


class MessageOutcome(Answer):
    """What became of a message of the request."""

    message: Annotated[int, Field(description="Position in the request, from 0")]
    taken: bool
    reason: Annotated[str | None, Field(description="Why it was left out; null: it was taken")]


def read(messages: Sequence[Any], default_role: Role | None) -> tuple[list[Numbered], dict[int, Problem]]:
    """Return the messages that can be read, and what is wrong with the others by position."""
    taken: list[Numbered] = []
    faults: dict[int, Problem] = {}
    for position, message in enumerate(messages):
        try:
            if not isinstance(message, Mapping):
                raise UnreadableMessage("", "must be an object with a role and a content")
            taken += [(position, part) for part in message_shapes.read(message, default_role)]
        except UnreadableMessage as error:
            faults[position] = Problem(error.pointer, error.reason)
    return taken, faults


def outcomes(count: int, left_out: Mapping[int, str]) -> list[Json]:
    """Return what became of each of `count` messages, given why some were left out."""
    return [
        {"message": position, "taken": position not in left_out, "reason": left_out.get(position)}
        for position in range(count)
    ]


def require_some(taken: Sequence[object], faults: Mapping[int, Problem]) -> None:
    """Refuse a request of which no message can be taken because of faults. Invalid."""
    if faults and not taken:
        raise Invalid([Problem(f"/messages/{n}{fault.pointer}", fault.detail) for n, fault in sorted(faults.items())])
