"""Spans of routed events: what the rules decide on an event continues its trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from core import tracing
from core.events import trace_context
from core.tracing import Span
from core.types import Event


@contextmanager
def routing(batch: Sequence[Event]) -> Iterator[Sequence[Event]]:
    """Yield claimed events, each in the context of a span that ends when the batch is committed, or has failed."""
    if not tracing.is_on():
        yield batch
        return
    spans = [_begin(event, len(batch)) for event in batch]
    try:
        yield [trace_context.within(event, span.carrier) for event, span in zip(batch, spans, strict=True)]
    except Exception as error:
        for span in spans:
            span.fail(error)
        raise
    finally:
        for span in spans:
            span.end()


def _begin(event: Event, count: int) -> Span:
    kind = trace_context.type_name(event)
    attributes: dict[str, tracing.Value] = {
        "imprint.event.type": kind,
        "imprint.event.hop": event.hop,
        "messaging.batch.message_count": count,
    }
    return tracing.begin(f"route {kind}", "consumer", trace_context.of(event), attributes=attributes)


def gathering(name: str, events: Sequence[Event]) -> Event:
    """Return the last of several events on which something acts together, in a context that links to the others.

    A span has one parent, and what acts has many causes.
    """
    *others, last = events
    if not others or not tracing.is_on():
        return last
    parent = trace_context.of(last)
    contexts = {context[tracing.PARENT]: context for event in others if (context := trace_context.of(event))}
    links = [context for context in contexts.values() if context != parent]
    span = tracing.begin(name, "internal", parent, links, {"imprint.events": len(events)})
    span.end()
    return trace_context.within(last, span.carrier)
