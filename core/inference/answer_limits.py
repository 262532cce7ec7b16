"""Output limit and temperature of each request by its task, and which of them an endpoint accepts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple


class TaskLimits(NamedTuple):
    """Output limit of a task, in tokens, and its temperature."""

    tokens: int
    temperature: float


TASKS: Final[Mapping[str, TaskLimits]] = {
    "extract": TaskLimits(8_192, 0.1),
    "judge": TaskLimits(4_096, 0.0),
    "summary": TaskLimits(4_096, 0.3),
    "episode": TaskLimits(4_096, 0.3),
    "compress": TaskLimits(8_192, 0.3),
    "patterns": TaskLimits(8_192, 0.3),
    "forget": TaskLimits(2_048, 0.0),
    "answer": TaskLimits(2_048, 0.0),
}
"""By the first word of the prompt's name. The units of a window are part of the answer to `extract`.

Answers are far shorter, but models that reason count their thoughts as output.
"""

OTHER: Final = TaskLimits(4_096, 0.3)
"""Limits of a prompt whose task has no entry."""

LIMIT_NAMES: Final = ("max_tokens", "max_completion_tokens")
"""Names of the output limit, in the order in which they are tried: some servers ignore the second without a word."""

REFUSAL_CHARACTERS: Final = 1_000
"""Characters of a refusal that are searched for a name: some servers repeat the whole request behind it."""

_TOO_LARGE: Final = re.compile(
    r"too (?:large|long|big|many)|context|at most|maximum|less than|range|exceed|must be", re.IGNORECASE
)
_OF_OUTPUT: Final = re.compile(r"max_(?:new_|completion_)?tokens|in the completion|output tokens", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AnswerBounds:
    """Bounds that an operator sets: tokens of any answer, and a temperature instead of those of the tasks."""

    tokens: int = 16_384
    temperature: float | None = None

    def of(self, prompt: str) -> TaskLimits:
        """Return the limits of a prompt's task within these bounds."""
        task = TASKS.get(prompt.partition(".")[0], OTHER)
        temperature = task.temperature if self.temperature is None else self.temperature
        return TaskLimits(min(task.tokens, self.tokens), temperature)


class AnswerLimits:
    """The limits to send to one endpoint; remembers the names that it refuses."""

    def __init__(self, bounds: AnswerBounds | None = None) -> None:
        self._bounds = bounds or AnswerBounds()
        self._refused: set[str] = set()

    def of(self, prompt: str) -> dict[str, float]:
        """Return the parameters of a request: temperature and output limit, unless the endpoint refuses them."""
        limits = self._bounds.of(prompt)
        limit_name = next((name for name in LIMIT_NAMES if name not in self._refused), None)
        sent: dict[str, float] = {limit_name: limits.tokens} if limit_name else {}
        return sent if "temperature" in self._refused else {**sent, "temperature": limits.temperature}

    def after(self, refusal: str, param: str | None, prompt: str, sent: Mapping[str, float]) -> dict[str, float] | None:
        """Return the parameters to try next; None: none of those sent was refused.

        `param`: the parameter that the endpoint names apart, if any. A limit that leaves no room for the question is
        dropped for this question alone: the model's context is one.
        """
        text = refusal[:REFUSAL_CHARACTERS]
        limit_name = next((name for name in LIMIT_NAMES if name in sent), None)
        if limit_name and _OF_OUTPUT.search(text) and _TOO_LARGE.search(text):
            return {name: value for name, value in sent.items() if name != limit_name}
        refused = param if param in sent else _named(text, sent)
        if refused is None:
            return None
        self._refused.add(refused)
        return self.of(prompt)


def _named(text: str, sent: Mapping[str, float]) -> str | None:
    """Return the parameter that a refusal names first."""
    places = {name: match.start() for name in sent if (match := re.search(rf"\b{name}\b", text))}
    return min(places, key=places.__getitem__, default=None)
