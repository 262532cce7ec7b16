"""Agents that maintain stored memories: merge duplicates, archive, apply limits, count uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from core.config import Settings
from core.consolidation import dedup_sweep
from core.errors import Never
from core.events import log
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
    page = sweeps.PAGE

    def then(done: Json) -> list[tuple[str, Json]]:
        if "redrawing" in done:
            return [(job.target, {"redraw_after": done["redrawn_to"]} if "redrawn_to" in done else {})]
        return [(job.target, {})] if done["archived"] == page else []

    faded = _Faded(job.tenant_id, tools.settings, job.params.get("redraw_after"))
    return Outcome(faded, (), count_changes, then_by_result=then)


def archive_surplus(tools: Tools, job: Job) -> Outcome:
    """Keep memories within their limits, a page of each kind.

    Archive what has expired, and the weakest memories of users who have too many; drop memories that were archived long
    ago and are part of another one, if the settings say so; drop verdicts and recall hashes that are too old to matter.
    """
    page = sweeps.PAGE

    def then(done: Json) -> list[tuple[str, Json]]:
        is_full = max(done["expired"], done["dropped"], done["forgotten"]) >= page
        return [(job.target, {})] if done["surplus"] > 0 or is_full else []

    return Outcome(_Surplus(job.tenant_id, tools.settings), (), count_changes, then_by_result=then)


def count_uses(_tools: Tools, job: Job) -> Outcome:
    """Count a use of each recalled memory, at most one in the interval that `core.memory.decay` gives."""
    if job.event.event_type == recall_log.RECALLED and job.event.source != log.SOURCE:
        raise Never(f"{job.target} obeys {recall_log.RECALLED} only from the service itself.")
    named = job.params.get("memory_ids") or job.event.payload.get("memory_ids")
    try:
        ids = [UUID(memory_id) for memory_id in named or ()]
    except (TypeError, ValueError, AttributeError):
        raise Never(f"{job.target} needs the ids of memories in `memory_ids`, not {named!r:.200}.") from None
    return Outcome(_Uses(job.tenant_id, ids), (), count_changes)


@dataclass(frozen=True, slots=True)
class _Faded:
    """A page of faded memories to archive, found when it is written. `redraw_after`: recompute decay from there on."""

    tenant_id: str
    settings: Settings
    redraw_after: str | None

    def write(self, tx: Tx, author: Author) -> Json:
        settings, after = self.settings, self.redraw_after
        changed = retention.align(tx, self.tenant_id, settings.strength_formula, settings.fade_under)
        if changed or after is not None:
            last = retention.redraw(tx, self.tenant_id, None if changed else UUID(after), REDRAWN)
            return {"redrawing": True} | ({"redrawn_to": str(last)} if last else {})
        return {"archived": sweeps.archive_faded(tx, self.tenant_id, author, sweeps.PAGE)}


@dataclass(frozen=True, slots=True)
class _Surplus:
    """A page of memories beyond each limit, found when it is written."""

    tenant_id: str
    settings: Settings

    def write(self, tx: Tx, author: Author) -> Json:
        tenant_id, settings, page = self.tenant_id, self.settings, sweeps.PAGE
        expired = sweeps.archive_expired(tx, tenant_id, author, page)
        surplus = sweeps.archive_weakest(tx, tenant_id, author, settings.memories_per_user, page)
        days, dropped = settings.drop_archived_days, 0
        if days is not None:
            dropped = sweeps.drop_archived(tx, tenant_id, author, days, page)
        forgotten = sweeps.delete_leftovers(tx, settings.verdict_days, settings.echo_seconds, page)
        swept = {"expired": expired, "surplus": surplus, "dropped": dropped, "forgotten": forgotten}
        return {"archived": expired + surplus, **swept}


@dataclass(frozen=True, slots=True)
class _Uses:
    """Uses of memories to count."""

    tenant_id: str
    ids: Sequence[UUID]

    def write(self, tx: Tx, author: Author) -> Json:
        return {"used": sweeps.count_uses(tx, self.tenant_id, author, self.ids)}
