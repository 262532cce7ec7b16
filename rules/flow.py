"""Flow control that remembers: `debounce` waits for quiet, `count` for so many. Rows with a due time, no timers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import text

from core.db import Tx, recordset
from core.types import Event
from rules.schema import Count, Debounce, Rule

KINDS: Final = ("debounce", "count")

Flushed = tuple[str, str, str]
"""A debounce that must act now: tenant, rule, key."""


@dataclass(frozen=True, slots=True)
class Match:
    """An event that a rule with a flow has matched; `key` is what the flow keeps apart."""

    event: Event
    rule: Rule
    version: int
    kind: str
    key: str

    @property
    def place(self) -> tuple[str, str, str, str]:
        return self.event.tenant_id, self.rule.name, self.kind, self.key


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a flow holds for one key. `due_at`: when it acts unless more comes; None: when enough have come."""

    seqs: tuple[int, ...]
    root_seq: int
    opened_at: datetime
    due_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Fire:
    """A flow that acts now, on everything it has gathered."""

    tenant_id: str
    rule: str
    version: int
    seqs: Sequence[int]
    root_seq: int


def advance(flow: Debounce | Count, held: Gathered | None, event: Event, now: datetime) -> Gathered:
    """What is held after one more match. Pure; `is_ready` tells whether it acts."""
    if isinstance(flow, Count):
        lapsed = held and flow.within_seconds and now - held.opened_at > timedelta(seconds=flow.within_seconds)
        return _more(None if lapsed else held, event, now)
    gathered = _more(held, event, now)
    due_at = now + timedelta(seconds=flow.seconds)
    if flow.max_wait_seconds is not None:
        due_at = min(due_at, gathered.opened_at + timedelta(seconds=flow.max_wait_seconds))
    full = flow.max_events is not None and len(gathered.seqs) >= flow.max_events
    return replace(gathered, due_at=now if full else due_at)


def is_ready(flow: Debounce | Count, held: Gathered, now: datetime) -> bool:
    """Whether what is held acts now."""
    if isinstance(flow, Count):
        return len(held.seqs) >= flow.threshold
    return held.due_at is not None and held.due_at <= now


def gather(tx: Tx, matches: Sequence[Match], now: datetime, flushed: Iterable[Flushed] = ()) -> list[Fire]:
    """Add the matches of a batch to what their flows hold; answers the flows that act now.

    What the batch is going to flush is locked here too: one order of locks, so that routers never deadlock.
    """
    places = {match.place for match in matches} | {(tenant, rule, "debounce", key) for tenant, rule, key in flushed}
    if not places:
        return []
    held = _lock(tx, sorted(places), now)
    versions: dict[tuple[str, ...], int] = {}
    fires = []
    for match in matches:
        place, flow = match.place, _flow(match)
        versions[place] = match.version
        state = advance(flow, held[place], match.event, now)
        if is_ready(flow, state, now):
            fires.append(Fire(match.event.tenant_id, match.rule.name, match.version, state.seqs, state.root_seq))
            held[place] = None
        else:
            held[place] = state
    _store(tx, held, versions)
    return fires


def flush(tx: Tx, places: Iterable[Flushed], now: datetime) -> None:
    """Make the debounces of these (tenant, rule, key) due now."""
    rows = sorted(set(places))
    if rows:
        columns = dict(zip(("tenants", "rules", "keys"), map(list, zip(*rows, strict=True)), strict=True))
        tx.execute(_FLUSH, {**columns, "now": now})


def due(tx: Tx, now: datetime, limit: int = 500) -> list[Fire]:
    """Take every flow whose time has come; several routers share them."""
    rows = tx.execute(_DUE, {"now": now, "limit": limit})
    return [Fire(row.tenant_id, row.rule, row.version, row.event_seqs, row.root_seq) for row in rows]


def _more(held: Gathered | None, event: Event, now: datetime) -> Gathered:
    if held is None:
        return Gathered((event.seq,), event.root_seq, now)
    return replace(held, seqs=(*held.seqs, event.seq), root_seq=min(held.root_seq, event.root_seq))


