"""A tool call continues the trace that it names itself, whatever the propagators of the process are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry import propagate
from opentelemetry.propagators.composite import CompositePropagator

from core.config import Settings
from core.types import Json
from tests.api.mcp.asking import LOCAL, tool_call
from tests.doors import Doors, opened
from tests.spans import PARENT, ids, recording

CALL = tool_call("memory_search", user_id="ada", query="x")
REQUEST = PARENT.replace("4bf9", "aaaa")


@pytest.fixture
def no_propagator() -> Iterator[None]:
    """As with OTEL_PROPAGATORS=none."""
    before = propagate.get_global_textmap()
    propagate.set_global_textmap(CompositePropagator([]))
    yield
    propagate.set_global_textmap(before)


def called(doors: Doors, meta: Json) -> None:
    message = CALL | {"params": CALL["params"] | {"_meta": meta}}
    answer = doors.post("/mcp", message, headers={**LOCAL, "traceparent": REQUEST})
    assert not answer.json()["result"]["isError"], answer.text


@pytest.mark.usefixtures("no_propagator")
def test_a_call_continues_the_trace_of_its_meta_before_that_of_its_request(settings: Settings) -> None:
    with recording() as spans, opened(settings) as doors:
        called(doors, {"traceparent": PARENT, "tracestate": "a=b"})
    span = spans.named("tools/call memory_search")
    assert ids(span) == tuple(PARENT.split("-")[1:3])
    assert span.context.trace_state.to_header() == "a=b"


@pytest.mark.parametrize("meta", [{}, {"traceparent": "00-1"}, {"traceparent": 7}])
def test_a_call_without_a_valid_context_belongs_to_its_request(settings: Settings, meta: Json) -> None:
    with recording() as spans, opened(settings) as doors:
        called(doors, meta)
    request = spans.named("POST /mcp")
    assert ids(spans.named("tools/call memory_search")) == (REQUEST.split("-")[1], f"{request.context.span_id:016x}")


def test_no_text_of_a_context_is_logged(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    meta = {"traceparent": PARENT, "tracestate": "Ada has a cat", "baggage": "Ada has a dog"}
    with opened(settings) as doors:
        called(doors, meta)
    assert "Ada" not in caplog.text
