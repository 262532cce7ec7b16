"""The agent that looks after sessions: ends those that nobody ended, and lets go of what has expired at their hands."""

from __future__ import annotations

from core.maintenance import sweeps
from core.sessions import idle, working_memory
from core.storage.db import Tx
from core.types import Json
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools


def close_idle(tools: Tools, job: Job) -> Outcome:
    """End a page of idle sessions and remove a page of expired working memory; go on while there is more."""
    settings, then = tools.settings, list[tuple[str, Json]]()

    def write(tx: Tx) -> Json:
        page = sweeps.PAGE
        closed = idle.idle(tx, job.tenant_id, settings.session_idle_seconds, page)
        swept = working_memory.sweep(tx, page)
        then.extend([(job.target, {})] if max(closed, swept) >= page else [])
        return {"closed": closed, "swept": swept}

    return Outcome(write, then)
