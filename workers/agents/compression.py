"""Agents that draw together: what was not needed for long becomes few memories, what comes again becomes a pattern."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from core.errors import Never
from core.memory import memories
from core.reflection import compression, generalization, patterns
from core.reflection.compression import Asked, Condenser
from core.reflection.generalization import Wording
from core.types import Json
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools, count_changes, note_call


def compress_memories(tools: Tools, job: Job) -> Outcome:
    """Draw together what nobody has needed, a page of one user's memories; the next page, user or kind follows at once.

    Of the user in `user_id` or the event's, else of all users of the tenant. Where archived memories are dropped at
    some time, what was archived but stands in no other memory is drawn together too: before it is dropped.
    """
    only = job.params.get("user_id") or job.event.user_id
    asked = _asked(tools, job, only)
    if asked is None:
        return Outcome(then=_put_away(tools, job))
    found = compression.plan(tools.db, job.tenant_id, tools.embedder, asked, _condenser(tools, job))
    if found.after is not None:
        then = [(job.target, job.params | {"page": {"user_id": asked.user_id, "after": list(found.after)}})]
    elif only is None:
        then = [(job.target, {"archived": asked.archived, "behind": asked.user_id})]
    else:
        then = _put_away(tools, job)
    return Outcome(lambda tx: found.write(tx, job.author), then, count_changes)


def find_patterns(tools: Tools, job: Job) -> Outcome:
    """Find what comes again in the user's new memories, and what they say about one thing."""
    user_id = job.params.get("user_id") or job.event.user_id
    if not user_id:
        raise Never(f"{job.target} needs an event with a user; {job.event.event_type} {job.event.id!r} has none.")
    wording = _wording(tools, job)
    found = patterns.find(tools.db, job.tenant_id, user_id, tools.embedder, wording, job.params.get("since"))
    then = [(job.target, {"user_id": user_id, "since": found.since})] if found.since else []
    return Outcome(lambda tx: found.write(tx, job.author), then, count_changes)


def _asked(tools: Tools, job: Job, only: str | None) -> Asked | None:
    """The page to look at; None: no user is left."""
    settings, page = tools.settings, job.params.get("page") or {}
    archived = bool(job.params.get("archived"))
    days = (settings.drop_archived_days or settings.compress_days) if archived else settings.compress_days
    unused, now = timedelta(days=days), memories.now()
    behind = Asked(job.params.get("behind", ""), unused, settings.compress_uses, now, archived=archived)
    user_id = page.get("user_id") or only
    if user_id is None:
        with tools.db.tenant(job.tenant_id) as tx:
            user_id = compression.next_user(tx, behind)
    if user_id is None:
        return None
    return Asked(user_id, unused, settings.compress_uses, now, page.get("after", ()), archived=archived)


def _put_away(tools: Tools, job: Job) -> list[tuple[str, Json]]:
    """After the memories in use come those that were put away, where they are to be dropped one day."""
    if job.params.get("archived") or tools.settings.drop_archived_days is None:
        return []
    only = {"user_id": job.params["user_id"]} if job.params.get("user_id") else {}
    return [(job.target, only | {"archived": True})]


def _condenser(tools: Tools, job: Job) -> Condenser:
    if tools.model is None:
        return compression.extractive
    return compression.by_model(tools.model, partial(note_call, tools, job))


def _wording(tools: Tools, job: Job) -> Wording:
    if tools.model is None:
        return generalization.plain
    return generalization.by_model(tools.model, partial(note_call, tools, job))
