"""Agents that tend what is kept: merge, let fade, keep within limits, count uses."""

from __future__ import annotations

from uuid import UUID

from core.consolidation import dedup_sweep
from core.errors import Never
from core.maintenance import sweeps
from core.memory import retention
from core.storage.db import Tx
from core.types import Json
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools, count_changes

REDRAWN = 2_000
"""Memories whose curves are drawn anew in one transaction, after a setting of forgetting has changed."""


def merge_duplicates(tools: Tools, job: Job) -> Outcome:
    """Merge what is new of the event's user into what says the same already."""
    user_id = job.params.get("user_id") or job.event.user_id
    if not user_id:
        raise Never(f"{job.target} needs an event with a user; {job.event.event_type} {job.event.id!r} has none.")
    swept = dedup_sweep.sweep(tools.db, job.tenant_id, user_id, tools.gate.thresholds)
    then = [(job.target, {"user_id": user_id})] if swept.more else []
    return Outcome(lambda tx: swept.write(tx, job.author), then, count_changes)


def archive_faded(tools: Tools, job: Job) -> Outcome:
    """Archive what has faded, a page; where formula or threshold have changed, draw all curves anew before."""
    settings, then = tools.settings, list[tuple[str, Json]]()

    def write(tx: Tx) -> Json:
        after = job.params.get("redraw_after")
        changed = retention.align(tx, job.tenant_id, settings.strength_formula, settings.fade_under)
        if changed or after is not None:
            last = retention.redraw(tx, job.tenant_id, None if changed else UUID(after), REDRAWN)
            then.append((job.target, {"redraw_after": str(last)} if last else {}))
            return {"redrawing": True}
        archived = sweeps.faded(tx, job.tenant_id, job.author, sweeps.PAGE)
        then.extend([(job.target, {})] if archived == sweeps.PAGE else [])
        return {"archived": archived}

    return Outcome(write, then, count_changes)


def archive_surplus(tools: Tools, job: Job) -> Outcome:
    """Keep what is kept within its limits, a page of each.

    Archive what has expired and the weakest memories of users who have too many; drop what was archived long ago and
    stands in another memory, where that is set; forget verdicts and servings that are of no use any more.
    """
    settings, then = tools.settings, list[tuple[str, Json]]()

    def write(tx: Tx) -> Json:
        page = sweeps.PAGE
        expired = sweeps.expired(tx, job.tenant_id, job.author, page)
        surplus = sweeps.overflowing(tx, job.tenant_id, job.author, settings.memories_per_user, page)
        days, dropped = settings.drop_archived_days, 0
        if days is not None:
            dropped = sweeps.dropped(tx, job.tenant_id, job.author, days, page)
        forgotten = sweeps.forgotten(tx, settings.verdict_days, settings.echo_seconds, page)
        then.extend([(job.target, {})] if surplus > 0 or max(expired, dropped, forgotten) >= page else [])
        swept = {"expired": expired, "surplus": surplus, "dropped": dropped, "forgotten": forgotten}
        return {"archived": expired + surplus, **swept}

    return Outcome(write, then, count_changes)


def count_uses(_tools: Tools, job: Job) -> Outcome:
    """Count that the memories of a recall were of use; each at most once in the time that `core.memory.decay` gives."""
    named = job.params.get("memory_ids") or job.event.payload.get("memory_ids")
    try:
        ids = [UUID(one) for one in named or ()]
    except (TypeError, ValueError, AttributeError):
        raise Never(f"{job.target} needs the ids of memories in `memory_ids`, and not {named!r:.200}.") from None
    return Outcome(lambda tx: {"used": sweeps.used(tx, job.tenant_id, job.author, ids)}, (), count_changes)
