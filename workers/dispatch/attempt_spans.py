"""Spans of attempts: what an agent does continues the trace in which its dispatch was decided."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from typing import Final
from uuid import UUID

from core import tracing
from core.events import trace_context
from core.tracing import Span
from workers.dispatch.model import Job

CHILD_SECONDS: Final = 600
"""Age up to which an attempt is part of the trace in which its dispatch was decided. An older one begins a trace that
links to it: one of hours, with a gap, would tell how long nobody worked."""


def attempt(job: Job) -> AbstractContextManager[Span]:
    """Return a context that is the span of an attempt."""
    if not tracing.is_on():
        return tracing.UNTRACED
    is_late = job.trace is not None and age_seconds(job.id) > CHILD_SECONDS
    links = [job.trace] if is_late and job.trace else []
    return tracing.span(f"run {job.target}", "consumer", None if is_late else job.trace, links, _attributes(job))


def _attributes(job: Job) -> dict[str, tracing.Value]:
    return {
        "imprint.dispatch.id": str(job.id),
        "imprint.dispatch.attempt": job.attempt,
        "imprint.dispatch.queue": job.queue,
        "imprint.event.type": trace_context.type_name(job.event),
        "imprint.event.hop": job.event.hop,
    }


def age_seconds(dispatch_id: UUID) -> float:
    """Return the seconds since a dispatch was made, by the time in its id; 0 for an id of another version."""
    if dispatch_id.version != 7:  # noqa: PLR2004 - the version whose first 48 bits are a time
        return 0.0
    return time.time() - (dispatch_id.int >> 80) / 1000
