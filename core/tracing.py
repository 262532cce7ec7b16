"""Distributed traces. Off unless the environment names a collector; OpenTelemetry is imported only then.

Contexts are those of W3C Trace Context. A trace leaves the service, often for another company, so names and attributes
of spans are words and numbers of this code, of the settings and of the default rules: no text, no id and no name that a
tenant, a user or another service has chosen.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Final, Literal, Protocol, TypeGuard

import structlog

from core import deferred

log = structlog.get_logger()

Carrier = Mapping[str, str]
"""A trace context as the headers of a message: `traceparent`, and `tracestate` where there is one."""

Value = str | int | float | bool | tuple[str, ...]

Kind = Literal["internal", "server", "client", "producer", "consumer"]

PARENT: Final = "traceparent"
STATE: Final = "tracestate"

MOST_LINKS: Final = 128
"""Links of a span: as many as the libraries keep by default."""

STATE_CHARACTERS: Final = 512
"""Longest `tracestate` that is passed on: as long as the standard asks for at least."""

_CONTEXT: Final = re.compile("(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}").fullmatch

_MOST_MEMBERS: Final = 32
_MEMBER: Final = re.compile(
    r"(?P<key>[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})"
    r"=[ -+\--<>-~]{0,255}[!-+\--<>-~]"
).fullmatch
"""A member of `tracestate`, by the standard."""

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_PROTOCOL: Final = "http/protobuf"


class Span(Protocol):
    """A span that has begun."""

    @property
    def carrier(self) -> Carrier | None:
        """The context of the span, for what follows from it; None: there are no traces."""

    def note(self, attributes: Mapping[str, Value | None]) -> None:
        """Add attributes; those that are None are left out."""

    def rename(self, name: str) -> None:
        """Rename the span."""

    def fail(self, reason: BaseException | str) -> None:
        """Set the status to error. Of an exception only the class is exported: its message may quote a user."""

    def end(self) -> None:
        """End the span, unless it is the active span of a `with`, which ends it."""


class Tracer(Protocol):
    """Makes and exports the spans of a process."""

    def begin(
        self, name: str, kind: Kind, parent: Carrier | None, links: Sequence[Carrier], attributes: Mapping[str, Value]
    ) -> Span:
        """Begin a span that is not active."""

    def active(self, span: Span) -> AbstractContextManager[Span]:
        """Make a span that has begun the active one, and end it; an exception that leaves the block fails it."""

    def current(self) -> Carrier | None:
        """Return the context of the active span; None: there is none."""

    def ids(self) -> Mapping[str, str]:
        """Return `trace_id` and `span_id` of the active span; nothing if there is none."""

    def stop(self) -> None:
        """Export what is left, within a second."""


class _NoSpan:
    """The span of a process without traces."""

    carrier: Carrier | None = None

    def note(self, attributes: Mapping[str, Value | None]) -> None:
        """Do nothing."""

    def rename(self, name: str) -> None:
        """Do nothing."""

    def fail(self, reason: BaseException | str) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""


_NO_SPAN: Final[Span] = _NoSpan()
UNTRACED: Final[AbstractContextManager[Span]] = nullcontext(_NO_SPAN)
"""The block of a process without traces."""


class _Process:
    """The tracer of this process; None: there are no traces."""

    tracer: Tracer | None = None


def start(service: str) -> None:
    """Export the traces of this process, if the environment names a collector; after the last fork.

    `service`: its name, such as `imprint-api`. Wrong variables are logged and stop no process.
    """
    if _Process.tracer is not None or not _is_wanted(os.environ):
        return
    protocol = _first(os.environ, _PROTOCOLS)
    if protocol not in {"", _PROTOCOL}:
        log.warning("tracing.off", reason=f"{protocol!r} is not supported. Set {_PROTOCOLS[1]} to {_PROTOCOL}.")
        return
    try:
        _Process.tracer = deferred.load("core.trace_export:create")(service)
    except ModuleNotFoundError as error:
        log.warning("tracing.off", reason=f"{error.name} is not installed: pip install 'imprint-service[otel]'.")
    except ValueError as error:
        log.warning("tracing.off", reason=f"A variable OTEL_* is wrong: {error}")


def stop() -> None:
    """Export what is left, within a second."""
    tracer, _Process.tracer = _Process.tracer, None
    if tracer is not None:
        tracer.stop()


def is_on() -> bool:
    """Return whether this process has traces."""
    return _Process.tracer is not None


def begin(
    name: str,
    kind: Kind = "internal",
    parent: Carrier | None = None,
    links: Sequence[Carrier] = (),
    attributes: Mapping[str, Value] | None = None,
) -> Span:
    """Begin a span that is ended by `end`. Without a parent it is a child of the active span, if there is one."""
    tracer = _Process.tracer
    if tracer is None:
        return _NO_SPAN
    return tracer.begin(name, kind, parent, links[-MOST_LINKS:], attributes or {})


def span(
    name: str,
    kind: Kind = "internal",
    parent: Carrier | None = None,
    links: Sequence[Carrier] = (),
    attributes: Mapping[str, Value] | None = None,
) -> AbstractContextManager[Span]:
    """Return a context in which a new span is the active one. An exception that leaves it fails the span."""
    tracer = _Process.tracer
    if tracer is None:
        return UNTRACED
    return tracer.active(begin(name, kind, parent, links, attributes))


def current() -> Carrier | None:
    """Return the context of the active span, to be stored with what follows from it; None: there is none."""
    tracer = _Process.tracer
    return None if tracer is None else tracer.current()


def headers() -> Carrier:
    """Return the headers by which another service continues the trace."""
    return current() or {}


def ids() -> Mapping[str, str]:
    """Return `trace_id` and `span_id` of the active span; nothing if there is none."""
    tracer = _Process.tracer
    return {} if tracer is None else tracer.ids()


def received(fields: Mapping[str, object]) -> Carrier | None:
    """Return the trace context in the headers of a message or the extensions of an event; None: none is valid."""
    parent, state = fields.get(PARENT), fields.get(STATE)
    if not isinstance(parent, str) or not _CONTEXT(parent):
        return None
    return {PARENT: parent, STATE: state} if _is_state(state) else {PARENT: parent}


def _is_state(value: object) -> TypeGuard[str]:
    """Return whether this is a `tracestate` by the standard. The library would log the text of a malformed one."""
    if not isinstance(value, str) or len(value) > STATE_CHARACTERS:
        return False
    members = [_MEMBER(member) for part in value.split(",") if (member := part.strip(" \t"))]
    keys = {member["key"] for member in members if member}
    return 0 < len(keys) == len(members) <= _MOST_MEMBERS


def _is_wanted(environment: Mapping[str, str]) -> bool:
    """Return whether a collector is named, and neither the SDK nor its exporter is switched off."""
    is_disabled = environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    exporter = environment.get("OTEL_TRACES_EXPORTER", "").strip() or "otlp"
    return not is_disabled and exporter == "otlp" and bool(_first(environment, _ENDPOINTS))


def _first(environment: Mapping[str, str], names: Sequence[str]) -> str:
    """Return the first of these variables that is set; empty: none is."""
    return next((value for name in names if (value := environment.get(name, "").strip())), "")
