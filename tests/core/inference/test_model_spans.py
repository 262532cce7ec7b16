from __future__ import annotations

import httpx2
import openai
import pytest

from core.inference import model_spans
from tests.spans import recording

URL = "https://user:password@models.example.com/v1?key=x"


def test_a_question_is_told_by_its_prompt_and_limits_and_its_answer_by_its_tokens() -> None:
    told = model_spans.of_question("extract.v1", {"max_completion_tokens": 100, "temperature": 0.1})
    with recording() as spans, model_spans.request("chat", URL, "m", told) as span:
        model_spans.note_answer(span, "stop", (7, 3))
    assert dict(spans.named("chat m").attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.request.max_tokens": 100,
        "gen_ai.request.temperature": 0.1,
        "gen_ai.output.type": "json",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 3,
        "imprint.prompt": "extract.v1",
        "server.address": "models.example.com",
        "server.port": 443,
    }


def test_a_finish_reason_that_the_endpoint_made_up_is_not_exported() -> None:
    with recording() as spans, model_spans.request("chat", URL, "m") as span:
        model_spans.note_answer(span, "Ada said so", None)
    assert (spans.named("chat m").attributes or {})["gen_ai.response.finish_reasons"] == ("other",)


def test_a_refusal_is_told_by_its_status() -> None:
    answer = httpx2.Response(429, request=httpx2.Request("POST", URL))
    with recording() as spans, pytest.raises(openai.RateLimitError), model_spans.request("embeddings", URL, "m"):
        raise openai.RateLimitError("Ada", response=answer, body=None)
    attributes = dict(spans.named("embeddings m").attributes or {})
    assert (attributes["http.response.status_code"], attributes["error.type"]) == (429, "RateLimitError")
