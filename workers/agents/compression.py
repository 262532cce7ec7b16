"""Agents that compress unused memories and find recurring patterns."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from core.memory import memories
from core.reflection import compression, generalization, patterns
from core.reflection.compression import CompressionPage, Condenser
from core.reflection.generalization import Wording
from core.types import Json
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools, count_changes, note_call, user_of


def compress_memories(tools: Tools, job: Job) -> Outcome:
    """Compress a page of one user's unused memories; the next page, user or kind follows at once.

    The user is `user_id` or the event's, else each user of the tenant. Where archived memories are dropped after some
    time, those that no other memory contains are compressed before that, too.
    """
    only = job.params.get("user_id") or job.event.user_id
    page = _page_to_compress(tools, job, only)
    if page is None:
        return Outcome(then=_archived_follow_up(tools, job))
    plan = compression.plan(tools.db, job.tenant_id, tools.embedder, page, _condenser(tools, job))
    if plan.after is not None:
        then = [(job.target, job.params | {"page": {"user_id": page.user_id, "after": list(plan.after)}})]
    elif only is None:
        then = [(job.target, {"archived": page.archived, "behind": page.user_id})]
    else:
        then = _archived_follow_up(tools, job)
    return Outcome(plan, then, count_changes)


def find_patterns(tools: Tools, job: Job) -> Outcome:
    """Find recurring statements among the user's new memories, and generalise those about one thing."""
    user_id = user_of(job)
    wording = _generalizer(tools, job)
    result = patterns.find(tools.db, job.tenant_id, user_id, tools.embedder, wording, job.params.get("since"))
    then = [(job.target, {"user_id": user_id, "since": result.since})] if result.since else []
    return Outcome(result, then, count_changes)


def _page_to_compress(tools: Tools, job: Job, only: str | None) -> CompressionPage | None:
    """Return the page to compress; None: no user is left."""
    settings, page = tools.settings, job.params.get("page") or {}
    archived = bool(job.params.get("archived"))
    days = (settings.drop_archived_days or settings.compress_days) if archived else settings.compress_days
    unused, now = timedelta(days=days), memories.now()
    behind = CompressionPage(job.params.get("behind", ""), unused, settings.compress_uses, now, archived=archived)
    user_id = page.get("user_id") or only
    if user_id is None:
        with tools.db.tenant(job.tenant_id) as tx:
            user_id = compression.next_user(tx, behind)
    if user_id is None:
        return None
    return CompressionPage(user_id, unused, settings.compress_uses, now, page.get("after", ()), archived=archived)


def _archived_follow_up(tools: Tools, job: Job) -> list[tuple[str, Json]]:
    if job.params.get("archived") or tools.settings.drop_archived_days is None:
        return []
    only = {"user_id": job.params["user_id"]} if job.params.get("user_id") else {}
    return [(job.target, only | {"archived": True})]


def _condenser(tools: Tools, job: Job) -> Condenser:
    if job.model is None:
        return compression.extractive
    return compression.by_model(job.model, partial(note_call, tools, job))


def _generalizer(tools: Tools, job: Job) -> Wording:
    if job.model is None:
        return generalization.by_rules
    return generalization.by_model(job.model, partial(note_call, tools, job))
