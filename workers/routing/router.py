"""From events to dispatches: claim what is new, let the rules decide, write what must happen, then tell the workers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import itemgetter
from typing import Final

import structlog
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from core import logs, metrics
from core.errors import ImprintError
from core.events import log as event_log
from core.sessions import sessions
from core.storage.db import Database, Tx, recordset
from core.storage.multiquery import Asked
from core.types import DispatchStatus, Event, Json
from rules.document.schema import Rule
from rules.engine import lookups
from rules.engine.ruleset import Verdict
from rules.engine.similarity import Meanings
from rules.expressions.facts import Lookup
from rules.flow import flow_rows
from rules.flow.flow_rows import Drop, Fire, Flushed, Match
from rules.flow.stages import STAGES
from rules.registry.defaults import NAMES as DEFAULT_RULES
from rules.registry.live_rules import Book
from workers.dispatch import fair_share, insertion
from workers.dispatch.fair_share import AtWork, Key, Shares
from workers.dispatch.model import NewDispatch
from workers.dispatch.relay import Owed
from workers.routing import action_dispatches
from workers.routing.action_dispatches import Occasion, Workshop

log = structlog.get_logger()

OTHER_RULES: Final = "other"
"""In metrics, all rules that are no default rule: names of tenants' rules would be shown to whoever reads the metrics,
and each would stay there after its rule is gone."""

INDEXER = "knowledge_indexer"
"""Runs for every message, whatever the rules say: what was accepted must be found."""


REFUSALS = frozenset({"22", "54", "XX000"})
"""SQLSTATE of a value or a size that PostgreSQL cannot take: two classes, and its word for a text of a gigabyte."""


@dataclass(frozen=True, slots=True)
class Router:
    """What it takes to route: the queues of all tenants, the rules, how texts are compared, and who does what."""

    db: Database
    book: Book
    shop: Workshop
    meanings: Meanings
    batch: int
    max_hops: int
    shares: Shares
    at_work: AtWork = field(default_factory=AtWork)


@dataclass(slots=True)
class Decided:
    """What a batch of events comes to, before it is written."""

    now: datetime
    dispatches: list[NewDispatch] = field(default_factory=list)
    occasions: list[Occasion] = field(default_factory=list)
    decisions: list[Json] = field(default_factory=list)
    matches: list[Match] = field(default_factory=list)
    flushes: list[Flushed] = field(default_factory=list)


def route(router: Router) -> tuple[int, list[Owed]]:
    """Decide on the next events; how many there were, and what the workers should hear of now that it is committed."""
    _refresh(router)
    thought_over = _think(router)
    try:
        with _claimed(router, thought_over) as (tx, batch, now):
            owed = fair_share.offer(tx, router.shares, _carry_out(tx, router, batch, now), ends=True)
    except DBAPIError as error:
        if not _is_about_data(error):
            raise
        batch, owed = _one_by_one(router, thought_over)
    metrics.EVENTS_ROUTED.inc(len(batch))
    if batch:
        router.at_work.hear({event.tenant_id for event in batch})
    return len(batch), owed


def _carry_out(tx: Tx, router: Router, batch: Sequence[Event], now: datetime) -> list[Key]:
    """Decide on these events and write down all that follows; for whom there is now something to send."""
    decided = decide(tx, router, batch, now)
    fires, drops = _flow(tx, decided)
    decided.occasions += _occasions(tx, router, fires, {(e.tenant_id, e.seq): e for e in batch})
    _record(tx, decided.decisions)
    _record_drops(tx, drops)
    return _write(tx, router, decided, _indexing(router, batch))


def _one_by_one(router: Router, thought_over: Sequence[int] | None) -> tuple[list[Event], list[Owed]]:
    """Decide on each event alone, where the database refuses what follows from one of them; that one is set aside."""
    keys: list[Key] = []
    with _claimed(router, thought_over) as (tx, batch, now):
        for event in batch:
            try:
                with tx.begin_nested():
                    keys += _carry_out(tx, router, [event], now)
            except DBAPIError as error:
                if not _is_about_data(error):
                    raise
                insertion.write(tx, [_parked(event, error)])
        return batch, fair_share.offer(tx, router.shares, keys)


def _is_about_data(error: DBAPIError) -> bool:
    """Whether what was to be written is refused, and will be the next time: a value, or the size of one."""
    state = getattr(error.orig, "sqlstate", None) or ""
    return not error.connection_invalidated and (state[:2] in REFUSALS or state in REFUSALS)


def fire_due(router: Router) -> list[Owed]:
    """Let what debounces have gathered go on, where it has been quiet long enough."""
    _refresh(router)
    with router.db.queue() as tx:
        now = _now(tx)
        fires, drops = flow_rows.due(tx, now, rule_of=router.book.rule)
        if not fires and not drops:
            return []
        _record_drops(tx, drops)
        occasions = _occasions(tx, router, fires, {})
        try:
            with tx.begin_nested():
                keys = _write(tx, router, Decided(now, occasions=occasions), [])
        except DBAPIError as error:
            if not _is_about_data(error):
                raise
            keys = [key for occasion in occasions for key in _write_alone(tx, router, occasion, now)]
        return fair_share.offer(tx, router.shares, keys)


def _write_alone(tx: Tx, router: Router, occasion: Occasion, now: datetime) -> list[Key]:
    """The dispatches of one rule that acts; it is set aside where the database refuses them."""
    try:
        with tx.begin_nested():
            return _write(tx, router, Decided(now, occasions=[occasion]), [])
    except DBAPIError as error:
        if not _is_about_data(error):
            raise
        parked = _parked(occasion.event, error, occasion.rule.name, occasion.version)
        return insertion.write(tx, [parked])


def decide(tx: Tx, router: Router, batch: Sequence[Event], now: datetime) -> Decided:
    """What the rules of each event's tenant make of it; an event that they fail on is set aside and stops no other."""
    decided = Decided(now)
    looked_up = _look_up(tx, router, batch)
    for event in batch:
        try:
            _of_one(decided, router, event, looked_up[event.tenant_id, event.seq])
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not hold up the others
            decided.dispatches.append(_parked(event, error))
    return decided


