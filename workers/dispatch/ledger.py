"""The ledger: runs every dispatch from its claim to its end, with its effect exactly once."""

from __future__ import annotations

import json
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID, uuid4

import structlog
from psycopg.errors import DeadlockDetected
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError
from uuid_utils.compat import uuid7

from core import logs, metrics, tracing
from core.errors import Conflict, Later, LeaseLost, Never, RateLimited
from core.events import log as event_log
from core.events.log import Cause, Emission
from core.events.publishing import Author
from core.inference import own_prompts
from core.inference.client import ChatClient
from core.inference.quota import BreakerOpen, Grant
from core.maintenance import heartbeat
from core.storage.db import Tx, run_together
from core.tenancy import embedding as tenant_embedding
from core.tracing import Span
from core.types import DispatchStatus, Event, Json
from workers.dispatch import admission, attempt_spans, deadline, failures, fair_share
from workers.dispatch.admission import Wait
from workers.dispatch.failures import Stage
from workers.dispatch.fair_share import Key, NextClaim, Offered, Readied
from workers.dispatch.insertion import insert_rows, ready_waiting
from workers.dispatch.lease import watch
from workers.dispatch.model import (
    MOST_OVERRUNS,
    FailedPart,
    Job,
    LaneFull,
    Ledger,
    NewDispatch,
    Outcome,
    Overran,
    PostponedPart,
    lists_others,
)
from workers.dispatch.relay import DispatchRef
from workers.dispatch.sweep import emit_dead

log = structlog.get_logger()

TURN_SECONDS = 0.05
"""Time for which a process continues with one tenant before it takes the next task from the broker."""

CLAIM_ATTEMPTS = 3
"""Claims of a dispatch until a deadlock is an error."""

LEASE_LOST = "LEASE"
"""SQLSTATE with which `end_dispatch` refuses an end."""

WAITED_FOR = (BreakerOpen, RateLimited)
"""The model is away, or has had enough of requests: no failure of the dispatch."""

LONGEST_WAIT = timedelta(days=7)
"""Age of a dispatch from which an attempt counts again that met a rate limit."""

ERROR_CHARACTERS = 4000
REASON_CHARACTERS = 500
"""Characters of a failure's text that are stored."""


def take_turn(
    ledger: Ledger,
    tenant_id: str,
    queue: str | None,
    ids: Sequence[UUID],
    send: Callable[[Sequence[DispatchRef]], object],
) -> None:
    """Run these dispatches, then those that they make room for on the same queue, until the tenant's turn ends.

    Each is claimed; then its effect and its end are written in one transaction. One that is finished, not yet due or
    held by another worker is left alone. The rest, and dispatches of other queues, are sent to the broker, behind those
    that were sent meanwhile.
    """
    mine, ends = deque(ids), time.monotonic() + TURN_SECONDS

    def own_queue() -> str | None:
        return queue if not mine and time.monotonic() < ends else None

    while mine:
        dispatch_id = mine.popleft()
        job = _claim(ledger, tenant_id, dispatch_id)
        following = [] if job else _step_aside(ledger, tenant_id, dispatch_id)
        while job is not None:
            send(following)
            following, job = _carry_out(ledger, job, own_queue)
        here = [owed for owed in following if owed.queue == own_queue()]  # One that could not be claimed with the end.
        send([owed for owed in following if owed not in here[:1]])
        mine.extend(owed.id for owed in here[:1])


Ended = tuple[list[DispatchRef], Job | None]
"""Dispatches to send, and the job that was claimed with the end of another."""


def _carry_out(ledger: Ledger, job: Job, own_queue: Callable[[], str | None]) -> Ended:
    """Call the agent of a job and end it. `own_queue`: the queue of which a further dispatch is claimed; None: none."""
    log_context = {
        "tenant": job.tenant_id,
        "dispatch": str(job.id),
        "correlation": job.event.correlation_id,
        "target": job.target,
    }
    stage: Stage = "agent"
    with (
        attempt_spans.attempt(job) as span,
        structlog.contextvars.bound_contextvars(**log_context),
        metrics.CELERY_TASKS_ACTIVE.labels(heartbeat.node(job.queue)).track_inprogress(),
        metrics.DISPATCH_RUN.labels(job.target, job.queue).time(),
    ):
        try:
            with watch(ledger, job):
                outcome = ledger.agents[job.target](job)
            stage = "write"
            return _finish(ledger, job, outcome, own_queue())
        except LeaseLost as error:
            span.fail(error)
            log.warning("dispatch.lease_lost")
            return _offer_place(ledger, job), None
        except Overran as error:
            span.fail(error)
            return _record_overrun(ledger, job, error), None
        except Exception as error:  # noqa: BLE001 - one dispatch fails, nothing else: its class decides what follows
            span.fail(error)
            return _record_failure(ledger, job, error, stage), None
        finally:
            _return_grant(ledger, job)


