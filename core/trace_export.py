"""Spans of OpenTelemetry, exported over OTLP. Imported only where traces are on (`core.tracing`)."""

from __future__ import annotations

import importlib.metadata
import logging
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import structlog
from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Link, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from core.tracing import Carrier, Kind, Span, Tracer, Value

log = structlog.get_logger()

STOP_SECONDS: Final = 1.0
"""Longest wait at the end of a process for the spans that are not exported yet."""

_KINDS: Final[Mapping[Kind, SpanKind]] = {
    "internal": SpanKind.INTERNAL,
    "server": SpanKind.SERVER,
    "client": SpanKind.CLIENT,
    "producer": SpanKind.PRODUCER,
    "consumer": SpanKind.CONSUMER,
}

_W3C: Final = TraceContextTextMapPropagator()
"""The only propagator, whatever OTEL_PROPAGATORS says: baggage may hold contents, and would go to other services."""


def create(service: str) -> Tracer:
    """Return the tracer of this process. ValueError: a variable OTEL_* is wrong."""
    processor = BatchSpanProcessor(_Exporter(OTLPSpanExporter()))
    # Not set as the global provider: libraries would export spans of their own, with the arguments of calls.
    provider = TracerProvider(resource=resource(service), shutdown_on_exit=False)
    provider.add_span_processor(processor)
    # Last, so that wrong variables are logged. Later records of the library quote attributes and the collector's URL,
    # which may hold a password, and come with each dropped span; `_Exporter` logs what matters.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL + 1)
    return _Tracer(provider, processor)


def resource(service: str) -> Resource:
    """Return the attributes of this process; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence."""
    own = {
        "service.name": service,
        "service.version": importlib.metadata.version("imprint-service"),
        "service.instance.id": str(uuid.uuid4()),
    }
    return Resource.create(own).merge(OTELResourceDetector().detect())


class _Tracer:
    """Makes spans with the provider of this process."""

    def __init__(self, provider: TracerProvider, processor: BatchSpanProcessor) -> None:
        self._tracer = provider.get_tracer("imprint")
        self._processor = processor

    def begin(
        self, name: str, kind: Kind, parent: Carrier | None, links: Sequence[Carrier], attributes: Mapping[str, Value]
    ) -> Span:
        context = None if parent is None else _W3C.extract(parent, contexts.Context())
        linked = [Link(_context_of(carrier)) for carrier in links]
        return _Span(self._tracer.start_span(name, context, _KINDS[kind], attributes, linked))

    @contextmanager
    def active(self, span: Span) -> Iterator[Span]:
        token = contexts.attach(trace.set_span_in_context(span.raw if isinstance(span, _Span) else trace.INVALID_SPAN))
        try:
            yield span
        except Exception as error:
            span.fail(error)
            raise
        finally:
            contexts.detach(token)
            span.end()

    def current(self) -> Carrier | None:
        carrier: dict[str, str] = {}
        _W3C.inject(carrier)
        return carrier or None

    def ids(self) -> Mapping[str, str]:
        context = trace.get_current_span().get_span_context()
        if not context.is_valid:
            return {}
        return {"trace_id": trace.format_trace_id(context.trace_id), "span_id": trace.format_span_id(context.span_id)}

    def stop(self) -> None:
        # The processor would wait for half a minute, and for the timeout of an export beyond that.
        last = threading.Thread(target=self._processor.shutdown, name="last-spans", daemon=True)
        last.start()
        last.join(STOP_SECONDS)


class _Span:
    """A span of the SDK."""

    def __init__(self, span: trace.Span) -> None:
        self.raw = span

    @property
    def carrier(self) -> Carrier | None:
        carrier: dict[str, str] = {}
        _W3C.inject(carrier, trace.set_span_in_context(self.raw))
        return carrier

    def note(self, attributes: Mapping[str, Value | None]) -> None:
        self.raw.set_attributes({name: value for name, value in attributes.items() if value is not None})

    def rename(self, name: str) -> None:
        self.raw.update_name(name)

    def fail(self, reason: BaseException | str) -> None:
        self.raw.set_attribute("error.type", reason if isinstance(reason, str) else type(reason).__qualname__)
        self.raw.set_status(StatusCode.ERROR)

    def end(self) -> None:
        self.raw.end()


def _context_of(carrier: Carrier) -> trace.SpanContext:
    return trace.get_current_span(_W3C.extract(carrier, contexts.Context())).get_span_context()


class _Exporter(SpanExporter):
    """Exports by another exporter; logs once that the collector is away, and once that it is back."""

    def __init__(self, inner: SpanExporter) -> None:
        self._inner = inner
        self._fails = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._inner.export(spans)
        fails = result is not SpanExportResult.SUCCESS
        if fails and not self._fails:
            log.warning("tracing.unsent", spans=len(spans), hint="The collector refuses spans, or is away.")
        elif self._fails and not fails:
            log.info("tracing.sent_again", spans=len(spans))
        self._fails = fails
        return result

    def shutdown(self) -> None:
        self._inner.shutdown()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        return self._inner.force_flush(timeout_millis)