def _of_one(decided: Decided, router: Router, event: Event, looked_up: Lookup | Exception) -> None:
    """All of an event's part or, if the rules fail on it, nothing."""
    if isinstance(looked_up, Exception):
        raise looked_up
    rules = router.book.of(event.tenant_id)
    verdicts = rules.decide(event, looked_up, similarity=router.meanings.similarity, on_mismatch=_count_fault)
    flushes = [(event.tenant_id, f.name, f.key) for f in rules.flushed_by(event)]
    if verdicts and event.hop >= router.max_hops:
        decided.dispatches.append(_stopped(event, verdicts))
        return
    for verdict in verdicts:
        _take(decided, router, event, verdict)
    decided.flushes += flushes


def _take(decided: Decided, router: Router, event: Event, verdict: Verdict) -> None:
    if not verdict.fired:
        _note(decided, event, verdict, "held", verdict.held_by)
    elif any(getattr(verdict.flow, stage) for stage in STAGES):
        decided.matches.append(Match(event, verdict.rule, verdict.version, verdict.keys))
    else:
        mode = _mode(router, event.tenant_id, verdict.rule)
        decided.occasions.append(Occasion(verdict.rule, verdict.version, mode, event))
        _note(decided, event, verdict, "fired", None)


def _note(decided: Decided, event: Event, what: Verdict | Match, word: str, reason: str | None) -> None:
    """One row of the decision log."""
    rule = what.rule
    metrics.DECISIONS.labels(rule.name if rule.name in DEFAULT_RULES else OTHER_RULES, word).inc()
    row = {"tenant": event.tenant_id, "seq": event.seq, "rule": rule.name, "version": what.version}
    decided.decisions.append(row | {"verdict": word, "reason": reason})


