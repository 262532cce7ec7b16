"""Flow control as rows: the state of each stage of each rule per key, shared by all routers, without timers.

Waiting transactions lock rows in one order: by stage, tenant, rule and key. Rows taken out of that order (`due`:
debounces, which come first in it; `forgetting`: nothing else in its transaction) are only unlocked ones. So
every waiter waits for a row after all those it holds, and no deadlock is possible.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import Any, Final, Literal

from sqlalchemy import text

from core.events import log
from core.storage.db import Tx, recordset
from core.storage.multiquery import BoundStatement
from core.types import Event, Json
from rules.document.schema import Rule
from rules.engine.ruleset import flow_key
from rules.flow.stages import STAGES, Burst, StageResult, StageState, push

GONE: Final = "gone"
"""The stage of a drop whose rule was deleted or disabled while it waited."""

Flushed = tuple[str, str, str]
"""A debounce that must act now: tenant, rule, key."""

RuleOf = Callable[[Tx, str, str, int], Rule | None]
"""Returns the rule of a tenant by name and version; None if it must no longer act."""

Place = tuple[int, str, str, str]
"""Key of a row: number of the stage, tenant, rule, key. Rows are locked in sort order."""


@dataclass(frozen=True, slots=True)
class Match:
    """An event that matched a rule with flow control; `keys`: the key of each stage."""

    event: Event
    rule: Rule
    version: int
    keys: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Fire:
    """A rule that acts now, on everything collected: positions in the log, the last one last."""

    tenant_id: str
    rule: Rule
    version: int
    seqs: tuple[int, ...]
    root_seq: int
    keys: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class MatchOutcome:
    """Outcome of a match and the stage that decided it; None where it passed all stages."""

    verdict: Literal["fired", "gathered", "held"]
    stage: str | None


@dataclass(frozen=True, slots=True)
class Drop:
    """Collected events, and what then held them back: a later stage, or `gone`."""

    tenant_id: str
    rule_name: str
    version: int
    seqs: tuple[int, ...]
    stage: str


def pass_on(
    tx: Tx, matches: Sequence[Match], now: datetime, flushed: Iterable[Flushed] = ()
) -> tuple[list[MatchOutcome], list[Fire], list[Drop]]:
    """Send the matches of a batch through the stages of their rules; return outcomes, what acts, and what is dropped.

    The debounces of `flushed` are due now, including matches of this batch. Rows of later stages are locked only for
    what reaches them, so that routers whose matches still wait do not wait for each other.
    """
    moves = [_move(match) for match in matches]
    passages = _send(
        tx, moves, now, before=_FIRST_AFTER_WAIT, ends={(_RANK[_WAIT], *state_key) for state_key in flushed}
    )
    ahead = [n for n, passage in enumerate(passages) if passage.outcome == "comes"]
    coming = [replace(moves[n], burst=passages[n].burst) for n in ahead]
    for n, passage in zip(ahead, _send(tx, coming, now, after=_WAIT), strict=True):
        passages[n] = passage
    outcomes = [MatchOutcome(_WORDS[passage.outcome], passage.stage) for passage in passages]
    return outcomes, _fires(moves, passages), _drops(moves, passages)


def due(tx: Tx, now: datetime, limit: int = 500, *, rule_of: RuleOf) -> tuple[list[Fire], list[Drop]]:
    """Take due debounces, which several routers share, and send each through the later stages.

    The longest due goes first. Returns what acts now and what was held back; matches collected by a count are neither.
    """
    taken = sorted(tx.execute(_TAKE, {"now": now, "limit": limit}), key=attrgetter("due_at", "event_seqs"))
    moves, drops = _moves(tx, taken, rule_of)
    passages = _send(tx, moves, now, after=_WAIT)
    return _fires(moves, passages), drops + _drops(moves, passages)


def forgetting(now: datetime, limit: int = 50_000) -> list[BoundStatement]:
    """Return the statements that delete obsolete rows: expired ones, and the counts of deleted rules.

    The limit is higher than what routers create between two calls, or they would get ahead forever.
    """
    return [(delete, {"now": now, "limit": limit}) for delete in (_EXPIRED, _ORPHANED)]


@dataclass(frozen=True, slots=True)
class _Move:
    """A burst on its way through the stages of a rule."""

    tenant_id: str
    rule: Rule
    version: int
    keys: Mapping[str, str]
    burst: Burst


@dataclass(frozen=True, slots=True)
class _FlowRows:
    """Rows held by this transaction: as `read`, and as the stages leave them in `states`, by rule."""

    places: Sequence[Place]
    read: Mapping[Place, StageState]
    versions: dict[Place, int]
    states: Mapping[tuple[str, str], dict[tuple[str, str], StageState | None]]

    def state(self, state_key: Place) -> StageState | None:
        rank, tenant_id, rule, key = state_key
        return self.states[tenant_id, rule].get((STAGES[rank], key))

    def end(self, state_key: Place, now: datetime) -> None:
        """Make a debounce due, if there is one."""
        state = self.state(state_key)
        if state is not None and (state.due_at is None or state.due_at > now):
            _, tenant_id, rule, key = state_key
            self.states[tenant_id, rule][_WAIT, key] = replace(state, due_at=now)


def _move(match: Match) -> _Move:
    event = match.event
    return _Move(event.tenant_id, match.rule, match.version, match.keys, Burst((event.seq,), event.root_seq))


def _fires(moves: Sequence[_Move], passages: Sequence[StageResult]) -> list[Fire]:
    return [
        Fire(move.tenant_id, move.rule, move.version, passage.burst.seqs, passage.burst.root_seq, move.keys)
        for move, passage in zip(moves, passages, strict=True)
        if passage.outcome == "acts"
    ]


def _drops(moves: Sequence[_Move], passages: Sequence[StageResult]) -> list[Drop]:
    return [
        Drop(move.tenant_id, move.rule.name, move.version, passage.burst.seqs, passage.stage or "")
        for move, passage in zip(moves, passages, strict=True)
        if passage.outcome == "held"
    ]


def _send(
    tx: Tx,
    moves: Sequence[_Move],
    now: datetime,
    *,
    after: str | None = None,
    before: str | None = None,
    ends: Collection[Place] = (),
) -> list[StageResult]:
    """Lock the state of these stages, push every burst through them in turn, end these debounces, write all back."""
    ranks = range(0 if after is None else _RANK[after] + 1, len(STAGES) if before is None else _RANK[before])
    own = [_places(move, ranks) for move in moves]
    rows = _lock(tx, set(ends).union(*own), now)
    passages = []
    for move, places in zip(moves, own, strict=True):
        rows.versions.update(dict.fromkeys(places, move.version))
        states = rows.states[move.tenant_id, move.rule.name]
        passages.append(push(move.rule.flow, move.keys, move.burst, now, states, after=after, before=before))
    for state_key in ends:
        rows.end(state_key, now)
    _save(tx, rows)
    return passages


def _places(move: _Move, ranks: range) -> list[Place]:
    """Return the rows that a burst may need at these stages."""
    return [
        (rank, move.tenant_id, move.rule.name, key)
        for stage, key in move.keys.items()
        if (rank := _RANK.get(stage, -1)) in ranks and (rank != _LANE or _is_exclusive(move.rule))
    ]


def _is_exclusive(rule: Rule) -> bool:
    """Return whether one router at a time may add to a lane; if all matches just wait in it, all may."""
    return rule.flow.concurrency is not None and rule.flow.concurrency.on_conflict != "queue"


def _moves(tx: Tx, taken: Sequence[Any], rule_of: RuleOf) -> tuple[list[_Move], list[Drop]]:
    """Return the taken debounces, each with its rule and the keys of its last event, and those that cannot continue."""
    recall = cache(rule_of)
    debounces = [(row, recall(tx, row.tenant_id, row.rule, row.version)) for row in taken]
    going_on = [row for row, rule in debounces if rule and _goes_on(rule)]
    last = log.gathered(tx, {(row.tenant_id, max(row.event_seqs)): True for row in going_on})
    moves, drops = [], []
    for row, rule in debounces:
        burst = Burst(tuple(sorted(row.event_seqs)), row.root_seq)
        keys = _keys(rule, row.key, last.get((row.tenant_id, burst.seqs[-1]))) if rule else None
        if rule is None or keys is None:
            drops.append(Drop(row.tenant_id, row.rule, row.version, burst.seqs, GONE))
        else:
            moves.append(_Move(row.tenant_id, rule, row.version, keys, burst))
    return moves, drops


def _goes_on(rule: Rule) -> bool:
    """Return whether the rule has stages after its debounce."""
    return any(getattr(rule.flow, stage) is not None for stage in STAGES if stage != _WAIT)


def _keys(rule: Rule, key: str, last: Event | None) -> dict[str, str] | None:
    """Return the keys of a rule's stages; None if the event they are read from is gone."""
    if not _goes_on(rule):
        return {_WAIT: key}
    if last is None:
        return None
    later = {name: flow_key(part.key, last) for name, part in rule.flow.parts().items()}
    return later | {_WAIT: key}


