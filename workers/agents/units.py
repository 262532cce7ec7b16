"""Agent that divides sessions into units."""

from __future__ import annotations

from core.summaries import units
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools, session_of


def write_units(tools: Tools, job: Job) -> Outcome:
    """Divide the new messages of the event's session into units; the rest of a long session follows at once."""
    with session_of(job) as session_id, tools.db.tenant(job.tenant_id) as tx:
        talk = units.read(tx, session_id, limit=units.READ)
    planned = units.plan(job.tenant_id, talk, tools.embedder, tools.settings.unit_gap_seconds)
    then = [(job.target, job.params | {"session_id": session_id})] if planned.more else []
    return Outcome(planned, then)