def _flow(tx: Tx, decided: Decided) -> tuple[list[Fire], list[Drop]]:
    """Send the matches of rules with a flow through its stages, and write down how far each came."""
    words, fires, drops = flow_rows.pass_on(tx, decided.matches, decided.now, decided.flushes)
    for match, word in zip(decided.matches, words, strict=True):
        _note(decided, match.event, match, word.verdict, word.stage)
    return fires, drops


def _write(tx: Tx, router: Router, decided: Decided, more: Sequence[NewDispatch]) -> list[Key]:
    """All dispatches in one statement; then what follows from their being there."""
    acting = _act(router, decided)
    made = [(dispatch, occasion.event) for occasion, several in acting for dispatch in several]
    keys = insertion.write(tx, [*decided.dispatches, *(d for d, _ in made), *more])
    action_dispatches.ask_for_approval(tx, made)
    action_dispatches.clear_lanes(tx, acting)
    return keys


def _act(router: Router, decided: Decided) -> list[tuple[Occasion, list[NewDispatch]]]:
    """The dispatches of each rule that acts; one that cannot act is set aside and holds up no other."""
    acting = []
    for occasion in decided.occasions:
        try:
            acting.append((occasion, action_dispatches.dispatches(router.shop, occasion, decided.now)))
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not hold up the others
            decided.dispatches.append(_parked(occasion.event, error, occasion.rule.name, occasion.version))
    return acting


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
        if event.event_type in sessions.SPOKEN:
            spoken[event.tenant_id].append(event)
    return [
        NewDispatch(
            tenant_id=tenant_id,
            action_type="run_agent",
            target=INDEXER,
            queue=router.shop.queues[INDEXER],
            params={"sessions": sorted({e.session_id for e in said if e.session_id})},
            event_seq=said[-1].seq,
            root_seq=min(e.root_seq for e in said),
            correlation_id=said[-1].correlation_id,
            hop=said[-1].hop,
        )
        for tenant_id, said in spoken.items()
    ]


def _occasions(tx: Tx, router: Router, fires: Sequence[Fire], known: Mapping[tuple[str, int], Event]) -> list[Occasion]:
    """What rules with a flow act on: the last of the events gathered, in the chain of all of them."""
    told = _brief(tx, fires, known)
    # What was erased from the log while it waited has nothing left to act on.
    left = [replace(fire, seqs=tuple(s for s in fire.seqs if (fire.tenant_id, s) in told)) for fire in fires]
    return [
        Occasion(
            rule=fire.rule,
            version=fire.version,
            mode=_mode(router, fire.tenant_id, fire.rule),
            event=_chained(fire, told),
            gathered=[told[fire.tenant_id, seq].id for seq in fire.seqs] if _gathers(fire.rule) else (),
            lane=f"{fire.rule.name}\n{fire.keys['concurrency']}" if fire.rule.flow.concurrency else None,
        )
        for fire in left
        if fire.seqs
    ]


def _brief(tx: Tx, fires: Sequence[Fire], known: Mapping[tuple[str, int], Event]) -> Mapping[tuple[str, int], Event]:
    """The events of the fires; those from before this batch without their payloads, except for the last of each."""
    wanted = {(fire.tenant_id, seq): seq == fire.seqs[-1] for fire in fires for seq in fire.seqs}
    missing = [(*place, whole) for place, whole in wanted.items() if place not in known]
    if not missing:
        return known
    rows = [{"tenant": tenant, "seq": seq, "whole": whole} for tenant, seq, whole in missing]
    read = map(event_log.event_of, tx.execute(_GATHERED, {"rows": recordset(rows)}))
    return {**known, **{(event.tenant_id, event.seq): event for event in read}}


def _chained(fire: Fire, told: Mapping[tuple[str, int], Event]) -> Event:
    """The last event of a fire, as far down the chain as any of them, with the rules that acted before any of them."""
    gathered = [told[fire.tenant_id, seq] for seq in fire.seqs]
    return replace(
        gathered[-1],
        root_seq=fire.root_seq,
        hop=max(event.hop for event in gathered),
        lineage=tuple(dict.fromkeys(name for event in gathered for name in event.lineage)),
    )