def _lock(tx: Tx, places: Collection[Place], now: datetime) -> _FlowRows:
    """Lock the rows of all places in order, creating missing ones; then read them."""
    ordered = sorted(places)
    states: defaultdict[tuple[str, str], dict[tuple[str, str], StageState | None]] = defaultdict(dict)
    read: dict[Place, StageState] = {}
    versions = {}
    if ordered:
        values = {"places": _recordset_of(ordered), "now": now}
        tx.execute(_LOCK, values)
        for row in tx.execute(_READ, values):
            state_key = _RANK[row.kind], row.tenant_id, row.rule, row.key
            read[state_key], versions[state_key] = _state(row), row.version
    read |= _lanes(tx, [state_key for state_key in ordered if state_key[0] == _LANE], now)
    for state_key, state in read.items():
        rank, tenant_id, rule, key = state_key
        states[tenant_id, rule][STAGES[rank], key] = state
    return _FlowRows(ordered, read, versions, states)


def _state(row: Any) -> StageState:
    seqs, times = tuple(row.event_seqs), tuple(row.times)
    return StageState(row.opened_at, seqs, times, row.root_seq, row.due_at, row.expires_at)


def _lanes(tx: Tx, places: Sequence[Place], now: datetime) -> dict[Place, StageState]:
    """Count the unfinished actions of each lane, under the lane's lock, so that nobody else adds to it."""
    if not places:
        return {}
    lanes = {
        (tenant_id, f"{rule}\n{key}"): state_key for state_key in places for _, tenant_id, rule, key in [state_key]
    }
    rows = recordset([{"tenant": tenant_id, "lane": lane} for tenant_id, lane in lanes])
    counts = tx.execute(_OPEN, {"rows": rows})
    return {lanes[row.tenant_id, row.lane]: StageState(now, open=row.open) for row in counts}


