"""The ledger of what must happen: every dispatch from its decision to its end, each effect exactly once."""

from __future__ import annotations

import json
import random
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID, uuid4

import structlog
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError
from uuid_utils.compat import uuid7

from core import events, metrics
from core.changes import Author
from core.db import Database, Tx, recordset
from core.errors import Conflict, Later, LeaseLost, Never
from core.events import Cause, Emission
from core.types import DispatchStatus, Event, Json
from workers.relay import Owed

log = structlog.get_logger()

RENEWALS_PER_LEASE = 3
"""A lease is renewed three times within its length, so that two lost renewals cost nothing."""

LONGEST_PAUSE = timedelta(days=30)
"""Who asks for more patience than this has made a mistake, or is beyond every calendar."""

ERROR_CHARACTERS = 4000
"""How much of a failure's text is kept."""


@dataclass(frozen=True, slots=True)
class NewDispatch:
    """An action that must happen, about to be written into the ledger.

    `after`: the dispatch that must be done first. `lane` with `lane_limit`: how many of that name may run at a time.
    `hold`: what a held one waits for; `expires_at`: when the waiting for approval ends. `lineage`: the rules that
    acted on the way to its effect, its own last.
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
    hold: Literal["approval", "turn"] | None = None
    expires_at: datetime | None = None
    id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Job:
    """A claimed dispatch with the event it reacts to; what an agent gets to see."""

    tenant_id: str
    id: UUID
    target: str
    action_type: str
    params: Json
    event: Event
    author: Author
    attempt: int
    lease: UUID
    alone: str | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an agent thought out: `write` is carried out in the transaction that ends the dispatch.

    `then`: agents that must run next, each with its parameters. `count`: called with what `write` answered, once it is
    committed, for what is counted must have happened.
    """

    write: Callable[[Tx], Json] = lambda _tx: {}
    then: Sequence[tuple[str, Json]] = ()
    count: Callable[[Json], None] = lambda _result: None


@dataclass(frozen=True, slots=True)
class Policy:
    """How long a lease lasts, when a retry comes, and how many attempts there are. All times in seconds."""

    lease: float
    resend: float
    retry_base: float
    retry_max: float
    attempts: int

    def pause(self, attempt: int, after: timedelta | None) -> float:
        """Exponential back-off with full jitter above half of it, never below what the other side asked for."""
        ceiling = min(self.retry_max, self.retry_base * 2.0 ** (attempt - 1))
        jittered = ceiling * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards no secret
        return max(jittered, min(after, LONGEST_PAUSE).total_seconds() if after else 0.0)


Agent = Callable[[Job], Outcome]


@dataclass(frozen=True, slots=True)
class Ledger:
    """What it takes to work dispatches off: the database, who does what on which queue, and the policy."""

    db: Database
    agents: Mapping[str, Agent]
    queues: Mapping[str, str]
    policy: Policy


def insert(tx: Tx, dispatches: Sequence[NewDispatch], resend_s: float) -> list[Owed]:
    """Write dispatches; answers those that workers should hear of once this transaction is committed."""
    if not dispatches:
        return []
    rows = [{name: getattr(d, name) for name in NewDispatch.__slots__} for d in dispatches]
    tx.execute(_INSERT, {"rows": recordset(rows), "resend": resend_s})
    for d in dispatches:
        metrics.DISPATCHES.labels(d.target, d.status).inc()
    return [Owed(d.tenant_id, d.queue, d.id) for d in dispatches if d.status is DispatchStatus.PENDING]


def run(ledger: Ledger, tenant_id: str, dispatch_id: UUID) -> list[Owed]:
    """Work one dispatch off: claim it, let its agent think, write the effect and the end together.

    Answers the dispatches that follow. Someone else's, finished or not yet due ones are left alone.
    """
    job = _claim(ledger, tenant_id, dispatch_id)
    if job is None:
        return []
    words = {
        "tenant": tenant_id,
        "dispatch": str(job.id),
        "correlation": job.event.correlation_id,
        "target": job.target,
    }
    with structlog.contextvars.bound_contextvars(**words), metrics.DISPATCH_RUN.labels(job.target).time():
        try:
            with _renewed(ledger, job):
                outcome = ledger.agents[job.target](job)
            return _finish(ledger, job, outcome)
        except LeaseLost:
            log.warning("dispatch.lease_lost")
        except Exception as error:  # noqa: BLE001 - one dispatch fails, nothing else: its class decides what follows
            return _fail(ledger, job, error)
    return []


