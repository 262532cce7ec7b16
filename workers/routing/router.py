"""Routes events: claims new ones, evaluates the rules, writes the dispatches, then notifies the workers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeVar

import structlog
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from core import logs, metrics
from core.errors import ImprintError
from core.events import log as event_log
from core.sessions import message_rows
from core.spacing import Spacing, TrailingBound
from core.storage.db import Database, Tx, recordset
from core.storage.multiquery import BoundStatement
from core.storage.vector_spaces import EmbeddingModel
from core.types import DispatchStatus, Event, Json
from rules.document.schema import Rule
from rules.engine import lookups
from rules.engine.ruleset import RuleVerdict
from rules.engine.similarity import Meanings, MeaningsByModel
from rules.expressions.facts import Lookup
from rules.flow import flow_rows
from rules.flow.flow_rows import Drop, Fire, Flushed, Match
from rules.flow.stages import STAGES
from rules.registry import defaults
from rules.registry.live_rules import LiveRules
from workers.dispatch import fair_share, insertion
from workers.dispatch.fair_share import ActiveTenants, FairShare, Readied
from workers.dispatch.model import NewDispatch, lists_others
from workers.dispatch.relay import DispatchRef
from workers.routing import action_dispatches, event_spans
from workers.routing.action_dispatches import ActionLimits, FiredRule

log = structlog.get_logger()

Made = TypeVar("Made")

Positions = Sequence[tuple[str, int]]
"""Tenants and positions in the log: a tenant that was moved brings its positions from another database."""

INDEXER = "knowledge_indexer"
"""Agent that runs for every message, whatever the rules say: an accepted message must be found."""

IDLE_POLLS: Final = 4
"""Polls that are one while nothing goes on: the API and the clock give a hint of each event, the others come from
dispatches."""

REFUSALS = frozenset({"22", "54", "XX000"})
"""SQLSTATE of a value or size that PostgreSQL cannot store: two classes, and the code for a text of a gigabyte."""


@dataclass(slots=True)
class Router:
    """Dependencies of routing: the database of all tenants, the rules, text similarity, the agents' queues.

    `unrouted`: where the events begin that wait, as this process knows it; `highest`: position of the last it claimed.
    """

    db: Database
    book: LiveRules
    shop: ActionLimits
    meanings: MeaningsByModel
    batch: int
    max_hops: int
    shares: FairShare
    at_work: ActiveTenants = field(default_factory=ActiveTenants)
    unrouted: TrailingBound[int] = field(default_factory=lambda: TrailingBound(0))
    highest: int = 0
    glances: Spacing = field(default_factory=Spacing)


@dataclass(slots=True)
class BatchDecisions:
    """Decisions on a batch of events, before they are written."""

    now: datetime
    dispatches: list[NewDispatch] = field(default_factory=list)
    occasions: list[FiredRule] = field(default_factory=list)
    decisions: list[Json] = field(default_factory=list)
    matches: list[Match] = field(default_factory=list)
    flushes: list[Flushed] = field(default_factory=list)


class RouterGlance(NamedTuple):
    """State of its work as a router that has nothing to do sees it.

    `has_work`: an event waits, or a debounce has ended. `open`: there are dispatches, whose events come without a hint.
    `seconds`: until the next debounce ends; None: there is none.
    """

    has_work: bool
    open: bool
    seconds: float | None


class Turns:
    """The turns of a router's loop. After one without work, the next asks in one round trip whether there is any."""

    def __init__(
        self,
        router: Router,
        send: Callable[[list[DispatchRef]], object],
        poll_seconds: float,
        hears: Callable[[], bool] = lambda: False,
    ) -> None:
        """`send` is given the dispatches to send; a turn comes every `poll_seconds`.

        Turns are fewer while the router `hears` hints and nothing goes on.
        """
        self._router, self._send, self._poll_seconds, self._hears = router, send, poll_seconds, hears
        self._asks = False

    def expect(self) -> None:
        """Route in the next turn without asking: there has been a hint."""
        self._asks = False

    def take(self) -> float:
        """Route the next events and fire what is due; return the seconds until the next turn."""
        if self._asks and self._router.glances.is_due:
            seen = glance(self._router)
            if not seen.has_work:
                return self._pause(seen)
        self._asks = True  # A hint that comes from here on is heard.
        count, owed = route(self._router)
        self._send(owed)
        self._send(fire_due(self._router))
        if not count:
            return self._poll_seconds
        self._asks = False
        return 0.0  # A batch that is not full may be one tenant's share of it.

    def _pause(self, seen: RouterGlance) -> float:
        if seen.open or not self._hears():
            return self._poll_seconds
        longest = IDLE_POLLS * self._poll_seconds
        return longest if seen.seconds is None else min(longest, max(seen.seconds, 0.0))


