"""Chat client for OpenAI-compatible endpoints: structured output, one repair, limited answers, metered by the quota."""

from __future__ import annotations

import copy
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import openai
from openai.types.chat import ChatCompletionMessageParam
from pydantic import ValidationError

from core import metrics, tracing
from core.errors import Later, Never, RateLimited
from core.inference import api_errors, model_spans, structured_output
from core.inference.answer_limits import AnswerBounds, AnswerLimits
from core.inference.client import Answer, Call, OnCall
from core.inference.quota import BreakerOpen, Grant, Meter
from core.inference.structured_output import FORMATS
from core.inference.token_bucket import LONGEST_BREAK
from core.language.terms import token_estimate

ESTIMATED: Final = "+estimated"
"""Suffix of the outcome of a call whose tokens the provider did not count."""

REPAIR_CHARACTERS: Final = 8_000
"""Characters of a wrong answer shown to the model again: enough to repair it, without a second flood of tokens."""

REFUSED_FORMAT = re.compile(r"response_format|json_schema|json_object|schema|grammar|guided|structured", re.IGNORECASE)
"""Words in refusals of endpoints that do not know a format."""


Messages = Sequence[ChatCompletionMessageParam]


@dataclass(frozen=True, slots=True)
class Completion:
    """A completion: text, finish reason, refusal and counted tokens."""

    text: str
    ended: str | None
    declined: str | None
    usage: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class UnusableAnswer:
    """An unusable answer, and the correction to send to the model; None: it would give the same answer again."""

    outcome: str
    answer: str
    fault: str | None


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request to a model: prompt name, messages, shape of the answer, and the callback for each call."""

    prompt: str
    talk: Messages
    shape: type[Any]
    on_call: OnCall


class OpenAIClient:
    """Asks a model for JSON of a given shape, and once more with the validation errors if the answer misses it."""

    def __init__(
        self,
        base_url: str | None,
        api_key: str,
        model: str,
        timeout_s: float,
        meter: Meter | None = None,
        bounds: AnswerBounds | None = None,
    ) -> None:
        self.model = model
        # The ledger tries again and honours Retry-After, so the client must not do so underneath it.
        self._client = openai.OpenAI(base_url=base_url, api_key=api_key or "none", timeout=timeout_s, max_retries=0)
        self._meter = meter
        self._grant: Grant | None = None
        # Index of the FORMATS that the endpoint supports, by shape: it may refuse a particular shape.
        self._formats: dict[str, int] = {}
        self._limits = AnswerLimits(bounds)

    def under(self, grant: Grant | None) -> Self:
        """Return the same client with its calls paid from one job's grant; knowledge of the endpoint is shared."""
        bound = copy.copy(self)
        bound._grant = grant  # noqa: SLF001 - of its own kind
        return bound

    def within(self, seconds: float) -> Self:
        """Return the same client with this limit of time for each call."""
        bound = copy.copy(self)
        bound._client = self._client.with_options(timeout=seconds)  # noqa: SLF001 - of its own kind
        return bound

    def ask(self, prompt: str, system: str, text: str, shape: type[Answer], on_call: OnCall) -> Answer:
        """Return the model's answer as `shape`. Later: refused for now. Never: the shape was missed twice."""
        if self._grant is None:
            return self.under(Grant()).ask(prompt, system, text, shape, on_call)
        talk: list[ChatCompletionMessageParam] = [
            {"role": "system", "content": system},
            {"role": "user", "content": text},
        ]
        answer: Answer | UnusableAnswer = self._once(ChatRequest(prompt, talk, shape, on_call))
        if isinstance(answer, UnusableAnswer) and answer.fault is not None:
            previous = answer.answer[:REPAIR_CHARACTERS] or "(nothing)"
            talk += [{"role": "assistant", "content": previous}, {"role": "user", "content": answer.fault}]
            answer = self._once(ChatRequest(f"{prompt}+repair", talk, shape, on_call))
        if isinstance(answer, UnusableAnswer):
            raise Never(f"{self.model} missed the shape of the answer: {answer.outcome}. {answer.fault or ''}".strip())
        return answer

    def _once(self, question: ChatRequest) -> Any:
        """Return the answer or its fault (Wrong); ask again without a format or limit that the endpoint refuses."""
        limits = self._limits.of(question.prompt)
        while True:
            form = FORMATS[self._formats.get(question.shape.__name__, 0)]
            if self._meter:
                self._meter.enter(self._grant_of())
            began = time.perf_counter()
            try:
                completion = self._completion(question, form, limits)
            except openai.APIError as refusal:
                limits = self._refused(question, form, limits, began, refusal)
                continue
            except ValueError:
                completion = Completion("", None, None, None)  # It says that it is JSON, and is none.
            return self._record_answer(question, began, completion)

    def _completion(self, question: ChatRequest, form: str, limits: Mapping[str, float]) -> Completion:
        attributes = model_spans.of_question(question.prompt, limits)
        with model_spans.request("chat", str(self._client.base_url), self.model, attributes) as span:
            completion = _completion_of(self._create(question, form, limits))
            model_spans.note_answer(span, completion.ended, completion.usage)
            return completion

    def _create(self, question: ChatRequest, form: str, limits: Mapping[str, float]) -> Any:
        system, *rest = question.talk
        if form != FORMATS[0]:
            instructions = f"{system.get('content')}\n\n{structured_output.instruction(question.shape)}"
            system = {"role": "system", "content": instructions}
        options: dict[str, Any] = dict(limits)
        if form != FORMATS[-1]:
            options["response_format"] = structured_output.response_format(question.shape, form)
        options["extra_headers"] = tracing.headers()
        return self._client.chat.completions.create(model=self.model, messages=[system, *rest], **options)

    def _record_answer(self, question: ChatRequest, began: float, completion: Completion) -> Any:
        answer = _answer_of(completion, question.shape)
        used = completion.usage or _estimate(question.talk, completion)
        mark = "" if completion.usage else ESTIMATED
        outcome, text = (answer.outcome, answer.answer) if isinstance(answer, UnusableAnswer) else ("ok", None)
        self._tell(question, outcome, began, text, used, mark)
        if self._meter:
            self._meter.answered(self._grant_of(), sum(used))
        return answer

    def _refused(
        self,
        question: ChatRequest,
        form: str,
        limits: dict[str, float],
        began: float,
        refusal: openai.APIError,
    ) -> dict[str, float]:
        """Return the limits to ask again with, where only a limit or the format was refused; else raise Later or Never.

        A refused format is remembered and replaced by the next plainer one.
        """
        text = str(refusal)
        is_of_request = isinstance(refusal, openai.BadRequestError | openai.UnprocessableEntityError)
        less = self._limits.after(text, refusal.param, question.prompt, limits) if is_of_request else None
        if less is not None or (is_of_request and form != FORMATS[-1] and REFUSED_FORMAT.search(text)):
            if less is None:
                self._formats[question.shape.__name__] = FORMATS.index(form) + 1
            self._tell(question, "unsupported", began, _text(text))
            if self._meter:
                self._meter.answered(self._grant_of(), 0)
            return limits if less is None else less
        self._tell(question, "refused", began, _text(text))
        error = api_errors.failure(f"The model {self.model}", refusal)
        if api_errors.is_general(refusal):
            raise self._later(error) from refusal
        if self._meter:
            self._meter.answered(self._grant_of(), 0)
        raise error from refusal

    def _later(self, error: Later | Never) -> Later:
        """Count the refusal for the breaker; if that opens, the work waits without losing an attempt."""
        after = min(error.after, LONGEST_BREAK) if isinstance(error, Later) and error.after else None
        alone = self._meter.refused(self._grant_of(), after) if self._meter else None
        if alone is not None:
            return BreakerOpen(error.detail, max(alone, after or alone))
        kind = RateLimited if isinstance(error, RateLimited) else Later
        return kind(error.detail, after)

    def _tell(
        self,
        question: ChatRequest,
        outcome: str,
        began: float,
        answer: str | None,
        used: tuple[int, int] = (0, 0),
        mark: str = "",
    ) -> None:
        latency_ms = (time.perf_counter() - began) * 1000
        metrics.MODEL_CALLS.labels(self.model, outcome).inc()
        metrics.MODEL_TOKENS.labels(self.model, "input").inc(used[0])
        metrics.MODEL_TOKENS.labels(self.model, "output").inc(used[1])
        question.on_call(Call(self.model, question.prompt, outcome + mark, latency_ms, *used, answer))

    def _grant_of(self) -> Grant:
        return self._grant or Grant()


