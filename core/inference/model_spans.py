"""Spans of requests to models, by the semantic conventions for generative AI; without prompts and answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, Literal
from urllib.parse import urlsplit

import openai

from core import tracing
from core.tracing import Span, Value

FINISH_REASONS: Final = frozenset({"stop", "length", "content_filter"})
"""Finish reasons that are exported as the endpoint says them."""

_NAMES: Final[Mapping[str, str]] = {
    "max_tokens": "gen_ai.request.max_tokens",
    "max_completion_tokens": "gen_ai.request.max_tokens",
    "temperature": "gen_ai.request.temperature",
}


@contextmanager
def request(
    operation: Literal["chat", "embeddings"], url: str, model: str, more: Mapping[str, Value] | None = None
) -> Iterator[Span]:
    """Make a request in a span of its own. `url`: of the endpoint, of which host and port are exported."""
    address = urlsplit(url)
    attributes: dict[str, Value] = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": "openai",  # That of the protocol: who answers at the address is not known.
        "gen_ai.request.model": model,
        "server.address": address.hostname or "",
        "server.port": address.port or (443 if address.scheme == "https" else 80),
    }
    with tracing.span(f"{operation} {model}", "client", attributes=attributes | dict(more or {})) as span:
        try:
            yield span
        except openai.APIStatusError as refusal:
            span.note({"http.response.status_code": refusal.status_code})
            raise


def of_question(prompt: str, limits: Mapping[str, float]) -> Mapping[str, Value]:
    """Return the attributes of a question: the name of its prompt, the limits of its answer."""
    sent = {_NAMES[name]: value for name, value in limits.items() if name in _NAMES}
    return {"imprint.prompt": prompt, "gen_ai.output.type": "json", **sent}


def note_answer(span: Span, ended: str | None, usage: tuple[int, int] | None) -> None:
    """Add how an answer has ended, and its tokens where the endpoint has counted them."""
    if ended is not None:
        span.note({"gen_ai.response.finish_reasons": (ended if ended in FINISH_REASONS else "other",)})
    if usage is not None:
        span.note({"gen_ai.usage.input_tokens": usage[0], "gen_ai.usage.output_tokens": usage[1]})
