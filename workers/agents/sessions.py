"""Agents that end idle sessions, remove expired working memory, and give messages audience labels."""

from __future__ import annotations

import re
from typing import Final

from core.audience import labelling
from core.errors import Never
from core.events.pending import Effect
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

    def write(tx: Tx, _author: Author) -> Json:
        closed = idle.end_idle(tx, job.tenant_id, tools.settings.session_idle_seconds, page)
        return {"closed": closed, "swept": working_memory.sweep(tx, page)}

    return Outcome(Effect(write), then_by_result=lambda done: [(job.target, {})] if max(done.values()) >= page else [])


def label_message(_tools: Tools, job: Job) -> Outcome:
    """Give the event's message the audience labels that the action names, and with it what was drawn from it."""
    labels, session_id = job.params.get("labels"), job.event.session_id
    if not isinstance(labels, list) or not labels or len(labels) > MOST_LABELS or not all(map(_is_label, labels)):
        raise Never(f"{job.target} needs up to {MOST_LABELS} audience labels in `labels`, not {labels!r:.200}.")
    if session_id is None:
        raise Never(f"{job.target} needs the event of a message; {job.event.event_type} {job.event.id!r} is none.")

    def write(tx: Tx, author: Author) -> Json:
        return labelling.label_message(tx, job.tenant_id, session_id, job.event.seq, labels, author)

    return Outcome(Effect(write))


def _is_label(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(LABEL, value) is not None