def glance(router: Router) -> RouterGlance:
    """Look whether there is work; look for edited rules as well."""
    with router.glances.look():
        ((has_work, is_open, seconds),), *stands = router.db.ask_queues((_WORK, {}), *router.book.asking)
    if router.book.edited(stands):
        _refresh(router)
    return RouterGlance(bool(has_work), bool(is_open), seconds)


def route(router: Router) -> tuple[int, list[DispatchRef]]:
    """Decide on the next events; return how many there were, and the dispatches to send now that they are committed."""
    while True:
        _refresh(router)
        try:
            return _route_batch(router)
        except _UnseenTenants as new:
            router.book.expect(new.tenants)


class _UnseenTenants(Exception):
    """The claimed events belong to tenants younger than the rules loaded; the claim is rolled back."""

    def __init__(self, tenants: set[str]) -> None:
        super().__init__(tenants)
        self.tenants = tenants


def _route_batch(router: Router) -> tuple[int, list[DispatchRef]]:
    embedded = _embed_ahead(router)
    try:
        with _claim(router, embedded) as (tx, batch, now):
            owed = fair_share.offer(tx, router.shares, _carry_out(tx, router, batch, now), ends=True)
    except DBAPIError as error:
        if not _is_about_data(error):
            raise
        batch, owed = _one_by_one(router, embedded)
    metrics.EVENTS_ROUTED.inc(len(batch))
    if batch:
        router.at_work.hear({event.tenant_id for event in batch})
    return len(batch), owed


def _carry_out(tx: Tx, router: Router, batch: Sequence[Event], now: datetime) -> list[Readied]:
    """Decide on these events and write what follows; return the tenants and queues that have something to send."""
    decided = decide(tx, router, batch, now)
    fires, drops = _flow(tx, decided)
    decided.occasions += _fired_rules(tx, router, fires, {(e.tenant_id, e.seq): e for e in batch})
    _record(tx, decided.decisions)
    _record_drops(tx, drops)
    return _write(tx, router, decided, _indexing_dispatches(router, batch))


def _one_by_one(router: Router, embedded: Positions | None) -> tuple[Sequence[Event], list[DispatchRef]]:
    """Decide on each event alone, after the database has refused to store what follows from one of them."""
    keys: list[Readied] = []
    parked: list[NewDispatch] = []
    with _claim(router, embedded) as (tx, batch, now):
        for event in batch:
            keys += isolated(parked, event, partial(_carry_out, tx, router, [event], now), tx=tx)
        keys += insertion.insert_rows(tx, parked)
        return batch, fair_share.offer(tx, router.shares, keys)


def fire_due(router: Router) -> list[DispatchRef]:
    """Fire the rules whose debounce has ended."""
    _refresh(router)
    with router.db.queue() as tx:
        now = _now(tx)
        fires, drops = flow_rows.due(tx, now, rule_of=router.book.rule)
        if not fires and not drops:
            return []
        _record_drops(tx, drops)
        occasions = _fired_rules(tx, router, fires, {})
        try:
            with tx.begin_nested():
                keys = _write(tx, router, BatchDecisions(now, occasions=occasions), [])
        except DBAPIError as error:
            if not _is_about_data(error):
                raise
            keys, parked = [], list[NewDispatch]()
            for occasion in occasions:
                alone = partial(_write, tx, router, BatchDecisions(now, occasions=[occasion]), [])
                keys += isolated(parked, occasion.event, alone, occasion, tx)
            keys += insertion.insert_rows(tx, parked)
        return fair_share.offer(tx, router.shares, keys)


