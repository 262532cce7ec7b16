"""Spans of this process, kept instead of exported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from core import trace_export, tracing

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
CARRIER = {"traceparent": PARENT}


@dataclass(frozen=True, slots=True)
class Recorded:
    """The spans that have ended."""

    exporter: InMemorySpanExporter

    def all(self) -> tuple[ReadableSpan, ...]:
        return self.exporter.get_finished_spans()

    def named(self, name: str) -> ReadableSpan:
        """The only span of that name."""
        (span,) = (span for span in self.all() if span.name == name)
        return span


@contextmanager
def recording() -> Iterator[Recorded]:
    """This process has traces, until the end of the block."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    processor = SimpleSpanProcessor(exporter)
    provider.add_span_processor(processor)
    tracing._Process.tracer = trace_export._Tracer(provider, processor)
    try:
        yield Recorded(exporter)
    finally:
        tracing._Process.tracer = None


def ids(span: ReadableSpan) -> tuple[str, str]:
    """The trace of a span, and its parent's id; empty: it has none."""
    parent = f"{span.parent.span_id:016x}" if span.parent else ""
    return f"{span.context.trace_id:032x}", parent


def links(span: ReadableSpan) -> list[str]:
    return [f"{link.context.span_id:016x}" for link in span.links]


def traceparent(span: ReadableSpan) -> str:
    return f"00-{span.context.trace_id:032x}-{span.context.span_id:016x}-{span.context.trace_flags:02x}"