def _step_aside(ledger: Ledger, tenant_id: str, dispatch_id: UUID) -> list[DispatchRef]:
    """Give the place of a sent dispatch that cannot begin to the next; the sweep, or what it waits for, resends it."""
    with ledger.db.tenant(tenant_id) as tx:
        row = tx.execute(_STEP_ASIDE, {"id": dispatch_id}).one_or_none()
        if row is None:
            return []
        metrics.DISPATCHES_REJECTED.labels(row.target, row.queue).inc()
        return fair_share.offer(tx, ledger.policy.shares, [(tenant_id, row.queue)])


def _offer_place(ledger: Ledger, job: Job) -> list[DispatchRef]:
    """Return the dispatches that may run now that this attempt is over, without changing the dispatch itself."""
    with ledger.db.tenant(job.tenant_id) as tx:
        return fair_share.offer(tx, ledger.policy.shares, [(job.tenant_id, job.queue), *_make_room(tx, job)])


def _return_grant(ledger: Ledger, job: Job) -> None:
    """Return the unused part of the job's grant; if the database is away, the bucket lacks it for a minute."""
    if ledger.admission_control is None or job.grant is None:
        return
    try:
        admission.return_grant(ledger.db, ledger.admission_control, job.grant)
    except DBAPIError as error:
        log.warning("dispatch.unreturned", **logs.fault(error))


def _claim(ledger: Ledger, tenant_id: str, dispatch_id: UUID) -> Job | None:
    """Claim a dispatch; None: it cannot begin.

    A claim holds its row and waits for whoever ends another dispatch of the same key. An erasure that ends several of
    a key may need both rows, and wins: the claim is tried again on what it left.
    """
    for left in reversed(range(CLAIM_ATTEMPTS)):
        try:
            return _claim_once(ledger, tenant_id, dispatch_id)
        except OperationalError as error:
            if not left or not isinstance(error.orig, DeadlockDetected):
                raise
    raise AssertionError


def _claim_once(ledger: Ledger, tenant_id: str, dispatch_id: UUID) -> Job | None:
    values = _claim_values(ledger, dispatch_id, uuid4())
    try:
        statements = fair_share.UNHURRIED, (fair_share.CLAIM, values)
        with ledger.db.asking(tenant_id, *statements) as (tx, (_, claimed)):
            if not claimed:
                return None
            (row,) = claimed
            if row.lane is not None:
                _enter_lane(tx, row)
            event = _event_of(row)
            # Last, because other claims wait at the provider's row until this is committed.
            grant = (
                None if ledger.admission_control is None else admission.admit(tx, ledger.admission_control, row, event)
            )
            wait = grant if isinstance(grant, Wait) else None
            if wait and not (ledger.admission_control and ledger.admission_control.may_begin_without(row)):
                _put_back(tx, row, wait)
                return None
            if row.turn_before is None:
                fair_share.count_older(tx, tenant_id, row.queue, row.priority, row.id)
    except (IntegrityError, LaneFull):
        return None  # Another of its key runs, or its lane is full; the end of one of those readies this one.
    return _job_of(ledger, row, event, grant)


def _event_of(row: Any) -> Event:
    """Return the event of a claimed dispatch, in the chain of the dispatch."""
    if row.event_seq is None:
        raise ValueError(f"Dispatch {row.id} reacts to no event.")
    fields = {name: getattr(row, name) for name in Event.__slots__ if name not in {"id", "seq"}}
    return Event(**fields | {"id": row.event_id, "seq": row.event_seq, "lineage": tuple(row.lineage)})