def owed(tx: Tx, policy: Policy, limit: int = 500) -> list[Owed]:
    """The sweep: what was never begun, is due again or lost its worker goes out again.

    A dispatch whose worker died at every attempt is set aside: it may be what kills them.
    """
    values = {"resend": policy.resend, "attempts": policy.attempts, "limit": limit, "longest": policy.retry_max}
    rows = tx.execute(_OWED, values).all()
    for row in rows:
        if row.status == DispatchStatus.DEAD:
            _bury(tx, row, f"Its worker died or hung at each of {row.attempt} attempts.")
            metrics.DISPATCHES.labels(row.target, DispatchStatus.DEAD).inc()
    return [Owed(row.tenant_id, row.queue, row.id) for row in rows if row.status == DispatchStatus.PENDING]


def _claim(ledger: Ledger, tenant_id: str, dispatch_id: UUID) -> Job | None:
    lease = uuid4()
    try:
        with ledger.db.tenant(tenant_id) as tx:
            row = tx.execute(_CLAIM, {"id": dispatch_id, "lease": lease, "seconds": ledger.policy.lease}).one_or_none()
            if row is None:
                return None
            event = _event(tx, row)
    except IntegrityError:
        return None  # Another of its key runs now; when that ends it wakes this one.
    metrics.DISPATCH_WAIT.labels(row.target).observe(float(row.waited))
    author = Author(row.target, Cause(event, row.id), row.rule, row.rule_version)
    return Job(tenant_id, row.id, row.target, row.action_type, row.params, event, author, row.attempt, lease, row.alone)


def _event(tx: Tx, dispatch: Any) -> Event:
    """The event a dispatch reacts to, in the chain of the dispatch: one that gathered several begins at the first."""
    event = events.at(tx, dispatch.event_seq)
    return replace(
        event,
        root_seq=dispatch.root_seq,
        correlation_id=dispatch.correlation_id,
        hop=dispatch.hop,
        lineage=tuple(dispatch.lineage),
    )


def _finish(ledger: Ledger, job: Job, outcome: Outcome) -> list[Owed]:
    """Effect, end and what follows, in one transaction that only the holder of the lease can commit."""
    with ledger.db.tenant(job.tenant_id) as tx:
        result = outcome.write(tx)
        following = insert(tx, [_next(ledger, job, *then) for then in outcome.then], ledger.policy.resend)
        values = {"id": job.id, "lease": job.lease, "result": json.dumps(result, ensure_ascii=False)}
        if tx.execute(_DONE, values).rowcount != 1:
            raise LeaseLost
        following += _waiting(tx, job)
    metrics.DISPATCHES.labels(job.target, DispatchStatus.DONE).inc()
    outcome.count(result)
    log.info("dispatch.done", result=result)
    return following


def _waiting(tx: Tx, job: Job) -> list[Owed]:
    """The dispatch that waited for this one to end, if it ran alone."""
    if job.alone is None:
        return []
    rows = tx.execute(_WAITING, {"alone": job.alone})
    return [Owed(job.tenant_id, row.queue, row.id) for row in rows]


def _next(ledger: Ledger, job: Job, target: str, params: Json) -> NewDispatch:
    cause = job.event
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
        alone=job.alone if target == job.target else None,
        lineage=cause.lineage,
    )


def _fail(ledger: Ledger, job: Job, error: Exception) -> list[Owed]:
    """Write down that an attempt failed; answers who may have its turn now."""
    policy = ledger.policy
    again = not isinstance(error, Never) and job.attempt < policy.attempts
    status = DispatchStatus.RETRYING if again else DispatchStatus.DEAD
    after = error.after if isinstance(error, Later) else None
    reason = _words(error)
    end = {"status": status, "error": reason, "pause": policy.pause(job.attempt, after)}
    with ledger.db.tenant(job.tenant_id) as tx:
        row = tx.execute(_FAILED, {"id": job.id, "lease": job.lease, **end}).one_or_none()
        if row is not None and not again:
            _bury(tx, row, reason)
        following = _waiting(tx, job)
    metrics.DISPATCHES.labels(job.target, status).inc()
    log.warning("dispatch.failed", status=status, error=reason, attempt=job.attempt)
    return following


def _bury(tx: Tx, row: Any, reason: str) -> None:
    """Say aloud that a dispatch was set aside."""
    if row.event_seq is None:
        return
    payload = {"dispatch_id": str(row.id), "target": row.target, "rule": row.rule, "reason": reason}
    event = _event(tx, row)
    emission = Emission("dispatch.dead", payload, subject=f"dispatch:{row.id}")
    events.emit(tx, row.tenant_id, Cause(event, row.id), [emission])


def _words(error: Exception) -> str:
    expected = isinstance(error, Later | Never | Conflict)
    words = (
        str(error)[:ERROR_CHARACTERS] if expected else "".join(traceback.format_exception(error))[-ERROR_CHARACTERS:]
    )
    # Other services' words, which need not be text that PostgreSQL keeps.
    return words.encode(errors="replace").decode().replace("\x00", "\ufffd")


