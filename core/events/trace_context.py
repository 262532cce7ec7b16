"""The trace context of an event, stored with it, so that what follows from it belongs to the same trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from core import tracing
from core.events.parsing import PAYLOADS
from core.events.reserved import EMITTED
from core.tracing import Carrier
from core.types import Event, Json

TRACE: Final = "trace"
"""Extension with the context in which an event was accepted or emitted; never returned, like all but a publisher's."""

OTHER: Final = "other"
"""What traces say of names that tenants and publishers choose."""

KNOWN_TYPES: Final = frozenset({*PAYLOADS, *EMITTED})


def stored(extensions: Sequence[Json]) -> Sequence[Json]:
    """Return the extensions of new events with the active context, except of those that came with their own."""
    context = tracing.current()
    if context is None:
        return extensions
    return [own if tracing.received(own) else {**own, TRACE: dict(context)} for own in extensions]


def of(event: Event) -> Carrier | None:
    """Return the context that what follows from an event continues: the service's, else the publisher's."""
    extensions = event.extensions
    return (extensions.get(TRACE) or tracing.received(extensions)) if extensions else None


def within(event: Event, context: Carrier | None) -> Event:
    """Return an event with this context; None: with the one it has."""
    return event if context is None else replace(event, extensions={**(event.extensions or {}), TRACE: dict(context)})


def type_name(event: Event) -> str:
    """Return the type of an event if it is one of the service; publishers choose others freely."""
    return event.event_type if event.event_type in KNOWN_TYPES else OTHER