def _save(tx: Tx, rows: _FlowRows) -> None:
    """Write changes, and delete empty rows: lanes are counted, never stored."""
    changed, empty = [], []
    for state_key in rows.places:
        state = None if state_key[0] == _LANE else rows.state(state_key)
        if state is None:
            empty.append(state_key)
        elif state is not rows.read.get(state_key):
            changed.append(_row(state_key, rows.versions[state_key], state))
    if changed:
        tx.execute(_STORE, {"rows": recordset(changed)})
    if empty:
        tx.execute(_DELETE, {"places": _recordset_of(empty)})


def _recordset_of(places: Iterable[Place]) -> str:
    return recordset([_name(state_key) for state_key in places])


def _name(state_key: Place) -> Json:
    rank, tenant_id, rule, key = state_key
    return {"tenant": tenant_id, "rule": rule, "kind": STAGES[rank], "key": key}


def _row(state_key: Place, version: int, state: StageState) -> Json:
    return _name(state_key) | {
        "version": version,
        "gathered": len(state.seqs),
        "seqs": state.seqs,
        "root": state.root_seq,
        "opened": state.opened_at,
        "due": state.due_at,
        "times": state.times,
        "expires": state.expires_at,
    }


_RANK: Final = {stage: rank for rank, stage in enumerate(STAGES)}

_WAIT, _FIRST_AFTER_WAIT = STAGES[:2]

_LANE: Final = _RANK["concurrency"]

_WORDS: Final[Mapping[str, Literal["fired", "gathered", "held"]]] = {
    "acts": "fired",
    "gathered": "gathered",
    "held": "held",
}