def _job_of(ledger: Ledger, row: Any, event: Event, grant: Grant | Wait | None) -> Job:
    _show_zeros(row.target, row.queue)
    metrics.DISPATCHES.labels(row.target, row.queue, DispatchStatus.RUNNING).inc()
    if row.waited is not None:
        metrics.DISPATCH_WAIT.labels(row.target).observe(row.waited)
    return Job(
        tenant_id=row.tenant_id,
        id=row.id,
        target=row.target,
        action_type=row.action_type,
        params=row.params,
        event=event,
        author=Author(row.target, Cause(event, row.id), row.rule, row.rule_version),
        attempt=row.attempt,
        lease=row.lease,
        alone=row.alone,
        lane=row.lane,
        lane_limit=row.lane_limit,
        grant=None if isinstance(grant, Wait) else grant,
        model=None if isinstance(grant, Wait) else _model_of(ledger, row, event, grant),
        wait=grant if isinstance(grant, Wait) else None,
        queue=row.queue,
        overruns=row.overruns,
        seconds=ledger.seconds.get(row.target),
        embedding=tenant_embedding.parse(row.embedding),
        replay_id=row.replay_id,
        trace=row.trace,
    )


@cache
def _show_zeros(target: str, queue: str) -> None:
    """Export as 0 what may become of a dispatch: a first failure is an increase, and shares need both numbers."""
    for status in (DispatchStatus.DONE, DispatchStatus.RETRYING, DispatchStatus.CANCELLED):
        metrics.DISPATCHES.labels(target, queue, status)
    metrics.DISPATCHES_FAILED.labels(target, queue, failures.UNEXPECTED)
    metrics.DISPATCHES_REJECTED.labels(target, queue)
    metrics.DISPATCH_OVERRUNS.labels(target)


def _next_claim(ledger: Ledger, queue: str | None, keys: Sequence[Key | Readied]) -> NextClaim | None:
    """Return what this worker claims with the end of a dispatch: one that needs no grant. None: nothing.

    `keys`: one for the end, and one for each dispatch that it has made ready.
    """
    if queue is None:
        return None
    asking = frozenset() if ledger.admission_control is None else ledger.admission_control.asking
    targets = [name for name in ledger.agents if name not in asking]
    return NextClaim(queue, sum(key[1] == queue for key in keys), targets, uuid4(), _limits(ledger))


def _model_of(ledger: Ledger, row: Any, event: Event, grant: Grant | None) -> ChatClient | None:
    """Return the client of a job: paid from its grant, with the tenant's prompts, by session where there is one."""
    if ledger.model is None:
        return None
    key = row.params.get("session_id") or event.session_id or event.user_id or row.tenant_id
    return own_prompts.bind(ledger.model.under(grant), ledger.db, row.tenant_id, str(key))


def _claim_values(ledger: Ledger, dispatch_id: UUID, lease: UUID) -> Json:
    return {"id": dispatch_id, "lease": lease, "seconds": ledger.policy.lease, "limits": _limits(ledger)}


def _limits(ledger: Ledger) -> str:
    """Return the seconds of an attempt by target, as JSON."""
    return json.dumps({target: most + deadline.GRACE_SECONDS for target, most in ledger.seconds.items()})


def _put_back(tx: Tx, row: Any, wait: Wait) -> None:
    """Take back a claim, with the time of the next one and the reason."""
    tx.execute(_PUT_BACK, {"id": row.id, "lease": row.lease, "error": wait.reason, "at": wait.at, "hold": wait.for_day})
    metrics.DISPATCHES_REJECTED.labels(row.target, row.queue).inc()
    log.info("dispatch.waits", dispatch=str(row.id), target=row.target, reason=wait.reason)


def _enter_lane(tx: Tx, row: Any) -> None:
    """Check that the lane has room, while no other worker counts. LaneFull: it has none, and rolls the claim back."""
    _lock_lane(tx, row.tenant_id, row.lane)
    running = tx.execute(_RUNNING, {"tenant": row.tenant_id, "lane": row.lane, "id": row.id}).scalar_one()
    if running >= row.lane_limit:
        raise LaneFull


def _lock_lane(tx: Tx, tenant_id: str, lane: str) -> None:
    tx.execute(_LOCK_LANE, {"lane": f"{tenant_id}\n{lane}"})