@contextmanager
def _renewed(ledger: Ledger, job: Job) -> Iterator[None]:
    """Keep the lease alive from a thread of its own while the agent thinks."""
    done = threading.Event()

    def renew() -> None:
        while not done.wait(ledger.policy.lease / RENEWALS_PER_LEASE):
            try:
                with ledger.db.tenant(job.tenant_id) as tx:
                    tx.execute(_RENEW, {"id": job.id, "lease": job.lease, "seconds": ledger.policy.lease})
            except DBAPIError as error:
                log.warning("dispatch.unrenewed", error=str(error))

    thread = threading.Thread(target=renew, name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


_INSERT = text("""
    INSERT INTO dispatches (tenant_id, id, event_seq, root_seq, correlation_id, hop, rule, rule_version, action_type,
                            target, params, queue, alone, status, error, lineage, after, lane, lane_limit, hold,
                            expires_at, wake_at, ended_at)
    SELECT tenant_id, id, event_seq, root_seq, correlation_id, hop, rule, rule_version, action_type,
           target, params, queue, alone, status, error, lineage, after, lane, lane_limit, hold, expires_at,
           CASE WHEN status = 'pending' THEN clock_timestamp() + make_interval(secs => :resend) END,
           CASE WHEN status IN ('dead', 'shadow') THEN clock_timestamp() END
    FROM json_to_recordset(cast(:rows AS json)) AS d (
        tenant_id text, id uuid, event_seq bigint, root_seq bigint, correlation_id text, hop int, rule text,
        rule_version int, action_type text, target text, params jsonb, queue text, alone text, status text,
        error text, lineage text[], after uuid, lane text, lane_limit int, hold text, expires_at timestamptz)
""")

_CLAIM = text("""
    UPDATE dispatches SET status = 'running', attempt = attempt + 1, lease = :lease,
                          started_at = clock_timestamp(), wake_at = clock_timestamp() + make_interval(secs => :seconds)
    WHERE id = :id AND (status = 'pending' OR (status IN ('running', 'retrying') AND wake_at <= clock_timestamp()))
    RETURNING *, extract(epoch FROM clock_timestamp() - created_at) AS waited
""")
"""Begin a dispatch unless someone holds it, it has ended, or its next attempt is not due."""

_RENEW = text("""
    UPDATE dispatches SET wake_at = clock_timestamp() + make_interval(secs => :seconds)
    WHERE id = :id AND lease = :lease AND status = 'running'
""")

_DONE = text("""
    UPDATE dispatches SET status = 'done', ended_at = clock_timestamp(), wake_at = NULL, lease = NULL, error = NULL,
                          result = cast(:result AS jsonb)
    WHERE id = :id AND lease = :lease AND status = 'running'
""")

_WAITING = text("""
    SELECT id, queue FROM dispatches WHERE alone = :alone AND status = 'pending' ORDER BY id LIMIT 1
""")

_FAILED = text("""
    UPDATE dispatches SET status = cast(:status AS text), error = :error, lease = NULL,
           wake_at = CASE WHEN :status = 'retrying' THEN clock_timestamp() + make_interval(secs => :pause) END,
           ended_at = CASE WHEN :status = 'dead' THEN clock_timestamp() END
    WHERE id = :id AND lease = :lease AND status = 'running'
    RETURNING *
""")

_OWED = text("""
    WITH due AS (
        SELECT tenant_id, id, status = 'running' AND attempt >= :attempts AS hopeless FROM dispatches
        WHERE status IN ('pending', 'running', 'retrying') AND wake_at <= clock_timestamp()
        ORDER BY wake_at LIMIT :limit FOR UPDATE SKIP LOCKED
    )
    UPDATE dispatches d SET
        status = CASE WHEN due.hopeless THEN 'dead' ELSE 'pending' END,
        ended_at = CASE WHEN due.hopeless THEN clock_timestamp() END,
        error = CASE WHEN due.hopeless THEN 'Its worker died or hung at every attempt.' ELSE d.error END,
        lease = NULL,
        sends = d.sends + 1,
        -- Twice as long each time: a queue that is merely long must not be filled with repeats.
        wake_at = CASE WHEN NOT due.hopeless THEN clock_timestamp()
                  + make_interval(secs => least(:resend * power(2, least(d.sends, 10)), :longest)) END
    FROM due WHERE d.tenant_id = due.tenant_id AND d.id = due.id
    RETURNING d.*
""")
"""What the workers should have begun, finished or renewed by now; SKIP LOCKED lets several clocks share it."""
