"""Agents that divide sessions into units, write rolling summaries of long ones, and track their plans."""

from __future__ import annotations

from functools import partial

from core.events.pending import Labelled, Reported
from core.plans import tracker
from core.summaries import rolling, units
from core.summaries.rolling import SummaryLimits
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools, note_call, session_of


def write_units(tools: Tools, job: Job) -> Outcome:
    """Divide the new messages of the event's session into units; the rest of a long session follows at once."""
    with session_of(job) as session_id, tools.db.tenant(job.tenant_id) as tx:
        talk = units.read(tx, session_id, limit=units.READ)
    planned = units.plan(job.tenant_id, talk, tools.embedder, tools.settings.unit_gap_seconds)
    then = [(job.target, job.params | {"session_id": session_id})] if planned.more else []
    return Outcome(planned, then)


def summarize_session(tools: Tools, job: Job) -> Outcome:
    """Summarise the older half of the event's session that no summary covers, if it is long enough; then the rest.

    With `now` true all of it is summarised, however short it is.
    """
    model = job.model
    write = rolling.by_model(model, partial(note_call, tools, job)) if model else rolling.by_rules
    usual = SummaryLimits(tools.settings.summarize_messages, tools.settings.summarize_tokens)
    limits = None if job.params.get("now") is True else usual
    with session_of(job) as session_id:
        rolled = rolling.session(tools.db, job.tenant_id, session_id, limits, write)
    if rolled is None:
        return Outcome(Reported({"summarized": False, "reason": "The session is not long enough yet."}))
    then = [(job.target, job.params | {"session_id": session_id})] if rolled.more else []
    return Outcome(Labelled({"summarized": True}, rolled), then)


def track_plan(tools: Tools, job: Job) -> Outcome:
    """Update the plans of the event's session from the log."""
    with session_of(job) as session_id:
        return Outcome(tracker.read(tools.db, job.tenant_id, session_id, job.event))