_LOCK = text("""
    INSERT INTO flows (tenant_id, rule, kind, key, version, gathered, event_seqs, root_seq, opened_at)
    SELECT tenant, rule, kind, key, 0, 0, '{}', 0, :now
    FROM ROWS FROM (json_to_recordset(cast(:places AS json)) AS (tenant text, rule text, kind text, key text))
         WITH ORDINALITY AS p (tenant, rule, kind, key, n)
    ORDER BY n
    ON CONFLICT (tenant_id, rule, kind, key) DO UPDATE SET version = flows.version WHERE false
""")
"""Locks rows in the given order: existing ones are locked without a write, missing ones are created."""

_READ = text("""
    SELECT f.* FROM json_to_recordset(cast(:places AS json)) AS p (tenant text, rule text, kind text, key text)
    JOIN flows f ON f.tenant_id = p.tenant AND f.rule = p.rule AND f.kind = p.kind AND f.key = p.key
    WHERE f.version > 0 AND (f.expires_at IS NULL OR f.expires_at > :now)
""")
"""A separate statement, which sees the commits that the lock waited for. Version 0 was created for the lock."""

_OPEN = text("""
    SELECT l.tenant AS tenant_id, l.lane, count(*) AS open
    FROM json_to_recordset(cast(:rows AS json)) AS l (tenant text, lane text)
    JOIN dispatches d ON d.tenant_id = l.tenant AND d.lane = l.lane
    WHERE d.ended_at IS NULL AND d.hold IS DISTINCT FROM 'turn'
    GROUP BY l.tenant, l.lane
""")
"""Waiting actions of a firing are left out, so that each firing counts once."""

_STORE = text("""
    INSERT INTO flows AS f (tenant_id, rule, kind, key, version, gathered, event_seqs, root_seq, opened_at, due_at,
                            times, expires_at)
    SELECT tenant, rule, kind, key, version, gathered, seqs, root, opened, due, times, expires
    FROM json_to_recordset(cast(:rows AS json)) AS r (
        tenant text, rule text, kind text, key text, version int, gathered int, seqs bigint[], root bigint,
        opened timestamptz, due timestamptz, times timestamptz[], expires timestamptz)
    ON CONFLICT (tenant_id, rule, kind, key) DO UPDATE SET
        version = excluded.version, gathered = excluded.gathered, event_seqs = excluded.event_seqs,
        root_seq = excluded.root_seq, opened_at = excluded.opened_at, due_at = excluded.due_at,
        times = excluded.times, expires_at = excluded.expires_at
""")
"""The rows exist and are locked; in this form each is found by its key, whatever the planner assumes."""

_DELETE = text("""
    DELETE FROM flows f
    USING json_to_recordset(cast(:places AS json)) AS p (tenant text, rule text, kind text, key text)
    WHERE f.tenant_id = p.tenant AND f.rule = p.rule AND f.kind = p.kind AND f.key = p.key
""")

_TAKE = text("""
    WITH ripe AS MATERIALIZED (
        SELECT tenant_id, rule, kind, key FROM flows WHERE kind = 'debounce' AND due_at <= :now
        ORDER BY due_at LIMIT :limit FOR UPDATE SKIP LOCKED
    )
    DELETE FROM flows f USING ripe r
    WHERE f.tenant_id = r.tenant_id AND f.rule = r.rule AND f.kind = r.kind AND f.key = r.key
    RETURNING f.tenant_id, f.rule, f.version, f.key, f.event_seqs, f.root_seq, f.due_at
""")

# ARRAY(…) is evaluated once; a plan may run IN (…) for every row, each time with another set of locked rows.
_EXPIRED = text("""
    DELETE FROM flows WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM flows WHERE expires_at <= :now
        ORDER BY expires_at LIMIT :limit FOR UPDATE SKIP LOCKED))
""")

_ORPHANED = text("""
    DELETE FROM flows WHERE ctid = ANY(ARRAY(
        SELECT f.ctid FROM rules r
        JOIN flows f ON f.tenant_id = r.tenant_id AND f.rule = r.name
        WHERE r.deleted_at <= :now AND f.kind = 'count'
        LIMIT :limit FOR UPDATE OF f SKIP LOCKED))
""")