def _finish(ledger: Ledger, job: Job, outcome: Outcome, own_queue: str | None) -> Ended:
    """Write effect, end and followers in one transaction, which only the holder of the lease can commit.

    Then offer what may run now, and claim the next dispatch of `own_queue`, in another one: turns are not locked until
    the effect is on the disk.
    """
    # With the vectors of the model that the job began with, whatever the tenant has chosen since.
    database = ledger.db if job.embedding is None else ledger.db.at(job.embedding.schema)
    offered, is_done = Offered([], []), False
    try:
        with database.tenant(job.tenant_id) as tx:
            with tracing.span("write") as span:
                keys = _write(ledger, tx, job, outcome, span)
            is_done = True
            claim = _next_claim(ledger, own_queue, keys)
            offered = fair_share.offer_again(database, tx, job.tenant_id, ledger.policy.shares, keys, claim)
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) == LEASE_LOST:
            raise LeaseLost from error
        if not is_done:
            raise
        log.warning("dispatch.unoffered", **logs.fault(error))  # The sweep finds what waits.
    row = next(iter(offered.claimed), None)
    return offered.owed, None if row is None else _job_of(ledger, row, _event_of(row), None)


def _write(ledger: Ledger, tx: Tx, job: Job, outcome: Outcome, span: Span) -> list[Key | Readied]:
    """Write effect, end and followers, and commit; return the turns that are to be offered."""
    for part in outcome.failed:
        _write_dead_part(tx, job, part)
    postponed = [_write_postponed_part(tx, ledger, job, part) for part in outcome.postponed]
    result = outcome.pending.write(tx, job.author)
    then = [_next(ledger, job, *work) for work in [*outcome.then, *outcome.then_by_result(result)]]
    then = then if outcome.at is None else [_hold_until(dispatch, outcome.at) for dispatch in then]
    keys: list[Key | Readied] = [(job.tenant_id, job.queue), *insert_rows(tx, [*outcome.decided, *then])]
    others_wait = job.alone is not None or job.lane is not None
    released = _end(tx, job, result, then, last=not others_wait)
    if others_wait:
        keys += _make_room(tx, job)
        run_together(tx, last=True)
    keys += [(job.tenant_id, row.queue, row.id) for row in released]
    for row in released:
        metrics.DISPATCHES.labels(row.target, row.queue, DispatchStatus.PENDING).inc()
    metrics.DISPATCHES.labels(job.target, job.queue, DispatchStatus.DONE).inc()
    for _ in outcome.failed:
        failures.count_dead(job.target, job.queue, Never.__name__)
    for status in postponed:
        metrics.DISPATCHES.labels(job.target, job.queue, status).inc()
    outcome.count(result)
    counts = logs.counts(result)
    span.note({f"imprint.result.{name}": count for name, count in counts.items()})
    log.info("dispatch.done", result=counts)
    return keys


def _end(tx: Tx, job: Job, result: Json, then: Sequence[NewDispatch], *, last: bool) -> list[Any]:
    """End a dispatch as done; return the next actions of its rule. `last`: commit, too.

    Where the same agent goes on, the next action waits for that. DBAPIError with LEASE_LOST: another holds the lease.
    """
    rest = next((d.id for d in then if d.target == job.target and d.hold is None), None)
    written = json.dumps(result, ensure_ascii=False)
    has_rule = job.author.rule is not None
    values = {"id": job.id, "lease": job.lease, "result": written, "hands_on": has_rule and rest is None}
    waits = (_WAIT_FOR_REST, {"id": job.id, "rest": rest}) if has_rule and rest else None
    released, _ = run_together(tx, (_DONE, values), waits, last=last)
    return released


def _write_dead_part(tx: Tx, job: Job, part: FailedPart) -> None:
    """Write a part that failed for good as a dead dispatch of its own, and announce it."""
    values = {"id": uuid7(), "of": job.id, "params": json.dumps(part.params), "error": part.reason}
    tx.execute(_DEAD_PART, values)
    payload = {"dispatch_id": str(values["id"]), "target": job.target, "rule": job.author.rule, "reason": part.reason}
    announced = Emission("dispatch.dead", payload, subject=f"dispatch:{values['id']}")
    event_log.emit(tx, job.tenant_id, Cause(job.event, job.id), [announced])


def _write_postponed_part(tx: Tx, ledger: Ledger, job: Job, part: PostponedPart) -> DispatchStatus:
    """Write a part to be tried again as a dispatch of its own, as if it had been put back or had failed once."""
    cause = part.cause
    values: Json = {"id": uuid7(), "of": job.id, "params": json.dumps(part.params), "pause": 0.0, "at": None}
    if isinstance(cause, Wait):
        status = DispatchStatus.HELD if cause.for_day else DispatchStatus.PENDING
        values |= {"error": cause.reason, "attempt": 0, "at": cause.at}
    else:
        status = DispatchStatus.RETRYING
        attempt = 0 if isinstance(cause, WAITED_FOR) else 1
        values |= {"error": _error_text(cause), "attempt": attempt, "pause": ledger.policy.pause(1, cause.after)}
    tx.execute(_POSTPONED_PART, values | {"status": status})
    return status


