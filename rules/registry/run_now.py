"""Running a scheduled rule now: the event that the clock would emit, with an id of its own and the requesting key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import text
from uuid_utils import uuid7

from core.errors import Conflict, Invalid, NotFound, Problem
from core.events import log
from core.events.log import Announcement
from core.storage.db import Tx
from rules.document.schema import parse
from rules.flow import schedules
from rules.flow.schedules import Scheduled
from rules.registry.store import StoredRule


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A request to run a scheduled rule: author, moment, and one user or the page of users after one."""

    by: str
    at: datetime
    page: int
    user_id: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class RunResult:
    """Ids of the events, and the last user reached if there may be more."""

    ids: Sequence[str]
    reached: str | None = None


def run(tx: Tx, tenant_id: str, stored: StoredRule, request: RunRequest) -> RunResult:
    """Emit `clock.ticked` for a rule as its schedule would, for one page of users if it runs for each user.

    Conflict: the rule has no schedule, or is disabled. Invalid: a user is named, but the rule runs for the tenant.
    NotFound: the user is unknown, so that the clock would never reach them.
    """
    scheduled = _require_scheduled(tenant_id, stored)
    if scheduled.schedule.for_each == "tenant":
        if request.user_id is not None:
            detail = f"`{stored.name}` runs once for the tenant; leave the user out, or give it `for_each`: `user`"
            raise Invalid([Problem("/user_id", detail)])
        return _emit(tx, scheduled, request, [None])
    if request.user_id is not None:
        if not tx.execute(_IS_KNOWN, {"user": request.user_id}).scalar_one():
            raise NotFound(f"There is no user {request.user_id!r} in this tenant: no session and no memory names one.")
        return _emit(tx, scheduled, request, [request.user_id])
    reached = schedules.users(tx, tenant_id, request.after, request.page)
    ran = _emit(tx, scheduled, request, reached)
    return replace(ran, reached=reached[-1] if len(reached) == request.page else None)


def _require_scheduled(tenant_id: str, stored: StoredRule) -> Scheduled:
    rule = parse(stored.document)
    if rule.schedule is None:
        detail = (
            f"`{stored.name}` has no schedule: it answers events. Publish one, or try it with `imprint rules test`."
        )
        raise Conflict(detail)
    if rule.counts is not None:
        detail = f"`{stored.name}` is an alarm: the clock looks at it. `imprint rules test {stored.name}` counts now."
        raise Conflict(detail)
    if not rule.enabled:
        raise Conflict(f"`{stored.name}` is disabled, so running it has no effect. Enable it first.")
    return Scheduled(tenant_id, rule, stored.version, rule.schedule)


def _emit(tx: Tx, scheduled: Scheduled, request: RunRequest, users: Sequence[str | None]) -> RunResult:
    run = f"{scheduled.rule.name}@run@{uuid7()}"
    ticks = [_tick(scheduled, request, run, user) for user in users]
    log.announce(tx, scheduled.tenant_id, ticks)
    return RunResult([tick.id for tick in ticks])


def _tick(scheduled: Scheduled, request: RunRequest, run: str, user: str | None) -> Announcement:
    tick = schedules.tick(scheduled, request.at, user)
    name = run if user is None else f"{run}@{user}"
    return replace(tick, id=name, payload={**tick.payload, "requested_by": request.by})


_IS_KNOWN = text("""
    SELECT EXISTS (SELECT FROM sessions WHERE user_id = :user) OR EXISTS (SELECT FROM memories WHERE user_id = :user)
""")
