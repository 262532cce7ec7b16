"""Agent that ends idle sessions and removes expired working memory."""

from __future__ import annotations

from dataclasses import dataclass

from core.events.publishing import Author
from core.maintenance import sweeps
from core.sessions import idle, working_memory
from core.storage.db import Tx
from core.types import Json
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools


def close_idle(tools: Tools, job: Job) -> Outcome:
    """End a page of idle sessions and remove a page of expired working memory; go on while there is more."""
    page = sweeps.PAGE
    sweep = _Sweep(job.tenant_id, tools.settings.session_idle_seconds, page)
    return Outcome(sweep, then_by_result=lambda done: [(job.target, {})] if max(done.values()) >= page else [])


@dataclass(frozen=True, slots=True)
class _Sweep:
    """A page of idle sessions and one of expired working memory, found when they are written."""

    tenant_id: str
    idle_seconds: float
    page: int

    def write(self, tx: Tx, _author: Author) -> Json:
        closed = idle.end_idle(tx, self.tenant_id, self.idle_seconds, self.page)
        return {"closed": closed, "swept": working_memory.sweep(tx, self.page)}
