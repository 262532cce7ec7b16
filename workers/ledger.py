"""The ledger of what must happen: every dispatch from its decision to its end, each effect exactly once."""

from __future__ import annotations

import json
import random
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID, uuid4

import structlog
from sqlalchemy import TextClause, text
from sqlalchemy.exc import DBAPIError, IntegrityError
from uuid_utils.compat import uuid7

from core import dispatches, events, metrics
from core import log as logs
from core.change import Author
from core.db import Database, Tx, recordset
from core.errors import Conflict, Later, LeaseLost, Never
from core.events import Cause, Emission
from core.limits import Limits
from core.providers import BreakerOpen, Grant
from core.types import DispatchStatus, Event, Json
from workers import admission, deadline, turns
from workers.admission import Gate, Wait
from workers.deadline import Alarm, Interrupted
from workers.relay import Owed
from workers.turns import Key, Shares

log = structlog.get_logger()

RENEWALS_PER_LEASE = 3
"""A lease is renewed three times within its length, so that two lost renewals cost nothing."""

LONGEST_PAUSE = timedelta(days=30)
"""Who asks for more patience than this has made a mistake, or is beyond every calendar."""

OVERRUNS = 2
"""Attempts of a dispatch that may take too long: the second may have met a machine at rest, a third would not help."""

LOOK_SECONDS = 1.0
"""How often a running attempt looks whether it was called off."""

TURN_SECONDS = 0.05
"""How long a process goes on with the work of one tenant before it takes what came to the broker meanwhile."""

ERROR_CHARACTERS = 4000
"""How much of a failure's text is kept."""


PARCEL_CHARACTERS = 16_000_000
"""How much of the new dispatches goes out in one statement: PostgreSQL takes no value of a gigabyte."""


@dataclass(frozen=True, slots=True)
class NewDispatch:
    """An action that must happen, about to be written into the ledger.

    `after`: the dispatch that must be done first. `lane` with `lane_limit`: how many of that name may run at a time.
    `hold`: what a held one waits for; `expires_at`: when its waiting for approval, or for its time, ends. `lineage`:
    the rules that acted on the way to its effect, its own last.
    """

    tenant_id: str
    action_type: str
    target: str
    queue: str
    params: Json
    event_seq: int | None
    root_seq: int
    correlation_id: str
    hop: int
    rule: str | None = None
    rule_version: int | None = None
    alone: str | None = None
    status: DispatchStatus = DispatchStatus.PENDING
    error: str | None = None
    lineage: Sequence[str] = ()
    after: UUID | None = None
    lane: str | None = None
    lane_limit: int | None = None
    hold: Literal["approval", "turn", "time"] | None = None
    expires_at: datetime | None = None
    id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Job:
    """A claimed dispatch with the event it reacts to; what an agent gets to see. `grant`: what it may ask a model."""

    tenant_id: str
    id: UUID
    target: str
    action_type: str
    params: Json
    event: Event
    author: Author
    attempt: int
    lease: UUID
    alone: str | None = None
    lane: str | None = None
    lane_limit: int | None = None
    grant: Grant | None = None
    queue: str = "io"
    overruns: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an agent thought out: `write` is carried out in the transaction that ends the dispatch.

    `then`: agents that must run next, each with its parameters; where the same agent goes on, the rule's next action
    waits for that too. `count`: called with what `write` answered, once it is
    committed, for what is counted must have happened. `at`: when `then` begins; nothing waits for it meanwhile.
    """

    write: Callable[[Tx], Json] = lambda _tx: {}
    then: Sequence[tuple[str, Json]] = ()
    count: Callable[[Json], None] = lambda _result: None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """How long a lease lasts, when a retry comes, and how many attempts there are. All times in seconds.

    `running`: dispatches of one queue that a tenant without a limit of its own may have under way.
    """

    lease: float
    resend: float
    retry_base: float
    retry_max: float
    attempts: int
    running: int = Limits().running

    @property
    def shares(self) -> Shares:
        """How much of a tenant's work goes to the broker at a time."""
        return Shares(self.resend, self.retry_max, self.lease, self.running)

    def pause(self, attempt: int, after: timedelta | None) -> float:
        """Exponential back-off with full jitter above half of it, never below what the other side asked for."""
        ceiling = min(self.retry_max, self.retry_base * 2.0 ** (attempt - 1))
        jittered = ceiling * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards no secret
        return max(jittered, min(after, LONGEST_PAUSE).total_seconds() if after else 0.0)