def _gathers(rule: Rule) -> bool:
    return rule.flow.debounce is not None or rule.flow.count is not None


def _mode(router: Router, tenant_id: str, rule: Rule) -> action_dispatches.Mode:
    return action_dispatches.mode_of(rule, allows_high_risk=router.book.allows_high_risk(tenant_id))


def _now(tx: Tx) -> datetime:
    now: datetime = tx.execute(_NOW).scalar_one()
    return now


def _refresh(router: Router) -> None:
    """Look for edited rules before anything is claimed, so that one batch is thought over and decided by one state."""
    if router.book.is_due:
        with router.db.queue() as tx:
            router.book.refresh(tx)


def _think(router: Router) -> list[int] | None:
    """Where rules compare meanings: look at what comes next, and embed its texts while no transaction is open.

    Answers the places of the log that were thought over, for only those may be decided on; None: any.
    """
    if not router.book.compares_meanings:
        return None
    with router.db.queue() as tx:
        coming = [event_log.event_of(row) for row in tx.execute(_COMING, {"limit": router.batch})]
    try:
        router.meanings.warm({text for e in coming for text in _named(router.book.of(e.tenant_id).texts, e)})
    except ImprintError as error:
        # Events whose meaning stays unknown are set aside; the others must not wait for the embedder.
        log.warning("router.unembedded", **logs.fault(error))
    return [event.seq for event in coming]


def _named(ask: Callable[[Event], frozenset[str]], event: Event) -> frozenset[str]:
    """What deciding on an event needs; nothing where the rules fail on it, for deciding will, and set it aside."""
    try:
        return ask(event)
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not hold up the others
        log.warning("router.unasked", event_id=event.id, tenant=event.tenant_id, **logs.fault(error))
        return frozenset()


@contextmanager
def _claimed(router: Router, thought_over: Sequence[int] | None) -> Iterator[tuple[Tx, list[Event], datetime]]:
    """A transaction with the events that it has claimed, and when it has."""
    if thought_over is None:
        claim: Asked = _CLAIM, {"limit": router.batch}
    else:
        claim = _CLAIM_THESE, {"seqs": list(thought_over)}
    with router.db.asking_queues(claim, (_NOW, {})) as (tx, (rows, ((now,),))):
        yield tx, [event_log.event_of(row) for row in sorted(rows, key=itemgetter(0))], now


def _look_up(tx: Tx, router: Router, batch: Sequence[Event]) -> dict[tuple[str, int], Lookup | Exception]:
    """What conditions ask the database, for all events at once; if that fails, for each alone."""
    asked = [(event, _named(router.book.of(event.tenant_id).asks, event)) for event in batch]
    asking = [(event, names) for event, names in asked if names]
    try:
        answers = _ask(tx, asking)
    except DBAPIError as error:
        if error.connection_invalidated:
            raise
        return {place: lookup for event, names in asked for place, lookup in [_look_up_one(tx, event, names)]}
    return {(event.tenant_id, event.seq): lookups.lookup_of(answers, event) for event in batch}


def _look_up_one(tx: Tx, event: Event, names: frozenset[str]) -> tuple[tuple[str, int], Lookup | Exception]:
    place = event.tenant_id, event.seq
    try:
        return place, lookups.lookup_of(_ask(tx, [(event, names)] if names else []), event)
    except DBAPIError as error:
        if error.connection_invalidated:
            raise
        return place, error


def _ask(tx: Tx, asking: Sequence[tuple[Event, frozenset[str]]]) -> lookups.Answers:
    if not asking:
        return {}
    # Within a savepoint: a query that fails must not spoil the transaction of a whole batch.
    with tx.begin_nested():
        return lookups.ask(tx, asking)


def _record(tx: Tx, decisions: Sequence[Json]) -> None:
    if decisions:
        tx.execute(_RECORD, {"rows": recordset(decisions)})


