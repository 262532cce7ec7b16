"""Admission control for agents that ask a model, applied when a dispatch is claimed, before its agent runs.

A dispatch that is not admitted is put back by the transaction that claimed it, with the time of its next attempt, the
reason, and its attempt not counted. The worker is free again after some milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import text

from core import metrics
from core.inference import costs, quota
from core.inference.quota import Grant, Provider
from core.inference.token_bucket import Admission, Need
from core.storage.db import Database, Tx
from core.types import Event

RESERVE: Final = 4_000
"""Tokens of one call beside the messages it reads: a prompt, forty known memories, an answer."""

QUEUE_LENGTH: Final = timedelta(minutes=10)
"""Waiting dispatches are spread over at most this time, because limits are raised and providers come back."""

RESUMED_PER_SECOND: Final = 20.0
"""Dispatches per second of one tenant that resume after the circuit breaker, if no limit says how many may."""


@dataclass(frozen=True, slots=True)
class ModelAdmission:
    """Limits for dispatches that ask a model; None: no such limit.

    `asking`: agents that need a grant. `reading`: those of them that read the new messages of a session, at most `most`
    messages with one request. `begins_without`: those of `reading` that begin without the model where it has to wait,
    because rules read for them, too.
    """

    provider: Provider
    asking: frozenset[str]
    reading: frozenset[str]
    most: int
    tokens_per_day: int | None = None
    cost_per_day: float | None = None
    begins_without: frozenset[str] = frozenset()

    def may_begin_without(self, row: Any) -> bool:
        """Return whether a dispatch has work that needs no model; one that reads a postponed window has none."""
        return row.target in self.begins_without and "from" not in row.params


@dataclass(frozen=True, slots=True)
class Wait:
    """A refusal to begin before `at`. `for_day`: the budget of the day is spent, and not only that of this minute."""

    reason: str
    at: datetime
    for_day: bool = False


def admit(tx: Tx, admission_control: ModelAdmission, row: Any, event: Event) -> Grant | Wait | None:
    """Admit a claimed dispatch: return its grant, or when it may begin; None: it needs no grant."""
    need = _need(tx, admission_control, row, event)
    if need is None:
        return None
    spent = _budget_wait(tx, admission_control)
    if spent is not None:
        metrics.ADMISSIONS.labels("budget").inc()
        return spent
    answer = quota.admit(tx, admission_control.provider, need)
    metrics.ADMISSIONS.labels(answer.verdict).inc()
    return Grant(need, answer.verdict == "probe") if answer.granted else _queue_up(tx, admission_control, need, answer)


def return_grant(db: Database, admission_control: ModelAdmission, grant: Grant) -> None:
    """Return the unused part of a grant to the provider's bucket."""
    with db.queue() as tx:
        quota.give_back(tx, admission_control.provider, grant)


def _need(tx: Tx, admission_control: ModelAdmission, row: Any, event: Event) -> Need | None:
    """Estimate the requests and tokens that a dispatch needs; None: it asks no model."""
    if row.target not in admission_control.asking:
        return None
    if row.target not in admission_control.reading:
        return Need(1, RESERVE)
    if "from" in row.params:
        return Need(1, RESERVE)  # One window, which was set aside before.
    waiting = tx.execute(_UNREAD, {"session": row.params.get("session_id") or event.session_id}).one_or_none()
    if waiting is None or waiting.messages <= 0:
        return None
    read = min(waiting.messages, admission_control.most)
    return Need(1, waiting.tokens * read / waiting.messages + RESERVE)


def _budget_wait(tx: Tx, admission_control: ModelAdmission) -> Wait | None:
    """Return a wait until tomorrow if today's budget of the tenant is used up."""
    spent = costs.used_up(tx, admission_control.tokens_per_day, admission_control.cost_per_day)
    if spent is None:
        return None
    what, ends_at = spent
    return Wait(f"The tenant has used its {what}. It goes on at {_moment(ends_at)}.", ends_at, for_day=True)


def _queue_up(tx: Tx, admission_control: ModelAdmission, need: Need, answer: Admission) -> Wait:
    """Return a wait that ends after those of the tenant's other waiting dispatches: at once, all but one would fail."""
    line = tx.execute(_QUEUE, {"asking": sorted(admission_control.asking)}).one()
    at = line.now + answer.wait + (line.ahead * _seconds_apart(admission_control, need)) % QUEUE_LENGTH
    match answer.verdict:
        case "breaker":
            why = f"The model {admission_control.provider.name} refused too often and is left alone"
        case scarce:
            why = f"The {scarce} a minute of the model {admission_control.provider.name} are used up"
    return Wait(f"{why}. It goes on at {_moment(at)}.", at)


def _seconds_apart(admission_control: ModelAdmission, need: Need) -> timedelta:
    """Return the time that the provider's limits need for one such dispatch."""
    limits = admission_control.provider.limits
    shares = [need.requests / limits.requests] if limits.requests else []
    shares += [need.tokens / limits.tokens] if limits.tokens else []
    return min(timedelta(minutes=max(shares)), QUEUE_LENGTH) if shares else timedelta(seconds=1 / RESUMED_PER_SECOND)


def _moment(at: datetime) -> str:
    return at.isoformat(timespec="seconds")


_UNREAD = text("""
    SELECT s.message_count - s.extracted_to AS messages, s.token_count - coalesce(m.token_count, 0) AS tokens
    FROM sessions s
    LEFT JOIN messages m ON m.tenant_id = s.tenant_id AND m.session_id = s.id AND m.position = s.extracted_to
    WHERE s.id = :session
""")
"""Unread messages of a session, and their tokens."""

_QUEUE = text("""
    SELECT count(*) AS ahead, clock_timestamp() AS now FROM dispatches
    WHERE tenant_id = current_setting('imprint.tenant') AND status = 'pending' AND target = ANY(:asking)
      AND error IS NOT NULL AND wake_at > clock_timestamp()
""")
"""Dispatches with a reason (`error`) have been refused before."""