class Overran(Exception):
    """An attempt took longer than its agent may."""


class LaneFull(Exception):
    """As many of its lane run as may."""


Agent = Callable[[Job], Outcome]


@dataclass(frozen=True, slots=True)
class Ledger:
    """What it takes to work dispatches off: the database, who does what on which queue, the policy.

    `gate`: what those who ask a model must pass, where there is one. `seconds`: how long an attempt of each agent may
    take; of those not in it, any time. `interrupts`: whether the process is the ledger's own, so that an attempt that
    takes too long or was called off can be stopped by signals and, at the worst, with the process.
    """

    db: Database
    agents: Mapping[str, Agent]
    queues: Mapping[str, str]
    policy: Policy
    gate: Gate | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    interrupts: bool = False


def insert(tx: Tx, new: Sequence[NewDispatch], resend_s: float) -> list[Owed]:
    """Write dispatches and send what may be sent; the last thing in its transaction, as `turns.offer` says."""
    return turns.offer(tx, Shares(resend_s), write(tx, new))


def write(tx: Tx, new: Sequence[NewDispatch]) -> list[Key]:
    """Write dispatches; answers for which tenants and queues there is now something to send."""
    if not new:
        return []
    for rows in _parcels(new):
        tx.execute(_INSERT, {"rows": rows})
    for d in new:
        metrics.DISPATCHES.labels(d.target, d.status).inc()
    return [(d.tenant_id, d.queue) for d in new if d.status is DispatchStatus.PENDING]


def _parcels(new: Sequence[NewDispatch]) -> Iterator[str]:
    """Dispatches as JSON lists of a size that one statement can carry."""
    parcel, size = list[str](), 0
    for dispatch in new:
        row = recordset([{name: getattr(dispatch, name) for name in NewDispatch.__slots__}])[1:-1]
        if parcel and size + len(row) > PARCEL_CHARACTERS:
            yield f"[{','.join(parcel)}]"
            parcel, size = [], 0
        parcel.append(row)
        size += len(row)
    yield f"[{','.join(parcel)}]"


def take_turn(
    ledger: Ledger, tenant_id: str, queue: str | None, ids: Sequence[UUID], send: Callable[[Sequence[Owed]], object]
) -> None:
    """Run these dispatches, then what they make room for on the same queue, for as long as a tenant's turn lasts.

    What is left then, and what belongs to another queue, is sent to the broker, behind what others have sent meanwhile.
    """
    mine, ends = deque(ids), time.monotonic() + TURN_SECONDS
    while mine:
        following = run(ledger, tenant_id, mine.popleft())
        here = [owed for owed in following if owed.queue == queue]
        goes_on = not mine and bool(here) and time.monotonic() < ends
        send(following if not goes_on else [owed for owed in following if owed != here[0]])
        mine.extend([here[0].id] if goes_on else [])


def run(ledger: Ledger, tenant_id: str, dispatch_id: UUID) -> list[Owed]:
    """Work one dispatch off: claim it, let its agent think, write the effect and the end together.

    Answers the dispatches that follow. Someone else's, finished or not yet due ones are left alone.
    """
    job = _claim(ledger, tenant_id, dispatch_id)
    if job is None:
        return _step_aside(ledger, tenant_id, dispatch_id)
    words = {
        "tenant": tenant_id,
        "dispatch": str(job.id),
        "correlation": job.event.correlation_id,
        "target": job.target,
    }
    metrics.DISPATCH_OVERRUNS.labels(job.target)  # shown as 0: a first overrun is an increase, too
    with structlog.contextvars.bound_contextvars(**words), metrics.DISPATCH_RUN.labels(job.target).time():
        try:
            with _watched(ledger, job):
                outcome = ledger.agents[job.target](job)
            return _finish(ledger, job, outcome)
        except LeaseLost:
            log.warning("dispatch.lease_lost")
            return _make_way(ledger, job)
        except Overran as error:
            return _overran(ledger, job, error)
        except Exception as error:  # noqa: BLE001 - one dispatch fails, nothing else: its class decides what follows
            return _fail(ledger, job, error)
        finally:
            _leave(ledger, job)


