"""A question to a model, with rules as the fallback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import structlog
from pydantic import BaseModel

from core import logs
from core.errors import Later, Never
from core.inference import prompts
from core.inference.client import ChatClient, OnCall

log = structlog.get_logger()

Answer = TypeVar("Answer", bound=BaseModel)

UNGROUNDED: Final = (
    "The model's answer was too long, left something out, or had a number, name, date or address in it that its "
    "sources do not have."
)


@dataclass(frozen=True, slots=True)
class ModelPrompt(Generic[Answer]):
    """A prompt text by its versioned name, and the shape of the answers to it.

    `falls_back_on`: failures in place of which rules answer; any other is raised, so that the ledger retries the job.
    """

    name: str
    shape: type[Answer]
    falls_back_on: tuple[type[Later | Never], ...] = (Later, Never)


@dataclass(frozen=True, slots=True)
class ModelRefused:
    """No usable answer: what the provider or the check says."""

    reason: str


def ask(
    client: ChatClient,
    on_call: OnCall,
    prompt: ModelPrompt[Answer],
    question: str,
    is_grounded: Callable[[Answer], bool] = lambda _: True,
) -> Answer | ModelRefused:
    """Ask the model `question` with `prompt`; each call is reported to `on_call`.

    `is_grounded` checks that the answer adds no name, number or date to the question.
    """
    try:
        answer = client.ask(prompt.name, prompts.load(prompt.name), question, prompt.shape, on_call)
    except prompt.falls_back_on as error:
        log.warning("model.fallback", prompt=prompt.name, **logs.fault(error))
        return ModelRefused(error.detail)
    if is_grounded(answer):
        return answer
    log.warning("model.fallback", prompt=prompt.name, error="ungrounded")
    return ModelRefused(UNGROUNDED)
