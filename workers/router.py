"""From events to dispatches: claim what is new, let the rules decide, write what must happen, then tell the workers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import itemgetter
from typing import Self

import structlog
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from core import events, metrics
from core.db import Database, Tx, recordset
from core.types import DispatchStatus, Event, Json
from rules import flow, store, templates
from rules.flow import Fire, Match
from rules.lookups import lookup
from rules.ruleset import Verdict
from rules.schema import Action, Emit, Notify, Rule, RunAgent, parse
from rules.store import Book
from workers import ledger
from workers.ledger import NewDispatch
from workers.relay import Owed

log = structlog.get_logger()

INDEXER = "knowledge_indexer"
"""Runs for every message, whatever the rules say: what was accepted must be found."""

ACTORS = {"emit": "event_emitter", "notify": "notifier"}
"""Who carries out the actions that name no agent of their own."""


@dataclass(frozen=True, slots=True)
class Router:
    """What it takes to route: the queues of all tenants, the rules, who works on which queue, and who alone."""

    db: Database
    book: Book
    queues: Mapping[str, str]
    alone: Collection[str]
    batch: int
    max_hops: int
    resend_s: float


@dataclass(slots=True)
class Decided:
    """What a batch of events comes to, before it is written."""

    dispatches: list[NewDispatch] = field(default_factory=list)
    decisions: list[Json] = field(default_factory=list)
    matches: list[Match] = field(default_factory=list)
    flushes: list[tuple[str, str, str]] = field(default_factory=list)

    def __iadd__(self, other: Decided) -> Self:
        self.dispatches += other.dispatches
        self.decisions += other.decisions
        self.matches += other.matches
        self.flushes += other.flushes
        return self


def route(router: Router) -> tuple[int, list[Owed]]:
    """Decide on the next events; how many there were, and what the workers should hear of now that it is committed."""
    with router.db.queue() as tx:
        router.book.refresh(tx)
        now = tx.execute(text("SELECT clock_timestamp()")).scalar_one()
        rows = tx.execute(_CLAIM, {"limit": router.batch}).all()
        batch = [events.event_of(row) for row in sorted(rows, key=itemgetter(0))]
        decided = decide(tx, router, batch)
        fires = flow.gather(tx, decided.matches, now, decided.flushes)
        flow.flush(tx, decided.flushes, now)
        _record(tx, decided.decisions)
        owed = _insert(tx, router, [*decided.dispatches, *_indexing(router, batch), *_fired(tx, router, fires)])
    metrics.EVENTS_ROUTED.inc(len(batch))
    return len(batch), owed


def fire_due(router: Router) -> list[Owed]:
    """Turn the debounces whose time has come into dispatches."""
    with router.db.queue() as tx:
        now: datetime = tx.execute(text("SELECT clock_timestamp()")).scalar_one()
        fires = flow.due(tx, now)
        return _insert(tx, router, _fired(tx, router, fires)) if fires else []


def decide(tx: Tx, router: Router, batch: Iterable[Event]) -> Decided:
    """What the rules of each event's tenant make of it; an event that they fail on is set aside and stops no other."""
    decided = Decided()
    for event in batch:
        try:
            decided += _of_one(tx, router, event)
        except Exception as error:
            if isinstance(error, DBAPIError) and error.connection_invalidated:
                raise
            decided.dispatches.append(_parked(event, error))
    return decided


def _of_one(tx: Tx, router: Router, event: Event) -> Decided:
    decided = Decided()
    rules = router.book.of(event.tenant_id)
    verdicts = rules.decide(event, lookup(tx, event), on_mismatch=_count_fault)
    if verdicts and event.hop >= router.max_hops:
        decided.dispatches.append(_stopped(event, verdicts))
        return decided
    for verdict in verdicts:
        _take(decided, router, event, verdict)
    decided.flushes += [(event.tenant_id, f.name, f.key) for f in rules.flushed_by(event)]
    return decided


def _take(decided: Decided, router: Router, event: Event, verdict: Verdict) -> None:
    kind = next((k for k in flow.KINDS if k in verdict.keys), None)
    if not verdict.fired:
        word = "held"
    elif kind is None:
        word = "fired"
        decided.dispatches += actions(router, verdict.rule, verdict.version, event)
    else:
        word = "gathered"
        decided.matches.append(Match(event, verdict.rule, verdict.version, kind, verdict.keys[kind]))
    metrics.DECISIONS.labels(verdict.name, word).inc()
    row = {"tenant": event.tenant_id, "seq": event.seq, "rule": verdict.name, "version": verdict.version}
    decided.decisions.append(row | {"verdict": word, "reason": verdict.held_by or kind})


def actions(router: Router, rule: Rule, version: int, event: Event, gathered: Sequence[str] = ()) -> list[NewDispatch]:
    """A rule's actions for an event, in their order, templates filled in."""
    status = DispatchStatus.SHADOW if rule.action_mode == "shadow" else DispatchStatus.PENDING
    return [
        NewDispatch(
            tenant_id=event.tenant_id,
            action_type=action.action_type,
            target=target,
            queue=router.queues[target],
            params=templates.render(params, event) | ({"gathered": list(gathered)} if gathered else {}),
            event_seq=event.seq,
            root_seq=event.root_seq,
            correlation_id=event.correlation_id,
            hop=event.hop,
            rule=rule.name,
            rule_version=version,
            alone=f"session:{event.session_id}" if target in router.alone and event.session_id else None,
            status=status,
            lineage=(*event.lineage, rule.name),
        )
        for action, (target, params) in ((a, _work(a)) for a in rule.actions)
    ]