def _step_aside(ledger: Ledger, tenant_id: str, dispatch_id: UUID) -> list[Owed]:
    """What was sent and cannot begin now gives its place to the next; the sweep, or whoever it waits for, calls it."""
    with ledger.db.tenant(tenant_id) as tx:
        row = tx.execute(_STEP_ASIDE, {"id": dispatch_id}).one_or_none()
        return [] if row is None else turns.offer(tx, ledger.policy.shares, [(tenant_id, row.queue)])


def _make_way(ledger: Ledger, job: Job) -> list[Owed]:
    """Who may run now that this attempt is over; what became of the dispatch itself, others have decided."""
    with ledger.db.tenant(job.tenant_id) as tx:
        return turns.offer(tx, ledger.policy.shares, [(job.tenant_id, job.queue), *_make_room(tx, job)])


def _leave(ledger: Ledger, job: Job) -> None:
    """Give back what the job was granted and did not use; without a database nothing is lost but a minute."""
    if ledger.gate is None or job.grant is None:
        return
    try:
        admission.leave(ledger.db, ledger.gate, job.grant)
    except DBAPIError as error:
        log.warning("dispatch.unreturned", **logs.fault(error))


def owed(tx: Tx, policy: Policy, limit: int = 500) -> list[Owed]:
    """The sweep: what was never begun, is due again or lost its worker goes out again.

    A dispatch whose worker died at every attempt is set aside: it may be what kills them. Each tenant gets its share of
    a sweep, and of what is sent.
    """
    values = {"attempts": policy.attempts, "overruns": OVERRUNS, "share": limit // 5, "limit": limit}
    rows = tx.execute(_OWED, values).all()
    for row in rows:
        if row.overran:
            metrics.DISPATCH_OVERRUNS.labels(row.target).inc()
        if row.status == DispatchStatus.DEAD:
            _bury(tx, row, row.error)
            metrics.DISPATCHES.labels(row.target, DispatchStatus.DEAD).inc()
            _waiting(tx, row)
    return turns.offer(tx, policy.shares, turns.with_room(tx, policy.shares, turns.ready(tx)))


def expire(tx: Tx, limit: int = 500) -> int:
    """Cancel what nobody approved in time, with what was to come after it; how many. Several clocks may share this."""
    rows = tx.execute(_EXPIRE, {"limit": limit}).all()
    for row in rows:
        metrics.DISPATCHES.labels(row.target, DispatchStatus.CANCELLED).inc()
        dispatches.tell_verdict(tx, row)
        dispatches.cancel_followers(tx, row)
    return len(rows)


def release(tx: Tx, policy: Policy, limit: int = 500) -> list[Owed]:
    """Let begin what was held until its time has come. Several clocks may share this."""
    rows = tx.execute(_RELEASE, {"limit": limit}).all()
    return turns.offer(tx, policy.shares, [(row.tenant_id, row.queue) for row in rows])


def cancel_waiting(tx: Tx, tenant_id: str, lane: str, limit: int, reason: str) -> int:
    """Of those that wait in a lane and have not begun, leave only the newest; how many were cancelled.

    Those for whom there is room, `limit` less what runs, do not wait: they are about to begin, and stay.
    """
    values = {"tenant": tenant_id, "lane": lane, "limit": limit, "reason": reason}
    rows = tx.execute(_CANCEL_WAITING, values).all()
    for row in rows:
        metrics.DISPATCHES.labels(row.target, DispatchStatus.CANCELLED).inc()
        dispatches.cancel_followers(tx, row)
    return len(rows)


def _claim(ledger: Ledger, tenant_id: str, dispatch_id: UUID) -> Job | None:
    lease = uuid4()
    try:
        with ledger.db.tenant(tenant_id) as tx:
            row = tx.execute(_CLAIM, _claiming(ledger, dispatch_id, lease)).one_or_none()
            if row is None:
                return None
            if row.lane is not None:
                _enter_lane(tx, row)
            event = dispatches.event_of(tx, row)
            # Last, for others wait at the gate until this is committed.
            grant = None if ledger.gate is None else admission.admit(tx, ledger.gate, row, event)
            if isinstance(grant, Wait):
                _put_back(tx, row, grant)
                return None
    except (IntegrityError, LaneFull):
        return None  # Another of its key runs now, or enough of its lane; when one of those ends it wakes this one.
    # The others were held or waited for something, which says nothing about the queue.
    if row.approval is None and row.after is None and row.expires_at is None and row.error is None:
        metrics.DISPATCH_WAIT.labels(row.target).observe(float(row.waited))
    return Job(
        tenant_id=tenant_id,
        id=row.id,
        target=row.target,
        action_type=row.action_type,
        params=row.params,
        event=event,
        author=Author(row.target, Cause(event, row.id), row.rule, row.rule_version),
        attempt=row.attempt,
        lease=lease,
        alone=row.alone,
        lane=row.lane,
        lane_limit=row.lane_limit,
        grant=grant,
        queue=row.queue,
        overruns=row.overruns,
    )


def _claiming(ledger: Ledger, dispatch_id: UUID, lease: UUID) -> Json:
    limits = {target: most + deadline.GRACE_SECONDS for target, most in ledger.seconds.items()}
    return {"id": dispatch_id, "lease": lease, "seconds": ledger.policy.lease, "limits": json.dumps(limits)}


def _put_back(tx: Tx, row: Any, wait: Wait) -> None:
    """As if it had not been claimed, but with when to claim it again, and why not before."""
    tx.execute(_PUT_BACK, {"id": row.id, "lease": row.lease, "error": wait.reason, "at": wait.at, "hold": wait.for_day})
    log.info("dispatch.waits", dispatch=str(row.id), target=row.target, reason=wait.reason)


def _enter_lane(tx: Tx, row: Any) -> None:
    """Keep the claim if its lane has room, counted while no other worker counts; LaneFull takes it back."""
    _lock_lane(tx, row.tenant_id, row.lane)
    running = tx.execute(_RUNNING, {"tenant": row.tenant_id, "lane": row.lane, "id": row.id}).scalar_one()
    if running >= row.lane_limit:
        raise LaneFull


def _lock_lane(tx: Tx, tenant_id: str, lane: str) -> None:
    tx.execute(_LOCK_LANE, {"lane": f"{tenant_id}\n{lane}"})


def _finish(ledger: Ledger, job: Job, outcome: Outcome) -> list[Owed]:
    """Effect, end and what follows, in one transaction that only the holder of the lease can commit."""
    with ledger.db.tenant(job.tenant_id) as tx:
        result = outcome.write(tx)
        then = [_next(ledger, job, *work) for work in outcome.then]
        then = then if outcome.at is None else [_timed(one, outcome.at) for one in then]
        keys = [(job.tenant_id, job.queue), *write(tx, then)]
        values = {"id": job.id, "lease": job.lease, "result": json.dumps(result, ensure_ascii=False)}
        if tx.execute(_DONE, values).rowcount != 1:
            raise LeaseLost
        keys += _hand_on(tx, job, then)
        keys += _make_room(tx, job)
        following = turns.offer(tx, ledger.policy.shares, keys)
    metrics.DISPATCHES.labels(job.target, DispatchStatus.DONE).inc()
    outcome.count(result)
    log.info("dispatch.done", result=logs.counts(result))
    return following


def _hand_on(tx: Tx, job: Job, then: Sequence[NewDispatch]) -> list[Key]:
    """It is the turn of the rule's next action; where the same agent goes on, only once that is done."""
    if job.author.rule is None:
        return []
    rest = next((d.id for d in then if d.target == job.target and d.hold is None), None)
    if rest is not None:
        tx.execute(_WAIT_FOR_REST, {"id": job.id, "rest": rest})
        return []
    rows = tx.execute(_HAND_ON, {"id": job.id}).all()
    for row in rows:
        metrics.DISPATCHES.labels(row.target, DispatchStatus.PENDING).inc()
    return [(job.tenant_id, row.queue) for row in rows]


def _make_room(tx: Tx, job: Job) -> list[Key]:
    """Make ready who may run now that this one has ended. It holds the lane: only the turns may be locked after it."""
    if job.lane is not None:
        _lock_lane(tx, job.tenant_id, job.lane)
    return _waiting(tx, job)


def _waiting(tx: Tx, ended: Any) -> list[Key]:
    """Make ready the oldest that waited for this one to end: because it ran alone, or because its lane was full."""
    rows: list[Any] = []
    if ended.alone is not None:
        rows += tx.execute(_WAITING_ALONE, {"tenant": ended.tenant_id, "alone": ended.alone})
    if ended.lane is not None:
        values = {"tenant": ended.tenant_id, "lane": ended.lane, "limit": ended.lane_limit}
        rows += tx.execute(_WAITING_IN_LANE, values)
    return [(ended.tenant_id, row.queue) for row in rows]


def _next(ledger: Ledger, job: Job, target: str, params: Json) -> NewDispatch:
    """What an agent asked for; the same agent goes on under the same conditions."""
    cause, goes_on = job.event, target == job.target
    return NewDispatch(
        tenant_id=job.tenant_id,
        action_type="run_agent",
        target=target,
        queue=ledger.queues[target],
        params=params,
        event_seq=cause.seq,
        root_seq=cause.root_seq,
        correlation_id=cause.correlation_id,
        hop=cause.hop,
        rule=job.author.rule,
        rule_version=job.author.rule_version,
        alone=job.alone if goes_on else None,
        lineage=cause.lineage,
        after=job.id if goes_on else None,
        lane=job.lane if goes_on else None,
        lane_limit=job.lane_limit if goes_on else None,
    )


def _timed(dispatch: NewDispatch, at: datetime) -> NewDispatch:
    """The same, held until its time."""
    return replace(
        dispatch, status=DispatchStatus.HELD, hold="time", expires_at=at, after=None, lane=None, lane_limit=None
    )


def _overran(ledger: Ledger, job: Job, error: Overran) -> list[Owed]:
    """Write down that an attempt took too long; of OVERRUNS such attempts the last was the last."""
    metrics.DISPATCH_OVERRUNS.labels(job.target).inc()
    return _fail(ledger, job, error, again=job.overruns + 1 < OVERRUNS and job.attempt < ledger.policy.attempts)


def _fail(ledger: Ledger, job: Job, error: Exception, *, again: bool | None = None) -> list[Owed]:
    """Write down that an attempt failed; answers who may have its turn now. `again`: whether it is tried again."""
    policy = ledger.policy
    free = isinstance(error, BreakerOpen)  # The model is away for everyone, so that this attempt does not count.
    if again is None:
        again = free or (not isinstance(error, Never) and job.attempt < policy.attempts)
    status = DispatchStatus.RETRYING if again else DispatchStatus.DEAD
    after = error.after if isinstance(error, Later) else None
    reason = _words(error)
    end = {"status": status, "error": reason, "pause": policy.pause(job.attempt, after), "free": free}
    end["overran"] = isinstance(error, Overran)
    with ledger.db.tenant(job.tenant_id) as tx:
        row = tx.execute(_FAILED, {"id": job.id, "lease": job.lease, **end}).one_or_none()
        if row is not None and not again:
            _bury(tx, row, reason)
        keys = [(job.tenant_id, job.queue), *_make_room(tx, job)]
        following = turns.offer(tx, policy.shares, keys)
    metrics.DISPATCHES.labels(job.target, status).inc()
    log.warning("dispatch.failed", status=status, attempt=job.attempt, **logs.fault(error))
    return following


def _bury(tx: Tx, row: Any, reason: str) -> None:
    """Say aloud that a dispatch was set aside."""
    if row.event_seq is None:
        return
    payload = {"dispatch_id": str(row.id), "target": row.target, "rule": row.rule, "reason": reason}
    event = dispatches.event_of(tx, row)
    emission = Emission("dispatch.dead", payload, subject=f"dispatch:{row.id}")
    events.emit(tx, row.tenant_id, Cause(event, row.id), [emission])


def _words(error: Exception) -> str:
    expected = isinstance(error, Later | Never | Conflict | Overran)
    words = (
        str(error)[:ERROR_CHARACTERS] if expected else "".join(traceback.format_exception(error))[-ERROR_CHARACTERS:]
    )
    # Other services' words, which need not be text that PostgreSQL keeps.
    return words.encode(errors="replace").decode().replace("\x00", "\ufffd")


@contextmanager
def _watched(ledger: Ledger, job: Job) -> Iterator[None]:
    """Keep the lease alive from a thread of its own while the agent works, and stop the agent when its time is over.

    Raises:
        Overran: the agent took longer than it may.
        LeaseLost: the dispatch was called off, or taken over by another worker.
    """
    watch = _Watch(ledger, job)
    with deadline.alarm(watch.most) if ledger.interrupts else nullcontext() as alarm:
        thread = threading.Thread(target=watch.run, args=(alarm,), name="lease", daemon=True)
        thread.start()
        try:
            yield
        except Interrupted:
            pass
        finally:
            if alarm is not None:
                alarm.disarm()
            watch.done.set()
            thread.join()
    if watch.over is not None:
        raise watch.over


class _Watch:
    """Renews the lease of a job, and notices that its time is over or that it is not its worker's any more."""

    def __init__(self, ledger: Ledger, job: Job) -> None:
        self.done = threading.Event()
        self.over: Overran | LeaseLost | None = None
        self.most = ledger.seconds.get(job.target)
        self._ledger = ledger
        self._job = job

    def run(self, alarm: Alarm | None) -> None:
        every = self._ledger.policy.lease / RENEWALS_PER_LEASE
        began = renewed = time.monotonic()
        while not self.done.wait(min(LOOK_SECONDS, every) if alarm is not None else every):
            if self.over is None:
                renews = time.monotonic() - renewed >= every or alarm is None
                renewed = time.monotonic() if renews else renewed
                self.over = self._look(time.monotonic() - began, renews=renews) if alarm is not None else self._renew()
            if self.over is not None and alarm is not None:
                alarm.ring()

    def _look(self, took: float, *, renews: bool) -> Overran | LeaseLost | None:
        if self.most is not None and took >= self.most:
            which = f"{self._job.overruns + 1} of {OVERRUNS} times"
            return Overran(f"{self._job.target} took longer than the {self.most:g} s that it may take ({which}).")
        return self._renew() if renews else self._check()

    def _renew(self) -> LeaseLost | None:
        lost = self._ask(_RENEW)
        return lost if self._ledger.interrupts else None

    def _check(self) -> LeaseLost | None:
        return self._ask(_HELD)

    def _ask(self, statement: TextClause) -> LeaseLost | None:
        values = {"id": self._job.id, "lease": self._job.lease, "seconds": self._ledger.policy.lease}
        try:
            with self._ledger.db.tenant(self._job.tenant_id) as tx:
                return None if tx.execute(statement, values).rowcount == 1 else LeaseLost()
        except DBAPIError as error:
            log.warning("dispatch.unrenewed", **logs.fault(error))
            return None


_INSERT = text("""
    INSERT INTO dispatches (tenant_id, id, event_seq, root_seq, correlation_id, hop, rule, rule_version, action_type,
                            target, params, queue, alone, status, error, lineage, after, lane, lane_limit, hold,
                            expires_at, approval, turn, ended_at)
    SELECT tenant_id, id, event_seq, root_seq, correlation_id, hop, rule, rule_version, action_type,
           target, params, queue, alone, status, error, lineage, after, lane, lane_limit, hold, expires_at,
           CASE WHEN hold = 'approval' THEN jsonb_build_object('requested_at', clock_timestamp()) END,
           CASE WHEN status = 'pending' THEN 'ready' END,
           CASE WHEN status IN ('dead', 'shadow') THEN clock_timestamp() END
    FROM json_to_recordset(cast(:rows AS json)) AS d (
        tenant_id text, id uuid, event_seq bigint, root_seq bigint, correlation_id text, hop int, rule text,
        rule_version int, action_type text, target text, params jsonb, queue text, alone text, status text,
        error text, lineage text[], after uuid, lane text, lane_limit int, hold text, expires_at timestamptz)
""")

_CLAIM = text("""
    UPDATE dispatches SET status = 'running', attempt = attempt + 1, lease = :lease, turn = 'sent',
                          started_at = clock_timestamp(), wake_at = clock_timestamp() + make_interval(secs => :seconds),
                          deadline_at = clock_timestamp()
                                        + make_interval(secs => (cast(:limits AS json) ->> target)::float8)
    WHERE id = :id AND (status = 'pending' OR (status = 'retrying' AND wake_at <= clock_timestamp()))
    RETURNING *, extract(epoch FROM clock_timestamp() - created_at) AS waited
""")
"""Begin a dispatch unless someone holds it, it has ended, or its next attempt is not due. One whose lease has run out
is the sweep's, which knows what to make of that."""

_STEP_ASIDE = text("""
    UPDATE dispatches SET turn = NULL WHERE id = :id AND status = 'pending' AND turn = 'sent' RETURNING queue
""")

_HELD = text("SELECT FROM dispatches WHERE id = :id AND lease = :lease AND status = 'running'")

_RENEW = text("""
    UPDATE dispatches SET wake_at = least(clock_timestamp() + make_interval(secs => :seconds), deadline_at)
    WHERE id = :id AND lease = :lease AND status = 'running'
""")

_DONE = text("""
    UPDATE dispatches SET status = 'done', ended_at = clock_timestamp(), wake_at = NULL, lease = NULL, error = NULL,
                          result = cast(:result AS jsonb)
    WHERE id = :id AND lease = :lease AND status = 'running'
""")

_LOCK_LANE = text("SELECT pg_advisory_xact_lock(hashtextextended(:lane, 0))")
"""Held until the end of the transaction, so that the next who counts sees what this one did."""

_RUNNING = text("""
    SELECT count(*) FROM dispatches
    WHERE tenant_id = :tenant AND lane = :lane AND ended_at IS NULL AND status = 'running' AND id <> :id
""")

_HAND_ON = text("""
    UPDATE dispatches SET status = 'pending', hold = NULL, turn = 'ready', wake_at = NULL
    WHERE after = :id AND status = 'held' AND hold = 'turn'
    RETURNING id, queue, target
""")

_WAIT_FOR_REST = text("UPDATE dispatches SET after = :rest WHERE after = :id AND status = 'held'")

_WAITING_ALONE = text("""
    WITH oldest AS MATERIALIZED (
        SELECT id FROM dispatches WHERE tenant_id = :tenant AND alone = :alone AND status = 'pending'
        ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    UPDATE dispatches d SET turn = 'ready', wake_at = NULL FROM oldest WHERE d.tenant_id = :tenant AND d.id = oldest.id
    RETURNING d.id, d.queue
""")
"""One that is locked is being claimed, and will find the place free; to wait for it would be a deadlock."""

_WAITING_IN_LANE = text("""
    WITH oldest AS MATERIALIZED (
        SELECT id FROM dispatches WHERE tenant_id = :tenant AND lane = :lane AND ended_at IS NULL AND status = 'pending'
        ORDER BY id LIMIT greatest(0, :limit - (
            SELECT count(*) FROM dispatches
            WHERE tenant_id = :tenant AND lane = :lane AND ended_at IS NULL AND status = 'running'))
        FOR UPDATE SKIP LOCKED
    )
    UPDATE dispatches d SET turn = 'ready', wake_at = NULL FROM oldest WHERE d.tenant_id = :tenant AND d.id = oldest.id
    RETURNING d.id, d.queue
""")
"""As many as there is room for: one that ended at the same time may have called the same one."""

_CANCEL_WAITING = text("""
    WITH waiting AS (
        SELECT id, row_number() OVER (ORDER BY id) AS place, row_number() OVER (ORDER BY id DESC) AS newest
        FROM dispatches
        WHERE tenant_id = :tenant AND lane = :lane AND ended_at IS NULL
          AND status = 'pending' AND attempt = 0 AND after IS NULL
    )
    UPDATE dispatches d SET status = 'cancelled', wake_at = NULL, ended_at = clock_timestamp(), error = :reason
    FROM waiting w
    WHERE d.tenant_id = :tenant AND d.id = w.id AND d.status = 'pending' AND d.attempt = 0
      AND w.newest > 1 AND w.place > :limit - (
          SELECT count(*) FROM dispatches
          WHERE tenant_id = :tenant AND lane = :lane AND ended_at IS NULL AND status = 'running')
    RETURNING d.*
""")
"""What comes after another action of its rule belongs to what has begun."""

_EXPIRE = text("""
    WITH due AS (
        SELECT tenant_id, id FROM dispatches
        WHERE status = 'held' AND hold = 'approval' AND expires_at <= clock_timestamp()
        ORDER BY expires_at LIMIT :limit FOR UPDATE SKIP LOCKED
    )
    UPDATE dispatches d SET
        status = 'cancelled', hold = NULL, ended_at = clock_timestamp(),
        error = 'Nobody approved it in time.',
        approval = coalesce(d.approval, '{}') || jsonb_build_object(
            'verdict', 'expired', 'by', 'clock', 'comment', NULL, 'at', clock_timestamp())
    FROM due WHERE d.tenant_id = due.tenant_id AND d.id = due.id
    RETURNING d.*
""")

_RELEASE = text("""
    WITH due AS (
        SELECT tenant_id, id FROM dispatches
        WHERE status = 'held' AND hold = 'time' AND expires_at <= clock_timestamp()
        ORDER BY expires_at LIMIT :limit FOR UPDATE SKIP LOCKED
    )
    UPDATE dispatches d SET status = 'pending', hold = NULL, turn = 'ready', wake_at = NULL
    FROM due WHERE d.tenant_id = due.tenant_id AND d.id = due.id
    RETURNING d.tenant_id, d.queue, d.id
""")

_PUT_BACK = text("""
    UPDATE dispatches SET
        status = CASE WHEN :hold THEN 'held' ELSE 'pending' END, hold = CASE WHEN :hold THEN 'time' END,
        wake_at = CASE WHEN NOT :hold THEN cast(:at AS timestamptz) END,
        expires_at = CASE WHEN :hold THEN cast(:at AS timestamptz) ELSE expires_at END,
        attempt = attempt - 1, sends = 0, lease = NULL, started_at = CASE WHEN attempt > 1 THEN started_at END,
        error = :error
    WHERE id = :id AND lease = :lease
""")
"""Not sent more and more seldom, as what only waits in a queue is: it comes when it is due."""

_FAILED = text("""
    UPDATE dispatches SET status = cast(:status AS text), error = :error, lease = NULL, turn = NULL,
           overruns = overruns + CASE WHEN :overran THEN 1 ELSE 0 END,
           attempt = attempt - CASE WHEN :free THEN 1 ELSE 0 END,
           wake_at = CASE WHEN :status = 'retrying' THEN clock_timestamp() + make_interval(secs => :pause) END,
           ended_at = CASE WHEN :status = 'dead' THEN clock_timestamp() END
    WHERE id = :id AND lease = :lease AND status = 'running'
    RETURNING *
""")

_OWED = text("""
    WITH RECURSIVE moment AS MATERIALIZED (SELECT clock_timestamp() AS now), owing AS (
        (SELECT tenant_id FROM dispatches
         WHERE status IN ('pending', 'running', 'retrying') AND wake_at IS NOT NULL ORDER BY tenant_id LIMIT 1)
        UNION ALL
        SELECT n.tenant_id FROM owing, LATERAL (
            SELECT tenant_id FROM dispatches
            WHERE status IN ('pending', 'running', 'retrying') AND wake_at IS NOT NULL
              AND tenant_id > owing.tenant_id
            ORDER BY tenant_id LIMIT 1
        ) AS n
    ), due AS (
        SELECT d.* FROM (SELECT tenant_id FROM owing ORDER BY random()) AS o, LATERAL (
            SELECT tenant_id, id, status = 'running' AND wake_at >= deadline_at AS overran,
                   status = 'running' AND attempt >= :attempts AS hopeless
            FROM dispatches
            WHERE tenant_id = o.tenant_id AND status IN ('pending', 'running', 'retrying')
              AND wake_at <= (SELECT now FROM moment)
            ORDER BY wake_at LIMIT :share FOR UPDATE SKIP LOCKED
        ) AS d LIMIT :limit
    ), judged AS (
        SELECT due.tenant_id, due.id, due.overran, CASE
            WHEN due.overran AND d.overruns + 1 >= :overruns THEN
                d.target || ' took longer than it may, at each of ' || d.overruns + 1
                || ' attempts, and its process had to be ended.'
            WHEN due.hopeless THEN 'Its worker died or hung at each of ' || d.attempt || ' attempts.' END AS reason
        FROM due JOIN dispatches d ON d.tenant_id = due.tenant_id AND d.id = due.id
    )
    UPDATE dispatches d SET
        status = CASE WHEN j.reason IS NULL THEN 'pending' ELSE 'dead' END,
        turn = CASE WHEN j.reason IS NULL THEN 'ready' END,
        ended_at = CASE WHEN j.reason IS NOT NULL THEN clock_timestamp() END,
        error = coalesce(j.reason, d.error),
        overruns = d.overruns + CASE WHEN j.overran THEN 1 ELSE 0 END,
        lease = NULL, wake_at = NULL, sends = d.sends + 1
    FROM judged j WHERE d.tenant_id = j.tenant_id AND d.id = j.id
    RETURNING d.*, j.overran
""")
"""What the workers should have begun, finished or renewed by now, some of each tenant; SKIP LOCKED lets several clocks
share it. A lease that reached to the deadline of its attempt was renewed until the process was ended for it."""