def _make_room(tx: Tx, job: Job) -> list[Readied]:
    """Ready dispatches that waited for this one. It locks the lane: only the turns may be locked afterwards."""
    if job.lane is not None:
        _lock_lane(tx, job.tenant_id, job.lane)
    return ready_waiting(tx, job)


def _next(ledger: Ledger, job: Job, target: str, params: Json) -> NewDispatch:
    """Return the dispatch of a follow-up; if its agent is the same, it keeps key and lane."""
    cause, goes_on = job.event, target == job.target
    return NewDispatch.on(
        cause,
        "run_agent",
        target,
        ledger.queues[target],
        params,
        rule=job.author.rule,
        rule_version=job.author.rule_version,
        alone=job.alone if goes_on else None,
        lineage=cause.lineage,
        after=job.id if goes_on else None,
        lane=job.lane if goes_on else None,
        lane_limit=job.lane_limit if goes_on else None,
        replay_id=job.replay_id,
        lists_others=lists_others(params, cause),
    )


def _hold_until(dispatch: NewDispatch, at: datetime) -> NewDispatch:
    return replace(
        dispatch, status=DispatchStatus.HELD, hold="time", expires_at=at, after=None, lane=None, lane_limit=None
    )


def _record_overrun(ledger: Ledger, job: Job, error: Overran) -> list[DispatchRef]:
    """Record an attempt that took too long; after OVERRUNS of them there is no further one."""
    metrics.DISPATCH_OVERRUNS.labels(job.target).inc()
    again = job.overruns + 1 < MOST_OVERRUNS and job.attempt < ledger.policy.attempts
    return _record_failure(ledger, job, error, "deadline", again=again)


def _record_failure(
    ledger: Ledger, job: Job, error: Exception, stage: Stage, *, again: bool | None = None
) -> list[DispatchRef]:
    """Record a failed attempt; return the dispatches that may run now. `again`: whether it is retried."""
    policy = ledger.policy
    free = isinstance(error, BreakerOpen) or (isinstance(error, RateLimited) and not _is_old(ledger, job))
    if again is None:
        again = free or (not isinstance(error, Never) and job.attempt < policy.attempts)
    status = DispatchStatus.RETRYING if again else DispatchStatus.DEAD
    after = error.after if isinstance(error, Later) else None
    reason = _error_text(error)
    end = {"status": status, "error": reason, "pause": policy.pause(job.attempt, after), "free": free}
    end |= {"overran": isinstance(error, Overran), "stage": stage, "kind": type(error).__name__}
    with ledger.db.tenant(job.tenant_id) as tx:
        row = tx.execute(_FAILED, {"id": job.id, "lease": job.lease, **end}).one_or_none()
        if row is not None and not again:
            emit_dead(tx, row, reason)
        keys: list[Key | Readied] = [(job.tenant_id, job.queue), *_make_room(tx, job)]
        following = fair_share.offer(tx, policy.shares, keys)
    if again:
        metrics.DISPATCHES.labels(job.target, job.queue, status).inc()
    else:
        failures.count_dead(job.target, job.queue, type(error).__name__)
    log.warning("dispatch.failed", status=status, attempt=job.attempt, **logs.fault(error), **_frames(error))
    return following


def _is_old(ledger: Ledger, job: Job) -> bool:
    """Return whether a dispatch has been rate limited for so long that its attempts count again."""
    with ledger.db.tenant(job.tenant_id) as tx:
        return bool(tx.execute(_OLD, {"id": job.id, "age": LONGEST_WAIT}).scalar_one_or_none())


def _is_expected(error: Exception) -> bool:
    return isinstance(error, Later | Never | Conflict | Overran)


def _frames(error: Exception) -> Json:
    """Return for the log where an unexpected error was raised, without its words, which may be a user's."""
    frames = "".join(traceback.format_tb(error.__traceback__))[-ERROR_CHARACTERS:]
    return {} if _is_expected(error) else {"trace": frames}