def _work(action: Action) -> tuple[str, Json]:
    """Who carries an action out, with which parameters."""
    match action:
        case RunAgent():
            return action.target, dict(action.params)
        case Emit():
            return ACTORS["emit"], {"event_type": action.event_type, "payload": action.payload}
        case Notify():
            return ACTORS["notify"], {"channel": action.channel, "template": action.template}
        case _:
            raise TypeError(action.action_type)


def _stopped(event: Event, verdicts: Sequence[Verdict]) -> NewDispatch:
    names = ", ".join(v.name for v in verdicts)
    reason = (
        f"The chain of events has come to hop {event.hop} and was stopped; these rules would have gone on: {names}."
    )
    return NewDispatch(
        tenant_id=event.tenant_id,
        action_type="run_agent",
        target="hop_limit",
        queue="io",
        params={"rules": [v.name for v in verdicts]},
        event_seq=event.seq,
        root_seq=event.root_seq,
        correlation_id=event.correlation_id,
        hop=event.hop,
        status=DispatchStatus.DEAD,
        error=reason,
    )


def _parked(event: Event, error: Exception, rule: str | None = None, version: int | None = None) -> NewDispatch:
    """The dead letter of an event on which the rules fail."""
    log.error("router.parked", event_id=event.id, tenant=event.tenant_id, exc_info=error)
    return NewDispatch(
        tenant_id=event.tenant_id,
        action_type="decide",
        target="rules",
        queue="io",
        params={},
        event_seq=event.seq,
        root_seq=event.root_seq,
        correlation_id=event.correlation_id,
        hop=event.hop,
        rule=rule,
        rule_version=version,
        status=DispatchStatus.DEAD,
        error=f"The rules could not decide on this event: {type(error).__name__}: {error}",
    )


def _indexing(router: Router, batch: Sequence[Event]) -> list[NewDispatch]:
    """One dispatch a tenant for all messages of the batch, so that they are found by more than a scan."""
    spoken: defaultdict[str, list[Event]] = defaultdict(list)
    for event in batch:
        if event.event_type == "message.added":
            spoken[event.tenant_id].append(event)
    return [
        NewDispatch(
            tenant_id=tenant_id,
            action_type="run_agent",
            target=INDEXER,
            queue=router.queues[INDEXER],
            params={"sessions": sorted({e.session_id for e in said if e.session_id})},
            event_seq=said[-1].seq,
            root_seq=min(e.root_seq for e in said),
            correlation_id=said[-1].correlation_id,
            hop=said[-1].hop,
        )
        for tenant_id, said in spoken.items()
    ]


def _fired(tx: Tx, router: Router, fires: Sequence[Fire]) -> list[NewDispatch]:
    """The actions of flows that act now: for the last event gathered, with the ids of all."""
    dispatches: list[NewDispatch] = []
    for fire in fires:
        document = store.document_of(tx, fire.tenant_id, fire.rule, fire.version)
        if document is None:
            continue
        rows = tx.execute(_GATHERED, {"tenant": fire.tenant_id, "seqs": list(fire.seqs)}).all()
        last = events.event_of(rows[-1])
        rooted = replace(last, root_seq=fire.root_seq)
        try:
            dispatches += actions(router, parse(document), fire.version, rooted, [row.id for row in rows])
        except Exception as error:  # noqa: BLE001 - one flow that cannot act must not hold up the others
            dispatches.append(_parked(rooted, error, fire.rule, fire.version))
    return dispatches


def _insert(tx: Tx, router: Router, dispatches: Sequence[NewDispatch]) -> list[Owed]:
    return ledger.insert(tx, dispatches, router.resend_s)


def _record(tx: Tx, decisions: Sequence[Json]) -> None:
    if decisions:
        tx.execute(_RECORD, {"rows": recordset(decisions)})


def _count_fault(_field: str, operator: str) -> None:
    metrics.RULE_FAULTS.labels(operator).inc()


_CLAIM = text(f"""
    WITH fresh AS (
        SELECT tenant_id, seq FROM events WHERE routed_at IS NULL ORDER BY seq LIMIT :limit FOR UPDATE SKIP LOCKED
    )
    UPDATE events e SET routed_at = clock_timestamp() FROM fresh
    WHERE e.tenant_id = fresh.tenant_id AND e.seq = fresh.seq
    RETURNING {events.COLUMNS}
""")
"""The oldest events nobody has decided on; the mark is taken back if deciding fails, for it is one transaction."""

_GATHERED = text(f"SELECT {events.COLUMNS} FROM events e WHERE tenant_id = :tenant AND seq = ANY(:seqs) ORDER BY seq")

_RECORD = text("""
    INSERT INTO decisions (tenant_id, event_seq, rule, version, verdict, reason)
    SELECT * FROM json_to_recordset(cast(:rows AS json)) AS r (
        tenant text, seq bigint, rule text, version int, verdict text, reason text)
    ON CONFLICT DO NOTHING
""")
"""One row for each rule an event met."""