def isolated(
    parked: list[NewDispatch],
    event: Event,
    work: Callable[[], Sequence[Made]],
    occasion: FiredRule | None = None,
    tx: Tx | None = None,
) -> Sequence[Made]:
    """Return what the work makes; if this event, or this rule that acts on it, fails, add a dead letter instead.

    Errors of the database pass, unless a value itself is refused: those others are over at the next attempt. `tx`: the
    transaction that the work writes in, and that goes on.
    """
    try:
        with nullcontext() if tx is None else tx.begin_nested():
            return work()
    except Exception as error:
        if isinstance(error, DBAPIError) and not _is_about_data(error):
            raise
        parked.append(action_dispatches.dead_letter(event, error, occasion))
        return ()


def _is_about_data(error: DBAPIError) -> bool:
    """Return whether the database refuses a value or its size, and so will at the next attempt."""
    state = getattr(error.orig, "sqlstate", None) or ""
    return not error.connection_invalidated and (state[:2] in REFUSALS or state in REFUSALS)


def decide(tx: Tx, router: Router, batch: Sequence[Event], now: datetime) -> BatchDecisions:
    """Evaluate the rules of each event's tenant. An event that they fail on is set aside as a whole."""
    decided = BatchDecisions(now)
    looked_up = _look_up(tx, router, batch)
    for event in batch:
        lookup = looked_up[event.tenant_id, event.seq]
        if isinstance(lookup, Exception):
            decided.dispatches.append(action_dispatches.dead_letter(event, lookup))
        else:
            decided.matches += isolated(decided.dispatches, event, partial(_decide_one, decided, router, event, lookup))
    return decided


def _decide_one(decided: BatchDecisions, router: Router, event: Event, lookup: Lookup) -> list[Match]:
    """Evaluate the rules on an event; return the matches of those with flow control."""
    rules = router.book.of(event.tenant_id)
    similarity = _meanings(router, event.tenant_id).similarity if rules.compares_meanings else None
    verdicts = rules.decide(
        event, lookup, similarity=similarity, on_mismatch=lambda _, operator: metrics.RULE_FAULTS.labels(operator).inc()
    )
    flushes = [(event.tenant_id, f.name, f.key) for f in rules.flushed_by(event)]
    if verdicts and event.hop >= router.max_hops:
        decided.dispatches.append(_hop_limit_letter(event, verdicts))
        return []
    matches = []
    for verdict in verdicts:
        if not verdict.fired:
            _add_decision(decided, event, verdict, "held", verdict.held_by)
        elif any(getattr(verdict.rule.flow, stage) for stage in STAGES):
            matches.append(Match(event, verdict.rule, verdict.version, verdict.keys))
        else:
            mode = _mode(router, event.tenant_id, verdict.rule)
            decided.occasions.append(FiredRule(verdict.rule, verdict.version, mode, event))
            _add_decision(decided, event, verdict, "fired", None)
    decided.flushes += flushes
    return matches


def _add_decision(
    decided: BatchDecisions, event: Event, what: RuleVerdict | Match, verdict: str, reason: str | None
) -> None:
    """Add a row of the decision log, and count it."""
    rule = what.rule
    metrics.DECISIONS.labels(defaults.public_name(rule.name), verdict).inc()
    row = {"tenant": event.tenant_id, "seq": event.seq, "rule": rule.name, "version": what.version}
    decided.decisions.append(row | {"verdict": verdict, "reason": reason})


def _flow(tx: Tx, decided: BatchDecisions) -> tuple[list[Fire], list[Drop]]:
    """Pass the matches of rules with flow control through its stages, and record how far each came."""
    outcomes, fires, drops = flow_rows.pass_on(tx, decided.matches, decided.now, decided.flushes)
    for match, outcome in zip(decided.matches, outcomes, strict=True):
        _add_decision(decided, match.event, match, outcome.verdict, outcome.stage)
    return fires, drops


def _write(tx: Tx, router: Router, decided: BatchDecisions, more: Sequence[NewDispatch]) -> list[Readied]:
    """Write all dispatches in one statement, then their requests for approval, and clear replaced ones from lanes."""
    acting: list[tuple[FiredRule, Sequence[NewDispatch]]] = []
    for occasion in decided.occasions:
        work = partial(action_dispatches.dispatches, router.shop, occasion, decided.now)
        several = isolated(decided.dispatches, occasion.event, work, occasion)
        acting += [(occasion, several)] if several else []
    made = [(dispatch, occasion.event) for occasion, several in acting for dispatch in several]
    keys = insertion.insert_rows(tx, [*decided.dispatches, *(d for d, _ in made), *more])
    action_dispatches.ask_for_approval(tx, made)
    action_dispatches.clear_lanes(tx, acting)
    return keys


