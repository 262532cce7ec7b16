"""Protocol of a chat client that answers with JSON of a given shape, and the record of one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

from pydantic import BaseModel

from core.inference.quota import Grant

Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Call:
    """Cost and outcome of one call; `answer` is stored only where it could not be used.

    `outcome`: `ok`, `misshapen`, `truncated`, `declined` (by the model), `filtered` (by the provider before the model),
    `unsupported` (the endpoint does not know the format; the question is repeated in another) or `refused`; it ends
    with `+estimated` where the provider did not count the tokens.
    """

    model: str
    prompt: str
    outcome: str
    latency_ms: float
    input_tokens: int = 0
    output_tokens: int = 0
    answer: str | None = None


OnCall = Callable[[Call], None]


class ChatClient(Protocol):
    """Asks one model."""

    @property
    def model(self) -> str:
        """Name of the model, as the provider knows it."""

    def under(self, grant: Grant | None) -> Self:
        """Return the same client with its calls paid from one job's grant."""

    def within(self, seconds: float) -> Self:
        """Return the same client with this limit of time for each call."""

    def ask(self, prompt: str, system: str, text: str, shape: type[Answer], on_call: OnCall) -> Answer:
        """Return the model's answer as `shape`. Later: refused for now. Never: the shape was missed twice."""
