"""One structured question to any OpenAI-compatible model; every call is handed to the ledger of calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import openai
from openai.types.chat import ChatCompletionMessageParam
from pydantic import BaseModel, ValidationError

from core import metrics
from core.errors import Never
from core.remote import failure

Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Call:
    """What one call cost and came to; `answer` is kept where it could not be used."""

    model: str
    prompt: str
    outcome: str
    latency_ms: float
    input_tokens: int = 0
    output_tokens: int = 0
    answer: str | None = None


OnCall = Callable[[Call], None]


class Client:
    """Asks a model for JSON of a given shape, and once more with what was wrong if the shape is missed."""

    def __init__(self, base_url: str | None, api_key: str, model: str, timeout_s: float) -> None:
        self.model = model
        # The ledger tries again and honours Retry-After, so the client must not do so underneath it.
        self._client = openai.OpenAI(base_url=base_url, api_key=api_key or "none", timeout=timeout_s, max_retries=0)

    def ask(self, prompt: str, system: str, text: str, shape: type[Answer], on_call: OnCall) -> Answer:
        """The model's answer as `shape`. Later: refused for now. Never: it missed the shape twice."""
        talk: list[ChatCompletionMessageParam] = [
            {"role": "system", "content": system},
            {"role": "user", "content": text},
        ]
        answer, raw, fault = self._try(prompt, talk, shape, on_call)
        if answer is None:
            talk += [{"role": "assistant", "content": raw}, {"role": "user", "content": fault}]
            answer, raw, fault = self._try(f"{prompt}+repair", talk, shape, on_call)
        if answer is None:
            raise Never(f"{self.model} missed the shape of the answer twice. {fault}")
        return answer

    def _try(
        self, prompt: str, talk: Sequence[ChatCompletionMessageParam], shape: type[Answer], on_call: OnCall
    ) -> tuple[Answer | None, str, str]:
        """The parsed answer or None, the raw text, and what is wrong with it."""
        began = time.perf_counter()
        try:
            reply: Any = self._client.chat.completions.create(
                model=self.model, messages=list(talk), response_format=_format(shape)
            )
        except openai.APIError as refusal:
            self._tell(on_call, prompt, "refused", began, None, str(refusal))
            raise failure(f"The model {self.model}", refusal) from refusal
        except ValueError:
            reply = None  # It says that it is JSON, and is none.
        raw, usage = _written(reply), getattr(reply, "usage", None)
        try:
            answer = shape.model_validate_json(raw)
        except ValidationError as error:
            self._tell(on_call, prompt, "misshapen", began, usage, raw)
            return None, raw, _mend(error)
        self._tell(on_call, prompt, "ok", began, usage, None)
        return answer, raw, ""

    def _tell(self, on_call: OnCall, prompt: str, outcome: str, began: float, usage: Any, answer: str | None) -> None:
        asked, told = (usage.prompt_tokens, usage.completion_tokens) if usage else (0, 0)
        metrics.MODEL_CALLS.labels(self.model, outcome).inc()
        metrics.MODEL_TOKENS.labels(self.model, "input").inc(asked)
        metrics.MODEL_TOKENS.labels(self.model, "output").inc(told)
        latency_ms = (time.perf_counter() - began) * 1000
        on_call(Call(self.model, prompt, outcome, latency_ms, asked, told, answer))


def _written(reply: Any) -> str:
    """What the model wrote; nothing, where something else than a model answered."""
    choices = getattr(reply, "choices", None)
    first = choices[0] if isinstance(choices, list) and choices else None
    content = getattr(getattr(first, "message", None), "content", None)
    return content if isinstance(content, str) else ""


def _format(shape: type[BaseModel]) -> Any:
    schema = shape.model_json_schema()
    return {"type": "json_schema", "json_schema": {"name": shape.__name__.lower(), "strict": True, "schema": schema}}


def _mend(error: ValidationError) -> str:
    faults = [f"{'/'.join(map(str, e['loc'])) or 'the answer'}: {e['msg']}" for e in error.errors(include_url=False)]
    return "Answer again, with JSON of the asked shape alone. Wrong were: " + "; ".join(faults[:10])
