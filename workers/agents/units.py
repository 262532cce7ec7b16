"""Agent that divides sessions into units."""

from __future__ import annotations

from core.errors import Never, NotFound
from core.summaries import units
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools


def write_units(tools: Tools, job: Job) -> Outcome:
    """Divide the new messages of the event's session into units; the rest of a long session follows at once."""
    session_id = job.params.get("session_id") or job.event.session_id
    if not session_id:
        raise Never(f"{job.target} needs an event with a session; {job.event.event_type} {job.event.id!r} has none.")
    try:
        with tools.db.tenant(job.tenant_id) as tx:
            talk = units.read(tx, str(session_id), limit=units.READ)
    except NotFound as error:
        raise Never(f"{job.target} has nothing to read: {error}") from error
    planned = units.plan(job.tenant_id, talk, tools.embedder, tools.settings.unit_gap_seconds)
    then = [(job.target, job.params | {"session_id": session_id})] if planned.more else []
    return Outcome(planned, then)