def _flow(match: Match) -> Debounce | Count:
    flow = match.rule.flow.debounce if match.kind == "debounce" else match.rule.flow.count
    if flow is None:
        raise ValueError(match.kind)
    return flow


def _lock(tx: Tx, places: Sequence[tuple[str, ...]], now: datetime) -> dict[tuple[str, ...], Gathered | None]:
    """Lock, creating where there is none, the rows of all flows in one order."""
    columns = dict(zip(("tenants", "rules", "kinds", "keys"), map(list, zip(*places, strict=True)), strict=True))
    rows = tx.execute(_LOCK, {**columns, "now": now})
    return {(row.tenant_id, row.rule, row.kind, row.key): _held(row) for row in rows}


def _held(row: Any) -> Gathered | None:
    return Gathered(tuple(row.event_seqs), row.root_seq, row.opened_at, row.due_at) if row.gathered else None


def _store(tx: Tx, held: Mapping[tuple[str, ...], Gathered | None], versions: Mapping[tuple[str, ...], int]) -> None:
    empty = [place for place, state in held.items() if state is None]
    if empty:
        columns = dict(zip(("tenants", "rules", "kinds", "keys"), map(list, zip(*empty, strict=True)), strict=True))
        tx.execute(_FORGET, columns)
    rows = [_row(place, state, versions[place]) for place, state in held.items() if state and place in versions]
    if rows:
        tx.execute(_STORE, {"rows": recordset(rows)})


def _row(place: tuple[str, ...], state: Gathered, version: int) -> dict[str, Any]:
    tenant_id, rule, kind, key = place
    return {
        "tenant": tenant_id,
        "rule": rule,
        "kind": kind,
        "key": key,
        "version": version,
        "gathered": len(state.seqs),
        "seqs": list(state.seqs),
        "root": state.root_seq,
        "opened": state.opened_at,
        "due": state.due_at,
    }


_LOCK = text("""
    INSERT INTO flows AS f (tenant_id, rule, kind, key, version, gathered, event_seqs, root_seq, opened_at)
    SELECT tenant_id, rule, kind, key, 0, 0, '{}', 0, :now
    FROM unnest(cast(:tenants AS text[]), cast(:rules AS text[]), cast(:kinds AS text[]), cast(:keys AS text[]))
         AS m (tenant_id, rule, kind, key)
    ORDER BY tenant_id COLLATE "C", rule COLLATE "C", kind COLLATE "C", key COLLATE "C"
    ON CONFLICT (tenant_id, rule, kind, key) DO UPDATE SET gathered = f.gathered
    RETURNING *
""")

_STORE = text("""
    UPDATE flows f SET version = r.version, gathered = r.gathered, event_seqs = r.seqs, root_seq = r.root,
                       opened_at = r.opened, due_at = r.due
    FROM json_to_recordset(cast(:rows AS json)) AS r (
        tenant text, rule text, kind text, key text, version int, gathered int, seqs bigint[], root bigint,
        opened timestamptz, due timestamptz)
    WHERE f.tenant_id = r.tenant AND f.rule = r.rule AND f.kind = r.kind AND f.key = r.key
""")
"""The rows are locked already, in one order, so that this may change them in any."""

_FORGET = text("""
    DELETE FROM flows WHERE (tenant_id, rule, kind, key) IN (
        SELECT * FROM unnest(cast(:tenants AS text[]), cast(:rules AS text[]), cast(:kinds AS text[]),
                             cast(:keys AS text[])))
""")

_FLUSH = text("""
    UPDATE flows SET due_at = :now
    WHERE kind = 'debounce' AND due_at > :now AND (tenant_id, rule, key) IN (
        SELECT * FROM unnest(cast(:tenants AS text[]), cast(:rules AS text[]), cast(:keys AS text[])))
""")

_DUE = text("""
    DELETE FROM flows WHERE (tenant_id, rule, kind, key) IN (
        SELECT tenant_id, rule, kind, key FROM flows WHERE due_at <= :now
        ORDER BY due_at LIMIT :limit FOR UPDATE SKIP LOCKED)
    RETURNING *
""")