def _record_drops(tx: Tx, drops: Iterable[Drop]) -> None:
    """What was gathered and then held back by a later stage, event by event."""
    rows = [
        {"tenant": drop.tenant_id, "seq": seq, "rule": drop.rule_name, "reason": drop.stage}
        for drop in drops
        for seq in drop.seqs
    ]
    if rows:
        tx.execute(_HELD_LATER, {"rows": recordset(rows)})


def _count_fault(_field: str, operator: str) -> None:
    metrics.RULE_FAULTS.labels(operator).inc()


_NOW = text("SELECT clock_timestamp()")

_NEXT = """
    WITH RECURSIVE heads AS (
        (SELECT tenant_id, seq FROM events WHERE routed_at IS NULL ORDER BY tenant_id, seq LIMIT 1)
        UNION ALL
        SELECT n.tenant_id, n.seq FROM heads, LATERAL (
            SELECT tenant_id, seq FROM events
            WHERE routed_at IS NULL AND tenant_id > heads.tenant_id ORDER BY tenant_id, seq LIMIT 1
        ) AS n
    ), served AS MATERIALIZED (
        SELECT tenant_id FROM heads ORDER BY random() LIMIT :limit
    ), share AS MATERIALIZED (
        SELECT ceil(:limit / greatest(count(*), 1)::float8)::int AS events FROM served
    ), fresh AS (
        SELECT one.tenant_id, one.seq FROM served, LATERAL (
            SELECT tenant_id, seq FROM events
            WHERE routed_at IS NULL AND tenant_id = served.tenant_id
            ORDER BY seq LIMIT (SELECT events FROM share) {lock}
        ) AS one
    )
"""
"""The oldest events of each tenant that has any, as many of each. Of more tenants than fit, any: by the age of their
oldest events, those with the longest backlogs would always come first."""

_CLAIM = text(f"""
    {_NEXT.format(lock="FOR UPDATE SKIP LOCKED")}
    UPDATE events e SET routed_at = clock_timestamp() FROM fresh
    WHERE e.tenant_id = fresh.tenant_id AND e.seq = fresh.seq
    RETURNING {event_log.COLUMNS}
""")
"""The next events nobody has decided on; the mark is taken back if deciding fails, for it is one transaction."""

_COMING = text(f"""
    {_NEXT.format(lock="")}
    SELECT {event_log.COLUMNS} FROM fresh JOIN events e ON e.tenant_id = fresh.tenant_id AND e.seq = fresh.seq
    ORDER BY e.seq
""")

_CLAIM_THESE = text(f"""
    WITH fresh AS (
        SELECT tenant_id, seq FROM events WHERE routed_at IS NULL AND seq = ANY(:seqs) FOR UPDATE SKIP LOCKED
    )
    UPDATE events e SET routed_at = clock_timestamp() FROM fresh
    WHERE e.tenant_id = fresh.tenant_id AND e.seq = fresh.seq
    RETURNING {event_log.COLUMNS}
""")

_GATHERED = text(f"""
    SELECT {event_log.COLUMNS.replace("e.payload", "CASE WHEN asked.whole THEN e.payload ELSE '{}' END")}
    FROM json_to_recordset(cast(:rows AS json)) AS asked (tenant text, seq bigint, whole boolean)
    JOIN events e ON e.tenant_id = asked.tenant AND e.seq = asked.seq
""")

_RECORD = text("""
    INSERT INTO decisions (tenant_id, event_seq, rule, version, verdict, reason)
    SELECT * FROM json_to_recordset(cast(:rows AS json)) AS r (
        tenant text, seq bigint, rule text, version int, verdict text, reason text)
    ON CONFLICT DO NOTHING
""")
"""One row for each rule an event met."""

_HELD_LATER = text("""
    UPDATE decisions d SET verdict = 'held', reason = r.reason
    FROM json_to_recordset(cast(:rows AS json)) AS r (tenant text, seq bigint, rule text, reason text)
    WHERE d.tenant_id = r.tenant AND d.event_seq = r.seq AND d.rule = r.rule
""")
