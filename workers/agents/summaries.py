"""Agents that write rolling summaries of long sessions and track their plans."""

from __future__ import annotations

from functools import partial

from core.errors import Never, NotFound
from core.events.pending import Labelled, Report
from core.plans import tracker
from core.summaries import rolling
from core.summaries.rolling import SummaryLimits
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools, note_call


def summarize_session(tools: Tools, job: Job) -> Outcome:
    """Summarise the older half of the event's session that no summary covers, if it is long enough; then the rest."""
    session_id, model = _session(job), job.model
    write = rolling.by_model(model, partial(note_call, tools, job)) if model else rolling.by_rules
    limits = SummaryLimits(tools.settings.summarize_messages, tools.settings.summarize_tokens)
    try:
        rolled = rolling.session(tools.db, job.tenant_id, session_id, limits, write)
    except NotFound as error:
        raise Never(f"{job.target} has nothing to read: {error}") from error
    if rolled is None:
        return Outcome(Report({"summarized": False, "reason": "The session is not long enough yet."}))
    then = [(job.target, {"session_id": session_id})] if rolled.more else []
    return Outcome(Labelled({"summarized": True}, rolled), then)


def track_plan(tools: Tools, job: Job) -> Outcome:
    """Update the plans of the event's session from the log."""
    return Outcome(tracker.read(tools.db, job.tenant_id, _session(job), job.event))


def _session(job: Job) -> str:
    session_id = job.params.get("session_id") or job.event.session_id
    if not session_id:
        raise Never(f"{job.target} needs an event with a session; {job.event.event_type} {job.event.id!r} has none.")
    return str(session_id)
