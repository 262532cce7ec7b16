"""Agents that maintain stored memories: merge duplicates, archive, apply limits, count uses."""

from __future__ import annotations

from uuid import UUID

from core.consolidation import dedup_sweep
from core.errors import Never
from core.events import log
from core.events.pending import Effect
from core.events.publishing import Author
from core.maintenance import sweeps
from core.memory import retention
from core.search import recall_log
from core.storage.db import Tx
from core.types import Json
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools, count_changes, user_of

REDRAWN = 2_000
"""Memories whose decay is recomputed in one transaction, after a setting of forgetting has changed."""


def merge_duplicates(tools: Tools, job: Job) -> Outcome:
    """Merge new memories of the event's user into older ones that say the same."""
    user_id = user_of(job)
    swept = dedup_sweep.sweep(tools.db, job.tenant_id, user_id, tools.consolidation.thresholds)
    then = [(job.target, {"user_id": user_id})] if swept.more else []
    return Outcome(swept, then, count_changes)


def archive_faded(tools: Tools, job: Job) -> Outcome:
    """Archive a page of faded memories; first recompute their decay, if its formula or threshold has changed."""
    settings, page, after = tools.settings, sweeps.PAGE, job.params.get("redraw_after")

    def write(tx: Tx, author: Author) -> Json:
        changed = retention.align(tx, job.tenant_id, settings.strength_formula, settings.fade_under)
        if changed or after is not None:
            last = retention.redraw(tx, job.tenant_id, None if changed else UUID(after), REDRAWN)
            return {"redrawing": True} | ({"redrawn_to": str(last)} if last else {})
        return {"archived": sweeps.archive_faded(tx, job.tenant_id, author, page)}

    def then(done: Json) -> list[tuple[str, Json]]:
        if "redrawing" in done:
            return [(job.target, {"redraw_after": done["redrawn_to"]} if "redrawn_to" in done else {})]
        return [(job.target, {})] if done["archived"] == page else []

    return Outcome(Effect(write), (), count_changes, then_by_result=then)


def archive_surplus(tools: Tools, job: Job) -> Outcome:
    """Keep memories within their limits, a page of each kind.

    Archive what has expired, and the weakest memories of users who have too many; drop memories that were archived long
    ago and are part of another one, if the settings say so; drop verdicts and recall hashes that are too old to matter.
    """
    tenant_id, settings, page = job.tenant_id, tools.settings, sweeps.PAGE

    def write(tx: Tx, author: Author) -> Json:
        expired = sweeps.archive_expired(tx, tenant_id, author, page)
        surplus = sweeps.archive_weakest(tx, tenant_id, author, settings.memories_per_user, page)
        days, dropped = settings.drop_archived_days, 0
        if days is not None:
            dropped = sweeps.drop_archived(tx, tenant_id, author, days, page)
        forgotten = sweeps.delete_leftovers(tx, settings.verdict_days, settings.echo_seconds, page)
        swept = {"expired": expired, "surplus": surplus, "dropped": dropped, "forgotten": forgotten}
        return {"archived": expired + surplus, **swept}

    def then(done: Json) -> list[tuple[str, Json]]:
        is_full = max(done["expired"], done["dropped"], done["forgotten"]) >= page
        return [(job.target, {})] if done["surplus"] > 0 or is_full else []

    return Outcome(Effect(write), (), count_changes, then_by_result=then)


def count_uses(_tools: Tools, job: Job) -> Outcome:
    """Count a use of each recalled memory, at most one in the interval that `core.memory.decay` gives."""
    if job.event.event_type == recall_log.RECALLED and job.event.source != log.SOURCE:
        raise Never(f"{job.target} obeys {recall_log.RECALLED} only from the service itself.")
    named = job.params.get("memory_ids") or job.event.payload.get("memory_ids")
    try:
        ids = [UUID(memory_id) for memory_id in named or ()]
    except (TypeError, ValueError, AttributeError):
        raise Never(f"{job.target} needs the ids of memories in `memory_ids`, not {named!r:.200}.") from None

    def write(tx: Tx, author: Author) -> Json:
        return {"used": sweeps.count_uses(tx, job.tenant_id, author, ids)}

    return Outcome(Effect(write), (), count_changes)