def _completion_of(reply: Any) -> Completion:
    """Read a completion; empty where the reply is not one."""
    choices = getattr(reply, "choices", None)
    first = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(first, "message", None)
    return Completion(
        _text(getattr(message, "content", None)),
        getattr(first, "finish_reason", None),
        _text(getattr(message, "refusal", None)) or None,
        _usage(getattr(reply, "usage", None)),
    )


def _answer_of(completion: Completion, shape: type[Any]) -> Any:
    """Return the answer, or its fault (Wrong)."""
    if completion.declined is not None:
        fault = (
            "It is only to be written down what the text says, or that it says nothing. Answer with JSON of the shape."
        )
        return UnusableAnswer("declined", completion.declined, fault)
    if completion.ended == "content_filter":
        return UnusableAnswer("filtered", completion.text, None)
    cut_off = completion.ended == "length"
    try:
        return structured_output.read(completion.text, shape, whole=not cut_off)
    except ValidationError as error:
        if cut_off:
            fault = "That was cut off at its greatest length. Answer again, complete and shorter: what matters most."
            return UnusableAnswer("truncated", completion.text, fault)
        return UnusableAnswer("misshapen", completion.text, structured_output.repair_request(error))


def _usage(usage: Any) -> tuple[int, int] | None:
    """Return the counted input and output tokens; None where the provider did not count."""
    counted = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    input_tokens, output_tokens = (number if isinstance(number, int) and number >= 0 else 0 for number in counted)
    return (input_tokens, output_tokens) if input_tokens else None


def _estimate(talk: Messages, completion: Completion) -> tuple[int, int]:
    input_tokens = sum(token_estimate(str(message.get("content", ""))) for message in talk)
    return input_tokens, token_estimate(completion.text or completion.declined or "")


def _text(content: Any) -> str:
    """Return a model's text as PostgreSQL can store it; some endpoints answer a list of parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    # Half a surrogate pair is no text, and PostgreSQL keeps no U+0000.
    return content.encode(errors="replace").decode().replace("\x00", "\ufffd") if isinstance(content, str) else ""
