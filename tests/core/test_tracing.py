from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.trace import TraceState
from structlog.testing import capture_logs

from core import deferred, tracing
from tests.spans import CARRIER, PARENT, recording

COLLECTOR = "OTEL_EXPORTER_OTLP_ENDPOINT"
HEAVY = ("opentelemetry.sdk.trace", "opentelemetry.exporter", "opentelemetry.proto", "google.protobuf", "requests")
"""The client of Redis imports other parts of OpenTelemetry where it finds them."""


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """An environment that names no collector."""
    for name in (COLLECTOR, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER"):
        monkeypatch.delenv(name, raising=False)
    yield monkeypatch
    tracing.stop()


def test_processes_without_a_collector_import_nothing_that_makes_or_exports_spans() -> None:
    code = (
        "import sys, api.app, workers.processes, workers.clock\n"
        "from core import tracing\n"
        "tracing.start('imprint-api')\n"
        "with tracing.span('x') as span: span.note({'a': 1}); span.fail('b'); span.rename('y')\n"
        f"sys.exit(' '.join(name for name in sys.modules if name.startswith({HEAVY})) or 0)"
    )
    environment = {"PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=False, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_traces_nothing_is_carried_and_every_span_is_the_same() -> None:
    assert tracing.span("a") is tracing.span("b")
    assert tracing.begin("a").carrier is None
    tracing.begin("a").end()
    assert (tracing.current(), tracing.headers(), tracing.ids()) == (None, {}, {})


@pytest.mark.parametrize(
    ("name", "value"), [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none"), (COLLECTOR, " ")]
)
def test_the_standard_switches_leave_traces_off(bare: pytest.MonkeyPatch, name: str, value: str) -> None:
    bare.setenv(COLLECTOR, "http://127.0.0.1:9")
    bare.setenv(name, value)
    tracing.start("imprint-api")
    assert not tracing.is_on()


def test_a_protocol_that_is_not_supported_is_said_and_stops_nothing(bare: pytest.MonkeyPatch) -> None:
    bare.setenv(COLLECTOR, "http://127.0.0.1:9")
    bare.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    with capture_logs() as lines:
        tracing.start("imprint-api")
    assert not tracing.is_on()
    assert "http/protobuf" in lines[0]["reason"]


def test_a_missing_package_is_said_and_stops_nothing(bare: pytest.MonkeyPatch) -> None:
    def load(_reference: str) -> None:
        raise ModuleNotFoundError(name="opentelemetry.sdk")

    bare.setenv(COLLECTOR, "http://127.0.0.1:9")
    bare.setattr(deferred, "load", load)
    with capture_logs() as lines:
        tracing.start("imprint-api")
    assert not tracing.is_on()
    assert "imprint-service[otel]" in lines[0]["reason"]


@pytest.mark.parametrize(
    ("headers", "context"),
    [
        (CARRIER, CARRIER),
        ({"traceparent": PARENT, "tracestate": "a=b", "more": "x"}, {"traceparent": PARENT, "tracestate": "a=b"}),
        ({"traceparent": PARENT, "tracestate": "a=" + "b" * 600}, CARRIER),
        ({"traceparent": PARENT, "tracestate": 7}, CARRIER),
        (
            {"traceparent": PARENT, "tracestate": "a=b, t@c=d e,,"},
            {"traceparent": PARENT, "tracestate": "a=b, t@c=d e,,"},
        ),
        ({"traceparent": PARENT, "tracestate": "Ada has a cat"}, CARRIER),
        ({"traceparent": PARENT, "tracestate": "a=b,A=c"}, CARRIER),
        ({"traceparent": PARENT, "tracestate": "a=b=c"}, CARRIER),
        ({"traceparent": PARENT, "tracestate": "a=é"}, CARRIER),
        ({"traceparent": PARENT, "tracestate": "a=b\n"}, CARRIER),
        ({"traceparent": PARENT, "tracestate": "a=b,a=c"}, CARRIER),
        ({"traceparent": PARENT, "tracestate": ",".join(f"a{n}=b" for n in range(33))}, CARRIER),
        ({"traceparent": PARENT, "tracestate": " ,"}, CARRIER),
        ({}, None),
        ({"traceparent": "00-1-2-03"}, None),
        ({"traceparent": PARENT + "-x"}, None),
        ({"traceparent": PARENT.replace("00f067aa0ba902b7", "0" * 16)}, None),
        ({"traceparent": PARENT.replace("4bf92f3577b34da6a3ce929d0e0e4736", "0" * 32)}, None),
        ({"traceparent": "ff" + PARENT[2:]}, None),
        ({"traceparent": 5}, None),
    ],
)
def test_of_received_headers_only_a_valid_context_is_taken(
    headers: dict[str, object], context: dict[str, str] | None
) -> None:
    assert tracing.received(headers) == context


@given(
    st.lists(
        st.sampled_from(["a=b", "c@d=e f", "1@a=x", " g=h\t", "", "1=a", "a=", "*=q"]) | st.text(max_size=9),
        max_size=40,
    )
)
def test_the_library_keeps_every_tracestate_that_is_taken_and_no_other(members: list[str]) -> None:
    state = ",".join(members)
    taken = tracing.received({"traceparent": PARENT, "tracestate": state}) or {}
    assert ("tracestate" in taken) == (len(TraceState.from_header([state])) > 0)


def test_spans_of_a_block_are_children_of_the_active_one_and_the_callers_parent_comes_first() -> None:
    with recording() as spans, tracing.span("outer", "server", CARRIER) as outer:
        assert tracing.current() == outer.carrier
        with tracing.span("inner"):
            assert tracing.ids()["trace_id"] == PARENT.split("-")[1]
    inner, outer_span = spans.all()
    assert (inner.name, outer_span.name) == ("inner", "outer")
    assert inner.parent is not None
    assert inner.parent.span_id == outer_span.context.span_id
    assert outer_span.parent is not None
    assert outer_span.parent.is_remote
