"""Agents that end idle sessions, remove expired working memory, and give messages audience labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.audience import labelling
from core.errors import Never
from core.events.publishing import Author
from core.maintenance import sweeps
from core.sessions import idle, working_memory
from core.storage.db import Tx
from core.types import LABEL, Json
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools

MOST_LABELS: Final = 16
"""Labels that one action gives a message."""


def close_idle(tools: Tools, job: Job) -> Outcome:
    """End a page of idle sessions and remove a page of expired working memory; go on while there is more."""
    page = sweeps.PAGE
    sweep = _Sweep(job.tenant_id, tools.settings.session_idle_seconds, page)
    return Outcome(sweep, then_by_result=lambda done: [(job.target, {})] if max(done.values()) >= page else [])


def label_message(_tools: Tools, job: Job) -> Outcome:
    """Give the event's message the audience labels that the action names, and with it what was drawn from it."""
    labels, session_id = job.params.get("labels"), job.event.session_id
    if not isinstance(labels, list) or not labels or len(labels) > MOST_LABELS or not all(map(_is_label, labels)):
        raise Never(f"{job.target} needs up to {MOST_LABELS} audience labels in `labels`, not {labels!r:.200}.")
    if session_id is None:
        raise Never(f"{job.target} needs the event of a message; {job.event.event_type} {job.event.id!r} is none.")
    return Outcome(_Labels(job.tenant_id, session_id, job.event.seq, labels))


def _is_label(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(LABEL, value) is not None


@dataclass(frozen=True, slots=True)
class _Labels:
    """Labels of the message of an event."""

    tenant_id: str
    session_id: str
    event_seq: int
    labels: Sequence[str]

    def write(self, tx: Tx, author: Author) -> Json:
        return labelling.label_message(tx, self.tenant_id, self.session_id, self.event_seq, self.labels, author)


@dataclass(frozen=True, slots=True)
class _Sweep:
    """A page of idle sessions and one of expired working memory, found when they are written."""

    tenant_id: str
    idle_seconds: float
    page: int

    def write(self, tx: Tx, _author: Author) -> Json:
        closed = idle.end_idle(tx, self.tenant_id, self.idle_seconds, self.page)
        return {"closed": closed, "swept": working_memory.sweep(tx, self.page)}