def _hop_limit_letter(event: Event, verdicts: Sequence[RuleVerdict]) -> NewDispatch:
    names = ", ".join(v.name for v in verdicts)
    reason = (
        f"The chain of events has reached hop {event.hop} and was stopped; these rules would have gone on: {names}."
    )
    rules = {"rules": [v.name for v in verdicts]}
    return NewDispatch.on(event, "run_agent", "hop_limit", "io", rules, status=DispatchStatus.DEAD, error=reason)


def _indexing_dispatches(router: Router, batch: Sequence[Event]) -> list[NewDispatch]:
    """Return one dispatch per tenant that indexes all messages of the batch."""
    messages: defaultdict[str, list[Event]] = defaultdict(list)
    for event in batch:
        if event.event_type in message_rows.SPOKEN:
            messages[event.tenant_id].append(event)
    indexing = []
    for added in messages.values():
        last = event_spans.gathering(f"gather {INDEXER}", added)
        last = replace(last, root_seq=min(e.root_seq for e in added))
        params = {"sessions": sorted({e.session_id for e in added if e.session_id})}
        more = {"lists_others": lists_others(params, last)}
        indexing.append(NewDispatch.on(last, "run_agent", INDEXER, router.shop.queues[INDEXER], params, **more))
    return indexing


def _fired_rules(
    tx: Tx, router: Router, fires: Sequence[Fire], batch_events: Mapping[tuple[str, int], Event]
) -> list[FiredRule]:
    """Return the rules with flow control that act, each on the last event it gathered, in the chain of all of them."""
    events = _events_of(tx, fires, batch_events)
    # An event that was erased from the log while it waited has nothing left to act on.
    left = [replace(fire, seqs=tuple(s for s in fire.seqs if (fire.tenant_id, s) in events)) for fire in fires]
    return [
        action_dispatches.gathered_rule(
            fire.rule,
            fire.version,
            _mode(router, fire.tenant_id, fire.rule),
            [events[fire.tenant_id, seq] for seq in fire.seqs],
            root_seq=fire.root_seq,
            lane_key=fire.keys.get("concurrency"),
        )
        for fire in left
        if fire.seqs
    ]


def _events_of(
    tx: Tx, fires: Sequence[Fire], batch_events: Mapping[tuple[str, int], Event]
) -> Mapping[tuple[str, int], Event]:
    """Return the events of the fires; those from before this batch have no payload, except for the last of each."""
    needed = {(fire.tenant_id, seq): seq == fire.seqs[-1] for fire in fires for seq in fire.seqs}
    missing = {position: whole for position, whole in needed.items() if position not in batch_events}
    return {**batch_events, **event_log.gathered(tx, missing)}


def _mode(router: Router, tenant_id: str, rule: Rule) -> action_dispatches.Mode:
    return action_dispatches.mode_of(rule, allows_high_risk=router.book.allows_high_risk(tenant_id))


def _now(tx: Tx) -> datetime:
    now: datetime = tx.execute(_NOW).scalar_one()
    return now


def _refresh(router: Router) -> None:
    """Load edited rules before anything is claimed, so that one batch is embedded and decided by the same rules."""
    if router.book.is_due:
        with router.db.queue() as tx:
            router.book.refresh(tx)


def _embed_ahead(router: Router) -> Positions | None:
    """Embed the texts of the next events while no transaction is open, if rules compare meanings.

    Return the positions in the log of those events, because only they may be decided on; None: any may.
    """
    if not router.book.compares_meanings:
        return None
    with router.unrouted.look() as since, router.db.queue() as tx:
        coming = [event_log.event_of(row) for row in tx.execute(_COMING, {"limit": router.batch, "since": since})]
    texts: defaultdict[EmbeddingModel | None, set[str]] = defaultdict(set)
    for e in coming:
        texts[router.book.embedding(e.tenant_id)] |= _asked_by_rules(router.book.of(e.tenant_id).texts, e)
    for model, compared in texts.items():
        try:
            if compared:
                router.meanings.of(model).warm(compared)
        except ImprintError as error:
            # Events without vectors are set aside; the others must not wait for the embedder.
            log.warning("router.unembedded", **logs.fault(error))
    return [(event.tenant_id, event.seq) for event in coming]


