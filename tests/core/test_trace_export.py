from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from core import trace_export, tracing
from tests.collector import collecting
from tests.patience import wait_until
from tests.ports import free_port
from tests.spans import PARENT, recording

LIBRARY = "opentelemetry"


@pytest.fixture
def otel(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """An environment without variables of OpenTelemetry but those that the test sets; no traces at its end."""
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    level = logging.getLogger(LIBRARY).level
    yield monkeypatch
    tracing.stop()
    logging.getLogger(LIBRARY).setLevel(level)


def test_what_has_ended_is_exported_at_the_end_of_the_process(otel: pytest.MonkeyPatch, tmp_path: Path) -> None:
    otel.setenv("OTEL_BSP_SCHEDULE_DELAY", "3600000")
    with collecting(tmp_path) as collector:
        otel.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        tracing.start("imprint-clock")
        with tracing.span("work", "consumer", attributes={"imprint.events": 2}):
            pass
        tracing.stop()
        (span,) = collector.spans()
    assert (span.name, span.service, span.kind, span.attributes) == (
        "work",
        "imprint-clock",
        "consumer",
        {"imprint.events": 2},
    )
    assert span.process.keys() >= {"service.version", "service.instance.id", "telemetry.sdk.name"}


def test_the_operators_names_go_before_those_of_the_process(otel: pytest.MonkeyPatch) -> None:
    otel.setenv("OTEL_SERVICE_NAME", "memory")
    otel.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
    attributes = trace_export.resource("imprint-api").attributes
    assert attributes["service.name"] == "memory"
    assert attributes["deployment.environment.name"] == "test"


def test_a_collector_that_never_answers_delays_the_end_by_a_second(otel: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        otel.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        tracing.start("imprint-api")
        tracing.begin("work").end()
        began = time.monotonic()
        tracing.stop()
        took = time.monotonic() - began
    assert took < 8, "the timeout of an export is ten seconds, and the processor would wait for thirty"


def test_of_an_unreachable_collector_one_line_is_logged(otel: pytest.MonkeyPatch) -> None:
    otel.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    otel.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.1")
    with capture_logs() as lines:
        tracing.start("imprint-api")
        for number in range(3):
            tracing.begin(f"work {number}").end()
            time.sleep(0.2)
        wait_until(lambda: bool(lines))
        tracing.stop()
    assert [line["event"] for line in lines] == ["tracing.unsent"]


def test_of_spans_that_are_dropped_the_library_says_nothing(
    otel: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    otel.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "2")
    otel.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        otel.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        tracing.start("imprint-api")
        for _ in range(50):
            tracing.begin("work").end()
        tracing.stop()
    assert not [record for record in caplog.records if record.name.startswith(LIBRARY)]


def test_of_a_context_that_the_library_refuses_no_text_is_logged(
    otel: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    otel.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    tracing.start("imprint-api")
    # As a row of an older version holds it, whose `tracestate` was not looked at.
    tracing.begin("work", parent={"traceparent": PARENT, "tracestate": "Ada has a cat"}).end()
    assert "Ada" not in caplog.text


def test_a_wrong_variable_is_told_by_the_library(otel: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    otel.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    otel.setenv("OTEL_TRACES_SAMPLER", "allways_on")
    tracing.start("imprint-api")
    assert "allways_on" in caplog.text


def test_a_caller_that_does_not_sample_is_followed(otel: pytest.MonkeyPatch) -> None:
    unsampled = {"traceparent": PARENT[:-2] + "00"}
    with recording() as spans:
        with tracing.span("work", parent=unsampled) as span:
            carried = span.carrier
        assert spans.all() == ()
    assert carried is not None
    assert carried["traceparent"].endswith("-00"), "so that what follows is not sampled either"


def test_the_sampler_of_the_environment_decides(otel: pytest.MonkeyPatch) -> None:
    otel.setenv("OTEL_TRACES_SAMPLER", "always_off")
    with recording() as spans, tracing.span("work"):
        pass
    assert spans.all() == ()


def test_an_exception_is_exported_by_its_class_alone() -> None:
    with recording() as spans, pytest.raises(ValueError, match="Ada"), tracing.span("work"):
        raise ValueError("Ada has a cat.")
    (span,) = spans.all()
    assert not span.status.is_ok
    assert span.status.description is None
    assert dict(span.attributes or {}) == {"error.type": "ValueError"}
    assert span.events == ()


def test_a_span_has_a_bounded_number_of_links() -> None:
    carriers = [{"traceparent": f"00-{n:032x}-{n:016x}-01"} for n in range(1, 301)]
    with recording() as spans:
        tracing.begin("many", links=carriers).end()
    (span,) = spans.all()
    assert len(span.links) == tracing.MOST_LINKS
