"""Agent that divides sessions into units."""

from __future__ import annotations

from typing import Final

from core.summaries import units
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools, session_of

TURNS: Final = 4
"""How often the work goes behind what is queued, where messages lack their vectors; then it embeds them itself."""


def write_units(tools: Tools, job: Job) -> Outcome:
    """Divide the new messages of the event's session into units; the rest of a long session follows at once.

    Units are cut by the vectors of their messages. Where some are still to come, whoever makes these goes first, so
    that no message is embedded twice.
    """
    turns = job.params.get("turns")
    turns = turns if isinstance(turns, int) else 0
    with session_of(job) as session_id, tools.db.tenant(job.tenant_id) as tx:
        talk = units.read(tx, session_id, limit=units.READ)
    if turns < TURNS and units.lacks_vectors(talk):
        return Outcome(then=[(job.target, job.params | {"session_id": session_id, "turns": turns + 1})])
    planned = units.plan(job.tenant_id, talk, tools.embedder, tools.settings.unit_gap_seconds)
    then = [(job.target, job.params | {"session_id": session_id})] if planned.more else []
    return Outcome(planned, then)