def _meanings(router: Router, tenant_id: str) -> Meanings:
    return router.meanings.of(router.book.embedding(tenant_id))


def _asked_by_rules(ask: Callable[[Event], frozenset[str]], event: Event) -> frozenset[str]:
    """Return what deciding on an event needs; nothing if the rules fail on it, because `decide` will set it aside."""
    try:
        return ask(event)
    except Exception as error:  # noqa: BLE001 - one event must not stop the others
        log.warning("router.unasked", event_id=event.id, tenant=event.tenant_id, **logs.fault(error))
        return frozenset()


@contextmanager
def _claim(router: Router, positions: Positions | None) -> Iterator[tuple[Tx, Sequence[Event], datetime]]:
    """Open a transaction and claim events, those at `positions` or any; yield it with them and the time.

    Raises _UnseenTenants: there are no rules yet to decide on some of them.
    """
    with router.unrouted.look() as since, ExitStack() as opened:
        if positions is None:
            claim: BoundStatement = _CLAIM, {"limit": router.batch, "as_of": router.book.as_of, "since": since}
        else:
            tenants, places = [tenant for tenant, _ in positions], [seq for _, seq in positions]
            claim = _CLAIM_THESE, {"tenants": tenants, "seqs": places, "as_of": router.book.as_of}
        tx, (rows, ((now,),)) = opened.enter_context(router.db.asking_queues(claim, (_NOW, {})))
        work = opened.pop_all()
    with work:
        ordered = sorted(rows, key=itemgetter(0))
        _note_bound(router, ordered, asked_any=positions is None)
        batch = [event_log.event_of(row[:-1]) for row in ordered]
        if unseen := router.book.unseen(event.tenant_id for event in batch):
            raise _UnseenTenants(unseen)
        with event_spans.routing(batch) as traced:
            yield tx, traced, now


def _note_bound(router: Router, claimed: Sequence[Any], *, asked_any: bool) -> None:
    """Remember below which position nothing waits: the oldest that did, or all that was ever claimed."""
    if claimed:
        router.highest = max(router.highest, claimed[-1][0])
    if asked_any:
        router.unrouted.saw(claimed[0][-1] if claimed else router.highest)


def _look_up(tx: Tx, router: Router, batch: Sequence[Event]) -> dict[tuple[str, int], Lookup | Exception]:
    """Run the lookups of conditions for all events at once; if that fails, for each alone."""
    requested = [(event, _asked_by_rules(router.book.of(event.tenant_id).asks, event)) for event in batch]
    asking = [(event, names) for event, names in requested if names]
    try:
        answers = _ask(tx, asking)
    except DBAPIError as error:
        if error.connection_invalidated:
            raise
        return dict(_look_up_one(tx, event, names) for event, names in requested)
    return {(event.tenant_id, event.seq): lookups.lookup_of(answers, event) for event in batch}


def _look_up_one(tx: Tx, event: Event, names: frozenset[str]) -> tuple[tuple[str, int], Lookup | Exception]:
    position = event.tenant_id, event.seq
    try:
        return position, lookups.lookup_of(_ask(tx, [(event, names)] if names else []), event)
    except DBAPIError as error:
        if error.connection_invalidated:
            raise
        return position, error


def _ask(tx: Tx, asking: Sequence[tuple[Event, frozenset[str]]]) -> lookups.Answers:
    if not asking:
        return {}
    # A savepoint: a query that fails must not abort the transaction of the whole batch.
    with tx.begin_nested():
        return lookups.ask(tx, asking)


def _record(tx: Tx, decisions: Sequence[Json]) -> None:
    if decisions:
        tx.execute(_RECORD, {"rows": recordset(decisions)})


def _record_drops(tx: Tx, drops: Iterable[Drop]) -> None:
    """Record events that were gathered and then held back by a later stage of flow control."""
    rows = [
        {"tenant": drop.tenant_id, "seq": seq, "rule": drop.rule_name, "reason": drop.stage}
        for drop in drops
        for seq in drop.seqs
    ]
    if rows:
        tx.execute(_HELD_LATER, {"rows": recordset(rows)})