def _error_text(error: Exception) -> str:
    if _is_expected(error):
        message = str(error)[:ERROR_CHARACTERS]
    else:
        reason = next(iter(str(error).strip().splitlines()), "no reason given")[:REASON_CHARACTERS]
        message = f"Unexpected {type(error).__name__}: {reason}. The log of the worker says where it was raised."
    # Text of other services may hold characters that PostgreSQL cannot store.
    return message.encode(errors="replace").decode().replace("\x00", "\ufffd")


_STEP_ASIDE = text("""
    UPDATE dispatches SET turn = NULL WHERE id = :id AND status = 'pending' AND turn = 'sent'
    RETURNING target, queue
""")

_DONE = text("SELECT id, queue, target FROM end_dispatch(:id, :lease, :result, :hands_on)")

_LOCK_LANE = text("SELECT pg_advisory_xact_lock(hashtextextended(:lane, 0))")
"""Held until the end of the transaction, so that the next to count sees the result of this one."""

_RUNNING = text("""
    SELECT count(*) FROM dispatches
    WHERE tenant_id = :tenant AND lane = :lane AND ended_at IS NULL AND status = 'running' AND id <> :id
""")

_OF_RULE = """
    tenant_id, event_seq, root_seq, correlation_id, hop, rule, rule_version, action_type, target, queue, priority,
    alone, lineage, lane, lane_limit, replay_id, lists_others, trace
"""
"""Columns that a part of a dispatch has in common with it."""

_DEAD_PART = text(f"""
    INSERT INTO dispatches ({_OF_RULE}, id, params, status, attempt, error, ended_at)
    SELECT {_OF_RULE}, :id, cast(:params AS jsonb), 'dead', 1,
           :error || ' What was answered is kept with the calls of dispatch ' || id || '.', clock_timestamp()
    FROM dispatches WHERE id = :of
""")
"""Beside the dispatch that it was a part of, and not after it: the rule's next action must not wait for a dead one."""

_POSTPONED_PART = text(f"""
    INSERT INTO dispatches ({_OF_RULE}, id, params, attempt, error, status, hold, wake_at, expires_at)
    SELECT {_OF_RULE}, :id, cast(:params AS jsonb), :attempt, :error, cast(:status AS text),
           CASE WHEN cast(:status AS text) = 'held' THEN 'time' END,
           CASE WHEN cast(:status AS text) <> 'held'
                THEN coalesce(cast(:at AS timestamptz), clock_timestamp() + make_interval(secs => :pause)) END,
           CASE WHEN cast(:status AS text) = 'held' THEN cast(:at AS timestamptz) END
    FROM dispatches WHERE id = :of
""")
"""Beside the dispatch that it was a part of, like a dead one: what follows by rule has the rest, and does not wait."""

_WAIT_FOR_REST = text("UPDATE dispatches SET after = :rest WHERE after = :id AND status = 'held'")

_OLD = text("SELECT created_at < clock_timestamp() - cast(:age AS interval) FROM dispatches WHERE id = :id")

_PUT_BACK = text("""
    UPDATE dispatches SET
        status = CASE WHEN :hold THEN 'held' ELSE 'pending' END, hold = CASE WHEN :hold THEN 'time' END,
        wake_at = CASE WHEN NOT :hold THEN cast(:at AS timestamptz) END,
        expires_at = CASE WHEN :hold THEN cast(:at AS timestamptz) ELSE expires_at END,
        attempt = attempt - 1, sends = 0, lease = NULL, started_at = CASE WHEN attempt > 1 THEN started_at END,
        error = :error
    WHERE id = :id AND lease = :lease
""")
"""`sends` is reset: it is sent when it is due, and not at growing intervals."""

_FAILED = text(f"""
    UPDATE dispatches SET status = cast(:status AS text), error = :error, lease = NULL, turn = NULL,
           failures = {failures.WITH_ANOTHER.format(stage="cast(:stage AS text)", kind="cast(:kind AS text)")},
           overruns = overruns + CASE WHEN :overran THEN 1 ELSE 0 END,
           attempt = attempt - CASE WHEN :free THEN 1 ELSE 0 END,
           wake_at = CASE WHEN :status = 'retrying' THEN clock_timestamp() + make_interval(secs => :pause) END,
           ended_at = CASE WHEN :status = 'dead' THEN clock_timestamp() END
    WHERE id = :id AND lease = :lease AND status = 'running'
    RETURNING *
""")