_NOW = text("SELECT clock_timestamp()")

_WORK = text("""
    SELECT EXISTS (SELECT FROM events WHERE routed_at IS NULL)
        OR EXISTS (SELECT FROM flows WHERE kind = 'debounce' AND due_at <= clock_timestamp()),
        EXISTS (SELECT FROM dispatches WHERE status IN ('pending', 'running', 'retrying') AND wake_at IS NOT NULL)
        OR EXISTS (SELECT FROM dispatches WHERE status = 'pending' AND turn = 'ready'),
        (SELECT extract(epoch FROM min(due_at) - clock_timestamp())::float8 FROM flows
         WHERE kind = 'debounce' AND due_at IS NOT NULL)
""")

_NEXT = """
    WITH RECURSIVE heads AS (
        (SELECT tenant_id, seq FROM events WHERE routed_at IS NULL AND seq >= :since ORDER BY tenant_id, seq LIMIT 1)
        UNION ALL
        SELECT n.tenant_id, n.seq FROM heads, LATERAL (
            SELECT tenant_id, seq FROM events
            WHERE routed_at IS NULL AND tenant_id > heads.tenant_id AND seq >= :since ORDER BY tenant_id, seq LIMIT 1
        ) AS n
    ), served AS MATERIALIZED (
        SELECT tenant_id FROM heads ORDER BY random() LIMIT :limit
    ), share AS MATERIALIZED (
        SELECT ceil(:limit / greatest(count(*), 1)::float8)::int AS events FROM served
    ), fresh AS (
        SELECT one.* FROM served, LATERAL (
            SELECT tenant_id, seq, session_id FROM events
            WHERE routed_at IS NULL AND tenant_id = served.tenant_id AND seq >= :since
            ORDER BY seq LIMIT (SELECT events FROM share) {lock}
        ) AS one
    )
"""
"""The oldest events of each tenant that has any, equally many of each. Of more tenants than fit, a random choice: by
the age of their oldest events, those with the longest backlogs would always come first."""

_CLAIM = text(f"""
    {_NEXT.format(lock="FOR UPDATE SKIP LOCKED")}, elsewhere AS (
        SELECT e.tenant_id, e.session_id, min(e.seq) AS seq
        FROM (SELECT tenant_id, max(seq) AS seq FROM fresh GROUP BY tenant_id) AS last
        JOIN events e ON e.routed_at IS NULL AND e.tenant_id = last.tenant_id AND e.seq BETWEEN :since AND last.seq
        WHERE e.session_id IS NOT NULL AND (e.tenant_id, e.seq) NOT IN (SELECT tenant_id, seq FROM fresh)
        GROUP BY e.tenant_id, e.session_id
    )
    UPDATE events e SET routed_at = clock_timestamp(), rules_as_of = :as_of
    FROM fresh LEFT JOIN elsewhere USING (tenant_id, session_id)
    WHERE e.tenant_id = fresh.tenant_id AND e.seq = fresh.seq AND (elsewhere.seq IS NULL OR elsewhere.seq > fresh.seq)
    RETURNING {event_log.COLUMNS}, (SELECT min(seq) FROM heads)
""")
"""Claims the next unrouted events; the mark is rolled back if deciding fails, because it is one transaction.

What another router holds of a session keeps back what follows in that session: a `session.ended` that is decided before
the last message would not end the wait that this message begins.
"""

_COMING = text(f"""
    {_NEXT.format(lock="")}
    SELECT {event_log.COLUMNS} FROM fresh JOIN events e ON e.tenant_id = fresh.tenant_id AND e.seq = fresh.seq
    ORDER BY e.seq
""")

_CLAIM_THESE = text(f"""
    WITH fresh AS (
        SELECT e.tenant_id, e.seq FROM unnest(cast(:tenants AS text[]), cast(:seqs AS bigint[])) AS w (tenant_id, seq)
        JOIN events e USING (tenant_id, seq) WHERE e.routed_at IS NULL FOR UPDATE OF e SKIP LOCKED
    )
    UPDATE events e SET routed_at = clock_timestamp(), rules_as_of = :as_of FROM fresh
    WHERE e.tenant_id = fresh.tenant_id AND e.seq = fresh.seq
    RETURNING {event_log.COLUMNS}, NULL::bigint
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
